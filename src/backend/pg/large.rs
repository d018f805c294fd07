//! Large states in PostgreSQL, in pieces: neither the client's buffers nor ours ever hold more than one of them.

use bytes::Bytes;
use futures_util::SinkExt;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::session::{NoAnswer, Session};
use super::stored::{Outcome, confirm};

/// From how many bytes on a state is large.
pub(super) const LARGE: usize = 16 << 20;
/// How many characters a piece has that is read.
const PIECE: i32 = 8 << 20;
/// How many bytes a piece has that is written.
const SENT: usize = 1 << 20;

/// Reads a state, and what stands for it. All pieces are of one moment.
pub(super) async fn read(
    session: &Session,
    table: &str,
    name: &str,
) -> Result<(String, String), NoAnswer> {
    let whole = format!("SELECT md5(data), octet_length(data) FROM {table} WHERE name = $1");
    let part = format!("SELECT substr(data, $2, {PIECE}) FROM {table} WHERE name = $1");
    let work = async {
        let rows = session.ask(&whole, &[name]).await?;
        let Some(row) = rows.first() else { return Ok((String::new(), String::new())) };
        let (version, length): (Option<String>, Option<i32>) = (row.try_get(0)?, row.try_get(1)?);
        let length = usize::try_from(length.unwrap_or_default()).unwrap_or_default();
        let mut data = String::with_capacity(length);
        let mut start = 1;
        while data.len() < length {
            let values: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
                [(&name, Type::TEXT), (&start, Type::INT4)];
            let rows = session.ask_typed(&part, &values).await?;
            let Some(row) = rows.first() else { break };
            let Some(piece) = row.try_get::<_, Option<&str>>(0)? else { break };
            crate::backend::moving::arrive(piece.len());
            data.push_str(piece);
            start += PIECE;
        }
        Ok((data, version.unwrap_or_default()))
    };
    session.within("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", |_| true, work).await
}

/// Replaces a state if it still is what is expected. Returns `None` if it cannot be done in pieces here, because the user may make no
/// temporary table.
pub(super) async fn replace(
    session: &Session,
    (table, name): (&str, &str),
    data: &str,
    expected: &str,
) -> Result<Option<Outcome>, NoAnswer> {
    let work = async {
        session.run("CREATE TEMPORARY TABLE entail_state (data text) ON COMMIT DROP").await?;
        let sending = async {
            let copy = "COPY pg_temp.entail_state (data) FROM STDIN";
            let sink = session.client.copy_in(copy).await?;
            let mut sink = std::pin::pin!(sink);
            for piece in data.as_bytes().chunks(SENT) {
                sink.send(escaped(piece)).await?;
            }
            sink.send(Bytes::from_static(b"\n")).await?;
            sink.finish().await
        };
        session.in_time(data.len(), sending).await?;
        let sent = "(SELECT data FROM pg_temp.entail_state)";
        let rows = match expected {
            "" => {
                let query = format!(
                    "INSERT INTO {table} AS it (name, data) VALUES ($1, {sent}) ON CONFLICT (name) \
                     DO UPDATE SET data = excluded.data WHERE it.data IS NULL RETURNING md5(data), data = {sent}"
                );
                session.ask_about(data.len(), &query, &[name]).await?
            }
            version => {
                let query = format!(
                    "UPDATE {table} SET data = {sent} WHERE name = $1 AND md5(data) = $2 RETURNING md5(data), data = {sent}"
                );
                session.ask_about(data.len(), &query, &[name, version]).await?
            }
        };
        confirm(session, (table, name), &rows).await
    };
    match session.within("BEGIN", Outcome::is_kept, work).await {
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
