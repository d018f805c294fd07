//! Advisory locks: how a session takes the one of a row, gives it back, and looks at it.

use std::sync::Arc;

use tokio_postgres::types::Type;

use super::holder::Holder;
use super::layout::Layout;
use super::rows::is_true;
use super::session::{NoAnswer, Session};
use crate::backend::lock::LockState;

/// A lock that is held.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub key: i64,
    pub id: String,
    pub session: Arc<Session>,
}

/// Takes the lock of a row, or the lock for creating rows if there is no row yet. Returns its key, or the key of the lock that
/// another session holds, with a sentence about it.
pub(super) async fn try_lock(
    session: &Session,
    layout: &Layout,
    name: &str,
) -> Result<Result<i64, (i64, String)>, NoAnswer> {
    let creation = layout.creation_key();
    let query = format!(
        "SELECT it.id, pg_try_advisory_lock(it.id), pg_try_advisory_lock($1) FROM {} AS it WHERE it.name = $2",
        layout.table()
    );
    let rows = session.ask_typed(&query, &[(&creation, Type::INT8), (&name, Type::TEXT)]).await?;
    let Some(row) = rows.first() else {
        let query = "SELECT pg_try_advisory_lock($1)";
        let rows = session.ask_typed(query, &[(&creation, Type::INT8)]).await?;
        return Ok(match is_true(&rows)? {
            true => Ok(creation),
            false => Err((creation, format!("Already locked for workspace creation: {name}"))),
        });
    };
    let (key, has_row, has_creation): (i64, bool, bool) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if has_creation {
        give_back(session, creation).await?;
    }
    if has_row && has_creation {
        return Ok(Ok(key));
    }
    if has_row {
        give_back(session, key).await?;
    }
    Ok(Err(match has_row {
        false => (key, format!("Workspace is already locked: {name}")),
        true => {
            let why = "Cannot lock workspace; already locked for workspace creation";
            (creation, format!("{why}: {name}"))
        }
    }))
}

/// Gives a lock back. Returns whether the session had it.
pub(super) async fn give_back(session: &Session, key: i64) -> Result<bool, NoAnswer> {
    let query = "SELECT pg_advisory_unlock($1)";
    let rows = session.ask_typed(query, &[(&key, Type::INT8)]).await?;
    Ok(is_true(&rows)?)
}

/// Tells whether the lock of a row is held, and by whom, without taking it.
pub(super) async fn lock_state(
    session: &Session,
    layout: &Layout,
    name: &str,
) -> Result<LockState, NoAnswer> {
    let query = format!("SELECT id FROM {} WHERE name = $1", layout.table());
    let rows = session.ask(&query, &[name]).await?;
    let key = rows.first().map_or(Ok(layout.creation_key()), |it| it.try_get(0))?;
    let holder = Holder::ask(session, key).await?;
    Ok(holder.map_or(LockState::Free, |it| LockState::Held(Some(it.record(key)))))
}
