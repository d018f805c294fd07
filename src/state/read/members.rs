//! What single members of a recorded object say.

use base64::Engine as _;

use super::super::{Status, problems};
use crate::address::Instance;
use crate::diagnostic::Diagnostic;
use crate::value::Str;

/// Whether the object is whole.
pub(super) fn status(
    text: Option<&str>,
    name: impl Fn() -> Instance,
) -> Result<Status, Diagnostic> {
    match text {
        None => Ok(Status::Ready),
        Some("tainted") => Ok(Status::Tainted),
        Some(other) => {
            let why = format!("Instance {} has invalid status {other:?}.", name());
            Err(problems::bad_instance(why))
        }
    }
}

/// The key of a deposed object.
pub(super) fn deposed_key(
    text: Option<&str>,
    name: impl Fn() -> Instance,
) -> Result<Option<Str>, Diagnostic> {
    match text {
        Some(key) if key.len() != 8 => {
            let why = format!(
                "Instance {} has an object with deposed key {key:?}, which is not correctly formatted.",
                name()
            );
            Err(problems::bad_instance(why))
        }
        key => Ok(key.map(Str::from)),
    }
}

/// What a provider handed out, in base 64.
pub(super) fn private_data(
    text: Option<&str>,
    name: impl Fn() -> Instance,
) -> Result<Vec<u8>, Diagnostic> {
    let Some(text) = text else { return Ok(Vec::new()) };
    base64::engine::general_purpose::STANDARD.decode(text).map_err(|why| {
        problems::bad_instance(format!("Instance {} has invalid private data: {why}.", name()))
    })
}
