//! A session with the server: what it is asked, how long the server may be silent, and whether the session is over.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// The time limit of an answer if the server does not limit its statements.
const USUAL: Duration = Duration::from_secs(60);

/// How much longer than the server's limit of a statement the answer may take.
const GRACE: Duration = Duration::from_secs(5);

/// A connection, and why it has ended once it has.
#[derive(Debug)]
pub(super) struct Session {
    pub client: Client,
    pub pid: i32,
    /// When the server began it. Numbers of processes come again.
    pub since: String,
    /// The time limit of one answer, without the time for transferring its bytes.
    patience: Duration,
    /// Why the connection has ended.
    ended: Arc<OnceLock<String>>,
    /// After how many seconds without an answer the session was given up.
    late: OnceLock<u64>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The server refuses, or the connection has ended.
    Failed(Error),
    /// The server was silent for this many seconds. The session is over.
    Late(u64),
}

impl NoAnswer {
    /// Returns the server's code for the reason, if it gave one.
    pub fn code(&self) -> Option<&SqlState> {
        match self {
            NoAnswer::Failed(error) => error.code(),
            NoAnswer::Late(_) => None,
        }
    }
}

impl From<Error> for NoAnswer {
    fn from(error: Error) -> NoAnswer {
        NoAnswer::Failed(error)
    }
}

impl Session {
    /// Begins a session: asks the server which one it is, and how long a statement may take.
    ///
    /// - `carried`: carries the messages of the client until the connection ends, and then says why.
    /// - `patience`: the time limit of this first answer.
    pub async fn begin(
        client: Client,
        carried: impl Future<Output = String> + Send + 'static,
        patience: Duration,
    ) -> Result<Session, NoAnswer> {
        // A lock on the whole table is waited for 30 seconds, unless the user has set a time.
        const QUERY: &str = "SELECT pid, backend_start::text, \
            (SELECT setting FROM pg_settings WHERE name = 'statement_timeout'), \
            CASE current_setting('lock_timeout') WHEN '0' THEN set_config('lock_timeout', '30s', false) END \
            FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let ended = Arc::new(OnceLock::new());
        let end = ended.clone();
        tokio::spawn(async move { end.set(carried.await) });
        let (pid, since, late) = (0, String::new(), OnceLock::new());
        let mut session = Session { client, pid, since, patience, ended, late };
        let rows = session.ask(QUERY, &[]).await?;
        session.patience = USUAL;
        if let Some(row) = rows.first() {
            session.pid = row.try_get(0)?;
            session.since = row.try_get::<_, Option<String>>(1)?.unwrap_or_default();
            session.patience = patience_with(row.try_get::<_, Option<String>>(2)?.as_deref());
        }
        Ok(session)
    }

    /// Returns why the session is over, if it is.
    pub fn is_over(&self) -> Option<String> {
        if let Some(seconds) = self.late.get() {
            return Some(format!("the server did not answer within {seconds} seconds"));
        }
        let why = || "the connection was closed".to_owned();
        match self.ended.get() {
            Some(why) => Some(why.clone()),
            None => self.client.is_closed().then(why),
        }
    }

    /// Waits for an answer within the time limit for this number of bytes. A late answer ends the session.
    pub async fn in_time<T>(
        &self,
        bytes: usize,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, NoAnswer> {
        if let Some(seconds) = self.late.get() {
            return Err(NoAnswer::Late(*seconds));
        }
        let patience = self.patience + Duration::from_secs(bytes as u64 / (64 << 10));
        match tokio::time::timeout(patience, work).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(NoAnswer::Late(*self.late.get_or_init(|| patience.as_secs()))),
        }
    }

    /// Asks a question whose values are texts.
    pub async fn ask(&self, query: &str, values: &[&str]) -> Result<Vec<Row>, NoAnswer> {
        let bytes = values.iter().map(|it| it.len()).sum();
        self.ask_about(bytes, query, values).await
    }

    /// Asks a question whose values are texts, about this number of bytes.
    pub async fn ask_about(
        &self,
        bytes: usize,
        query: &str,
        values: &[&str],
    ) -> Result<Vec<Row>, NoAnswer> {
        let typed: Vec<_> =
            values.iter().map(|it| (it as &(dyn ToSql + Sync), Type::TEXT)).collect();
        self.in_time(bytes, self.client.query_typed(query, &typed)).await
    }

    /// Asks a question with values of several types.
    pub async fn ask_typed(
        &self,
        query: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, NoAnswer> {
        self.in_time(0, self.client.query_typed(query, values)).await
    }

    /// Runs a statement that gives no rows.
    pub async fn run(&self, statement: &str) -> Result<(), NoAnswer> {
        self.in_time(0, self.client.batch_execute(statement)).await
    }

    /// Does work in a transaction. It is committed if the work succeeds and `is_kept` says so of its result.
    ///
    /// - `begin`: the statement that begins it.
    pub async fn within<T>(
        &self,
        begin: &str,
        is_kept: impl FnOnce(&T) -> bool,
        work: impl Future<Output = Result<T, NoAnswer>>,
    ) -> Result<T, NoAnswer> {
        self.run(begin).await?;
        let done = work.await;
        let end = if done.as_ref().is_ok_and(is_kept) { "COMMIT" } else { "ROLLBACK" };
        let ended = self.run(end).await;
        let done = done?;
        ended.map(|()| done)
    }
}

/// Returns the time limit of an answer.
///
/// - `limit`: the server's limit of a statement in milliseconds, 0 for none.
fn patience_with(limit: Option<&str>) -> Duration {
    match limit.and_then(|it| it.parse().ok()) {
        None | Some(0) => USUAL,
        Some(milliseconds) => Duration::from_millis(milliseconds) + GRACE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_take_longer_than_a_statement() {
        assert_eq!(patience_with(None), USUAL);
        assert_eq!(patience_with(Some("0")), USUAL);
        assert_eq!(patience_with(Some("3000")), Duration::from_secs(8));
    }
}
