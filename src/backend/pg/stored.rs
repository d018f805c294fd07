//! Whether a write has stored what was sent: triggers and rules of the table may change it.

use tokio_postgres::{Error, Row};

use super::session::{NoAnswer, Session};
use crate::backend::store::Version;

/// What became of a write in its transaction.
pub(super) enum Outcome {
    /// The row holds what was sent.
    Stored(Version),
    /// The row did not hold what was expected, so that nothing was written.
    NotMet,
    /// The row holds something else than was sent.
    Changed,
}

impl Outcome {
    /// Whether the transaction is to be committed.
    pub fn is_kept(&self) -> bool {
        !matches!(self, Outcome::Changed)
    }
}

/// Reads back what a write has left in the table. It must be asked in the transaction of the write.
///
/// - `written`: what the write returned: the digest of the row, and whether the row is what was sent.
pub(super) async fn confirm(
    session: &Session,
    (table, name): (&str, &str),
    written: &[Row],
) -> Result<Outcome, NoAnswer> {
    let Some(row) = written.first() else { return Ok(Outcome::NotMet) };
    let (digest, is_same) = returned(row)?;
    // A trigger that runs after the write changes the row when RETURNING has been answered already.
    let query = format!("SELECT md5(data) FROM {table} WHERE name = $1");
    let rows = session.ask(&query, &[name]).await?;
    let now: Option<String> = match rows.as_slice() {
        [row] => row.try_get(0)?,
        _ => None,
    };
    Ok(match digest {
        Some(digest) if is_same && now.as_ref() == Some(&digest) => {
            Outcome::Stored(Version(digest))
        }
        _ => Outcome::Changed,
    })
}

/// Returns the digest of a row that was written, and whether the row is what was sent.
fn returned(row: &Row) -> Result<(Option<String>, bool), Error> {
    let is_same: Option<bool> = row.try_get(1)?;
    Ok((row.try_get(0)?, is_same.unwrap_or(false)))
}
