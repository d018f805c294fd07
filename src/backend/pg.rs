//! States in rows of a PostgreSQL table: `backend "pg"`. Locks are advisory locks of the session, so that they end with it.
//!
//! Everything is said over the one session that holds the lock: while it lives, the lock is held, and once it is gone nothing more
//! can be written over it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio_postgres::types::{ToSql, Type};

use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::opening::{Opening, invalid};
use super::shape::{flag, text};
use super::store::{Content, Refused, Store, Version, check_filled};
use super::workspace;
use crate::diagnostic::Diagnostics;

mod advisory;
mod connection;
mod holder;
mod large;
mod layout;
mod rows;
mod session;
mod stored;
#[cfg(test)]
mod tests;
mod trouble;

use advisory::{Held, give_back, try_lock};
use connection::Way;
use holder::{Holder, session_name};
use layout::{LONGEST_NAME, Layout};
use rows::two_texts;
use session::{NoAnswer, Session};
use stored::{Outcome, confirm};
use trouble::{told, way_on};

/// `backend "pg"`
pub const KIND: Kind = Kind {
    name: "pg",
    settings: &[
        text("conn_str").or(&["PG_CONN_STR"]).sensitive(),
        text("index_name").or(&["PG_INDEX_NAME"]),
        text("schema_name").or(&["PG_SCHEMA_NAME"]),
        flag("skip_index_creation").or(&["PG_SKIP_INDEX_CREATION"]),
        flag("skip_schema_creation").or(&["PG_SKIP_SCHEMA_CREATION"]),
        flag("skip_table_creation").or(&["PG_SKIP_TABLE_CREATION"]),
        text("table_name").or(&["PG_TABLE_NAME"]),
    ],
    open: |it| Ok(Arc::new(Postgres::open(it)?)),
};

/// The store in a database.
#[derive(Debug)]
struct Postgres {
    way: Way,
    layout: Layout,
    session: tokio::sync::Mutex<Option<Arc<Session>>>,
    held: Mutex<BTreeMap<String, Held>>,
}

impl Postgres {
    fn open(it: &Opening) -> Result<Postgres, Diagnostics> {
        let text = it.text("conn_str").unwrap_or_default();
        let way = Way::new(&text, it.world);
        Ok(Postgres {
            way: way.map_err(|why| invalid("pg", "conn_str", &why.to_string()))?,
            layout: Layout::of(it)?,
            session: tokio::sync::Mutex::default(),
            held: Mutex::default(),
        })
    }

    fn failed(&self, why: &NoAnswer) -> io::Error {
        match why {
            NoAnswer::Failed(error) => self.refused(error),
            NoAnswer::Late(seconds) => {
                let server = self.way.shown();
                io::Error::other(format!("{server} does not answer within {seconds} seconds"))
            }
        }
    }

    fn refused(&self, error: &tokio_postgres::Error) -> io::Error {
        let hint = way_on(error, &self.layout);
        io::Error::other(format!("{}: {}{hint}", self.way.shown(), told(error)))
    }

    /// Returns the session, a new one where the last has ended.
    async fn session(&self) -> io::Result<Arc<Session>> {
        let mut known = self.session.lock().await;
        if let Some(it) = known.as_ref().filter(|it| it.is_over().is_none()) {
            return Ok(it.clone());
        }
        let session = self.connect().await?;
        Ok(known.insert(session).clone())
    }

    async fn connect(&self) -> io::Result<Arc<Session>> {
        let (client, carried) = self.way.open().await.map_err(io::Error::other)?;
        let begun = Session::begin(client, carried, self.way.patience()).await;
        let session = begun.map_err(|it| self.failed(&it))?;
        self.layout.make(&session).await.map_err(|it| self.failed(&it))?;
        Ok(Arc::new(session))
    }

    fn held(&self, workspace: &str) -> Option<Held> {
        self.held.lock().get(workspace).cloned()
    }

    async fn read_over(&self, session: &Session, workspace: &str) -> io::Result<Content> {
        let table = self.layout.table();
        if workspace.len() > LONGEST_NAME {
            self.check_column(session, &table).await?;
        }
        let query = format!(
            "SELECT CASE WHEN octet_length(data) <= {} THEN data END, md5(data) FROM {table} WHERE name = $1",
            large::LARGE
        );
        let asked = session.ask(&query, &[workspace]).await;
        let rows = asked.map_err(|it| self.failed(&it))?;
        if rows.len() > 1 {
            let why = format!(
                "{} is there {} times: delete the rows that are not the state, and make the names unique",
                self.name(workspace),
                rows.len()
            );
            return Err(io::Error::other(why));
        }
        let Some(row) = rows.first() else {
            let version = Version(String::new());
            return Ok(Content { bytes: Vec::new(), version, is_elsewhere: false });
        };
        let row = two_texts(row).map_err(|it| self.refused(&it))?;
        let (data, version) = match row {
            (Some(data), Some(version)) => (data, version),
            (None, Some(_)) => {
                let read = large::read(session, &table, workspace);
                read.await.map_err(|it| self.failed(&it))?
            }
            _ => (String::new(), String::new()),
        };
        check_filled(&self.name(workspace), data.as_bytes())?;
        Ok(Content { bytes: data.into_bytes(), version: Version(version), is_elsewhere: false })
    }

    /// Checks that the column of names keeps more than [`LONGEST_NAME`] bytes.
    async fn check_column(&self, session: &Session, table: &str) -> io::Result<()> {
        let query = "SELECT true FROM pg_attribute \
                     WHERE attrelid = to_regclass($1) AND attname = 'name' AND atttypid = 'name'::regtype";
        let rows = session.ask(query, &[table]).await.map_err(|it| self.failed(&it))?;
        if rows.is_empty() {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "PostgreSQL cuts the name of the workspace after {LONGEST_NAME} bytes, so that two could be one: the column \"name\" of {table} has \
             the type name. Give it the type text, or choose a shorter name"
        )))
    }

    /// Replaces what is stored if it still is what is expected. What the table would change is not stored.
    async fn replace(
        &self,
        session: &Session,
        workspace: &str,
        (data, expected): (&str, &Version),
    ) -> Result<Outcome, NoAnswer> {
        let table = self.layout.table();
        if data.len() > large::LARGE
            && let Some(done) =
                large::replace(session, (&table, workspace), data, &expected.0).await?
        {
            return Ok(done);
        }
        let work = async {
            let rows = match expected.0.as_str() {
                "" => {
                    let query = format!(
                        "INSERT INTO {table} AS it (name, data) VALUES ($1, $2) ON CONFLICT (name) \
                         DO UPDATE SET data = $2 WHERE it.data IS NULL RETURNING md5(data), data = $2"
                    );
                    session.ask(&query, &[workspace, data]).await?
                }
                version => {
                    let query = format!(
                        "UPDATE {table} SET data = $2 WHERE name = $1 AND md5(data) = $3 RETURNING md5(data), data = $2"
                    );
                    session.ask(&query, &[workspace, data, version]).await?
                }
            };
            confirm(session, (&table, workspace), &rows).await
        };
        session.within("BEGIN", Outcome::is_kept, work).await
    }

    /// Finds out what became of a write whose connection broke. The session of before is ended first, so that nothing of it can
    /// come after.
    async fn settle(
        &self,
        broken: &Session,
        workspace: &str,
        data: &str,
    ) -> io::Result<(Content, bool)> {
        let session = self.session().await?;
        for _ in 0..100 {
            let query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                         WHERE pid = $1 AND backend_start::text = $2 AND pid <> pg_backend_pid()";
            let which: [(&(dyn ToSql + Sync), Type); 2] =
                [(&broken.pid, Type::INT4), (&broken.since, Type::TEXT)];
            match session.ask_typed(query, &which).await {
                Ok(rows) if rows.is_empty() => break,
                Err(late @ NoAnswer::Late(_)) => return Err(self.failed(&late)),
                // A session of another user cannot be ended, but it may end by itself.
                _ => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
        let there = self.read_over(&session, workspace).await?;
        let is_written = there.bytes == data.as_bytes();
        Ok((there, is_written))
    }
}

#[async_trait]
impl Store for Postgres {
    fn name(&self, workspace: &str) -> String {
        format!("the row {workspace:?} of {} in {}", self.layout.table(), self.way.shown())
    }

    fn guards_creation(&self) -> bool {
        true
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        let session = self.session().await?;
        self.read_over(&session, workspace).await
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        let data = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        if let Some(why) = self.lost_lock(workspace) {
            return Err(Refused::LockLost(why));
        }
        let held = self.held(workspace);
        let session = match &held {
            Some(held) => held.session.clone(),
            None => self.session().await?,
        };
        let error = match self.replace(&session, workspace, (data, expected)).await {
            Ok(Outcome::Stored(version)) => return Ok(version),
            Ok(Outcome::Changed) => {
                let name = self.name(workspace);
                return Err(Refused::Failed(io::Error::other(format!(
                    "{name} would hold something else than was written: a trigger or a rule of the table changes it"
                ))));
            }
            Ok(Outcome::NotMet) => {
                let there = self.read_over(&session, workspace).await?;
                return Err(Refused::Overtaken(there.bytes));
            }
            Err(late @ NoAnswer::Late(_)) => return Err(Refused::Unsettled(self.failed(&late))),
            Err(NoAnswer::Failed(it)) => it,
        };
        if error.as_db_error().is_some() && session.is_over().is_none() {
            return Err(self.refused(&error).into());
        }
        let (there, is_written) =
            self.settle(&session, workspace, data).await.map_err(Refused::Unsettled)?;
        match (is_written, held) {
            (true, _) => Ok(there.version),
            (false, Some(_)) => Err(Refused::LockLost(told(&error))),
            (false, None) if there.version == *expected => Err(self.refused(&error).into()),
            (false, None) => Err(Refused::Overtaken(there.bytes)),
        }
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let session = self.session().await?;
        let query = format!("SELECT name FROM {} WHERE name <> 'default'", self.layout.table());
        let rows = session.ask(&query, &[]).await.map_err(|it| self.failed(&it))?;
        let names: Result<Vec<String>, _> = rows.iter().map(|it| it.try_get(0)).collect();
        Ok(workspace::listed(names.map_err(|it| self.refused(&it))?))
    }

    async fn create(&self, _workspace: &str) -> io::Result<()> {
        // Its first state makes the row.
        Ok(())
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        let session = self.session().await?;
        let query = format!("DELETE FROM {} WHERE name = $1", self.layout.table());
        session.ask(&query, &[workspace]).await.map_err(|it| self.failed(&it))?;
        Ok(())
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let session = self.session().await?;
        // A session is given the same lock again and again.
        if self.held(workspace).is_some() {
            let why = format!("Workspace is already locked: {workspace}");
            return Err(LockProblem::Busy(why, None));
        }
        let taken = try_lock(&session, &self.layout, workspace).await;
        let taken = taken.map_err(|it| self.failed(&it))?;
        let key = match taken {
            Ok(key) => key,
            Err((key, why)) => {
                let holder = Holder::find(&session, key).await;
                let known = holder.map_or(info.clone(), |it| it.info(info, key));
                return Err(LockProblem::Busy(why, Some(known)));
            }
        };
        if !self.way.is_named {
            let query = "SELECT set_config('application_name', $1, false)";
            // The name is for others' messages only.
            let _ = session.ask(query, &[&session_name(info)]).await;
        }
        let held = Held { key, id: info.id.clone(), session };
        self.held.lock().insert(workspace.to_owned(), held);
        Ok(info.id.clone())
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        let session = self.session().await?;
        let state = advisory::lock_state(&session, &self.layout, workspace).await;
        state.map_err(|it| self.failed(&it))
    }

    fn lost_lock(&self, workspace: &str) -> Option<String> {
        let why = self.held(workspace)?.session.is_over()?;
        Some(format!("the PostgreSQL session that held it has ended ({why})"))
    }

    async fn ask_lock(&self, workspace: &str) -> io::Result<Option<String>> {
        let (Some(why), Some(held)) = (self.lost_lock(workspace), self.held(workspace)) else {
            return Ok(None);
        };
        let session = self.session().await?;
        // The server may not have noticed yet that the own session has ended.
        let holder = Holder::find(&session, held.key).await;
        let holder = holder.filter(|it| it.pid != held.session.pid);
        let holder = holder.map(|it| format!("; the lock belongs to {} now", it.described()));
        Ok(Some(why + &holder.unwrap_or_default()))
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let held = self.held.lock().remove(workspace).filter(|it| it.id == id);
        let held = held.ok_or_else(NotUnlocked::not_locked)?;
        // The lock ended with the session.
        if held.session.is_over().is_some() {
            return Ok(());
        }
        match give_back(&held.session, held.key).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(NotUnlocked::not_locked()),
            Err(late @ NoAnswer::Late(_)) => Err(self.failed(&late).into()),
            Err(_) if held.session.is_over().is_some() => Ok(()),
            Err(it) => Err(self.failed(&it).into()),
        }
    }

    async fn force_unlock(&self, workspace: &str, _id: &str) -> Result<(), NotUnlocked> {
        let session = self.session().await?;
        let query = format!("SELECT id FROM {} WHERE name = $1", self.layout.table());
        let rows = session.ask(&query, &[workspace]).await.map_err(|it| self.failed(&it))?;
        let key: Result<Option<i64>, _> = rows.first().map(|it| it.try_get(0)).transpose();
        let keys = key.map_err(|it| self.refused(&it))?;
        for key in keys.into_iter().chain([self.layout.creation_key()]) {
            if let Some(holder) = Holder::find(&session, key).await {
                let why = format!("nobody but PostgreSQL can end it: {}", holder.described());
                return Err(NotUnlocked::Failed(why, None));
            }
        }
        Ok(())
    }
}
