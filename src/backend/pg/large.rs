//! Large states in PostgreSQL, in pieces: neither the client's buffers nor ours ever hold more than one of them.

use bytes::Bytes;
use futures_util::SinkExt;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::rows::Stored;

/// From how many bytes on a state is large.
pub(super) const LARGE: usize = 16 << 20;
/// How many characters a piece has that is read.
const PIECE: i32 = 8 << 20;
/// How many bytes a piece has that is written.
const SENT: usize = 1 << 20;

/// Does something in a transaction, which ends as it does.
async fn within<T>(
    client: &Client,
    begin: &str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    client.batch_execute(begin).await?;
    let done = work.await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    let done = done?;
    ended.map(|()| done)
}

/// Reads a state, and what stands for it. All pieces are of one moment.
pub(super) async fn read(
    client: &Client,
    table: &str,
    name: &str,
) -> Result<(String, String), Error> {
    let whole = format!("SELECT md5(data), octet_length(data) FROM {table} WHERE name = $1");
    let part = format!("SELECT substr(data, $2, {PIECE}) FROM {table} WHERE name = $1");
    let work = async {
        let rows = client.query_typed(&whole, &[(&name, Type::TEXT)]).await?;
        let Some(row) = rows.first() else { return Ok((String::new(), String::new())) };
        let (version, length): (Option<String>, Option<i32>) = (row.try_get(0)?, row.try_get(1)?);
        let length = usize::try_from(length.unwrap_or_default()).unwrap_or_default();
        let mut data = String::with_capacity(length);
        let mut start = 1;
        while data.len() < length {
            let values: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
                [(&name, Type::TEXT), (&start, Type::INT4)];
            let rows = client.query_typed(&part, &values).await?;
            let Some(row) = rows.first() else { break };
            let Some(piece) = row.try_get::<_, Option<&str>>(0)? else { break };
            crate::backend::moving::arrive(piece.len());
            data.push_str(piece);
            start += PIECE;
        }
        Ok((data, version.unwrap_or_default()))
    };
    within(client, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work).await
}

/// Replaces a state if it still is what is expected; nothing where it is not. The outer nothing: it cannot be done in pieces here, for
/// the user may make no temporary table.
pub(super) async fn replace(
    client: &Client,
    (table, name): (&str, &str),
    data: &str,
    expected: &str,
) -> Result<Option<Option<Stored>>, Error> {
    let work = async {
        client
            .batch_execute("CREATE TEMPORARY TABLE entail_state (data text) ON COMMIT DROP")
            .await?;
        let sink = client.copy_in("COPY pg_temp.entail_state (data) FROM STDIN").await?;
        let mut sink = std::pin::pin!(sink);
        for piece in data.as_bytes().chunks(SENT) {
            sink.send(escaped(piece)).await?;
        }
        sink.send(Bytes::from_static(b"\n")).await?;
        sink.finish().await?;
        let sent = "(SELECT data FROM pg_temp.entail_state)";
        let rows = match expected {
            "" => {
                let query = format!(
                    "INSERT INTO {table} AS it (name, data) VALUES ($1, {sent}) ON CONFLICT (name) \
                     DO UPDATE SET data = excluded.data WHERE it.data IS NULL RETURNING md5(data), data = {sent}"
                );
                client.query_typed(&query, &[(&name, Type::TEXT)]).await?
            }
            version => {
                let query = format!(
                    "UPDATE {table} SET data = {sent} WHERE name = $1 AND md5(data) = $2 RETURNING md5(data), data = {sent}"
                );
                client.query_typed(&query, &[(&name, Type::TEXT), (&version, Type::TEXT)]).await?
            }
        };
        rows.first().map(Stored::of).transpose()
    };
    match within(client, "BEGIN", work).await {
        Err(it) if it.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(None),
        done => done.map(Some),
    }
}

/// Writes bytes as `COPY` reads them: what ends columns and lines there is escaped.
fn escaped(piece: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(piece.len() + piece.len() / 8);
    for byte in piece {
        match byte {
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            byte => out.push(*byte),
        }
    }
    out.into()
}
