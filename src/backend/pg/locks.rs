//! Advisory locks of rows: taken, given back, and looked at.

use tokio_postgres::types::Type;

use super::holder::Holder;
use super::rows::is_true;
use super::{Postgres, Session};
use crate::backend::lock::LockState;

impl Postgres {
    /// Takes the lock of a row, or the lock of creations if there is no row yet. Returns its key; or the key of the lock that
    /// another session holds, and why that is.
    pub(super) async fn try_lock(
        &self,
        session: &Session,
        name: &str,
    ) -> Result<Result<i64, (i64, String)>, tokio_postgres::Error> {
        let creation = self.layout.creation_key();
        let query = format!(
            "SELECT it.id, pg_try_advisory_lock(it.id), pg_try_advisory_lock($1) FROM {} AS it WHERE it.name = $2",
            self.layout.table()
        );
        let rows = session
            .client
            .query_typed(&query, &[(&creation, Type::INT8), (&name, Type::TEXT)])
            .await?;
        let Some(row) = rows.first() else {
            let query = "SELECT pg_try_advisory_lock($1)";
            let rows = session.client.query_typed(query, &[(&creation, Type::INT8)]).await?;
            return Ok(match is_true(&rows)? {
                true => Ok(creation),
                false => Err((creation, format!("Already locked for workspace creation: {name}"))),
            });
        };
        let (key, has_row, has_creation): (i64, bool, bool) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if has_creation {
            self.give_back(session, creation).await?;
        }
        if has_row && has_creation {
            return Ok(Ok(key));
        }
        if has_row {
            self.give_back(session, key).await?;
        }
        Ok(Err(match has_row {
            false => (key, format!("Workspace is already locked: {name}")),
            true => {
                let why = "Cannot lock workspace; already locked for workspace creation";
                (creation, format!("{why}: {name}"))
            }
        }))
    }

    pub(super) async fn give_back(
        &self,
        session: &Session,
        key: i64,
    ) -> Result<bool, tokio_postgres::Error> {
        let query = "SELECT pg_advisory_unlock($1)";
        let rows = session.client.query_typed(query, &[(&key, Type::INT8)]).await?;
        is_true(&rows)
    }

    /// Returns who holds the lock of a row, or the lock of creations if there is no row yet.
    pub(super) async fn state_of_lock(
        &self,
        session: &Session,
        name: &str,
    ) -> Result<LockState, tokio_postgres::Error> {
        let query = format!("SELECT id FROM {} WHERE name = $1", self.layout.table());
        let rows = session.client.query_typed(&query, &[(&name, Type::TEXT)]).await?;
        let key = rows.first().map_or(Ok(self.layout.creation_key()), |it| it.try_get(0))?;
        let holder = Holder::ask(&session.client, key).await?;
        Ok(holder.map_or(LockState::Free, |it| LockState::Held(Some(it.record(key)))))
    }
}
