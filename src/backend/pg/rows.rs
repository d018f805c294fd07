//! Reads columns of rows. A column of another type is an error, not a panic.

use tokio_postgres::{Error, Row};

use crate::backend::store::Version;

/// What the server says of a state that it has stored.
pub(super) struct Stored {
    pub version: Version,
    /// Whether it is what was sent: a trigger may change it.
    pub is_same: bool,
}

impl Stored {
    pub fn of(row: &Row) -> Result<Stored, Error> {
        let (version, is_same): (Option<String>, Option<bool>) = (row.try_get(0)?, row.try_get(1)?);
        let version = Version(version.unwrap_or_default());
        Ok(Stored { version, is_same: is_same.unwrap_or(false) })
    }
}

/// Returns whether the first column of the first row is true.
pub(super) fn is_true(rows: &[Row]) -> Result<bool, Error> {
    rows.first().map_or(Ok(false), |it| it.try_get(0))
}

/// Returns the first two columns, which are text or NULL.
pub(super) fn two_texts(row: &Row) -> Result<(Option<String>, Option<String>), Error> {
    Ok((row.try_get(0)?, row.try_get(1)?))
}
