//! Who holds an advisory lock: PostgreSQL keeps no record of ours, but knows its sessions.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::session::{NoAnswer, Session};
use crate::backend::lock::LockInfo;

/// The name of a session that holds a lock begins with this; the lock's ID and the operation follow.
const OURS: &str = "entail/";

/// A session that holds a lock.
pub(super) struct Holder {
    pub pid: i32,
    user: String,
    address: String,
    application: String,
    since: String,
}

/// Returns the name that a session bears while it holds a lock. PostgreSQL keeps 63 bytes of it.
pub(super) fn session_name(info: &LockInfo) -> String {
    format!("{OURS}{}/{}", info.id, info.operation)
}

impl Holder {
    /// Returns who holds a lock; `None` if the lock is free, or the server does not say.
    pub async fn find(session: &Session, key: i64) -> Option<Holder> {
        Holder::ask(session, key).await.ok().flatten()
    }

    /// Asks who holds a lock; `None` if it is free.
    ///
    /// # Errors
    ///
    /// If the server does not answer.
    pub async fn ask(session: &Session, key: i64) -> Result<Option<Holder>, NoAnswer> {
        const QUERY: &str = "SELECT a.pid, coalesce(a.usename::text, ''), coalesce(a.client_addr::text, ''), \
            coalesce(a.application_name, ''), \
            coalesce(to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), '') \
            FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
            WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
            AND l.classid::bigint = $1 AND l.objid::bigint = $2";
        let (high, low) = ((key >> 32) & 0xffff_ffff, key & 0xffff_ffff);
        let rows = session.ask_typed(QUERY, &[(&high, Type::INT8), (&low, Type::INT8)]).await?;
        let text = |row: &Row, column| row.try_get(column).unwrap_or_default();
        Ok(rows.first().map(|row| Holder {
            pid: row.try_get(0).unwrap_or_default(),
            user: text(row, 1),
            address: text(row, 2),
            application: text(row, 3),
            since: text(row, 4),
        }))
    }

    /// Describes the session, and how it is ended.
    pub fn described(&self) -> String {
        let Holder { pid, user, address, application, since } = self;
        let from = if address.is_empty() { "the server itself" } else { address };
        let application = match application.as_str() {
            "" => String::new(),
            name => format!(", application {name:?}"),
        };
        format!(
            "PostgreSQL session {pid} of {user:?} from {from}, connected since {since}{application}; the lock ends with it"
        )
    }

    /// Returns a record of the lock for a run that does not want it.
    pub fn record(&self, key: i64) -> LockInfo {
        let who = format!("{}@{}", self.user, self.address);
        let created = self.since.clone();
        self.info(&LockInfo { who, created, ..LockInfo::default() }, key)
    }

    /// Returns a record of the lock, as far as it can be told.
    ///
    /// - `attempt`: that of whoever wanted it. Other programs leave no ID, so that messages show that of the attempt.
    pub fn info(&self, attempt: &LockInfo, key: i64) -> LockInfo {
        let ours = self.application.strip_prefix(OURS).and_then(|it| it.split_once('/'));
        let who = format!("{}@{}", self.user, self.address);
        let known = LockInfo { info: self.described(), path: key.to_string(), ..attempt.clone() };
        match ours {
            Some((id, operation)) => LockInfo {
                id: id.to_owned(),
                operation: operation.to_owned(),
                who,
                created: self.since.clone(),
                ..known
            },
            None => known,
        }
    }
}
