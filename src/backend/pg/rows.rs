//! Reads columns of rows. A column of another type is an error, not a panic.

use tokio_postgres::{Error, Row};

/// Returns whether the first column of the first row is true.
pub(super) fn is_true(rows: &[Row]) -> Result<bool, Error> {
    rows.first().map_or(Ok(false), |it| it.try_get(0))
}

/// Returns the first two columns, which are text or NULL.
pub(super) fn two_texts(row: &Row) -> Result<(Option<String>, Option<String>), Error> {
    Ok((row.try_get(0)?, row.try_get(1)?))
}
