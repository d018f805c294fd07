//! What a variable makes of the value that is given for it: one answer for whoever asks, before the walk and in it.

use crate::config::Variable;
use crate::error::Error;
use crate::expression::with_defaults;
use crate::value::Value;

/// Why a variable does not take what it is given.
pub enum Refused {
    /// Nothing is given, and it has no default.
    Missing,
    /// It must not be null, and has no default.
    Null,
    /// The value does not fit its type, for this reason.
    Unsuitable(Error),
}

/// Returns what a variable is where this value is given for it, or none: of its type, completed with the defaults of its type, its
/// own default where it must not be null, and marked.
pub fn taken(variable: &Variable, given: Option<&Value>) -> Result<Value, Refused> {
    let value = match (given, &variable.default) {
        (Some(given), _) => {
            let given = given.clone().mark(&variable.marks());
            with_defaults(&given, variable.ty, variable.type_defaults.as_ref())
                .map_err(Refused::Unsuitable)?
        }
        (None, Some(default)) => default.clone(),
        (None, None) => return Err(Refused::Missing),
    };
    let value = match value.is_null() && !variable.nullable {
        true => variable.default.clone().ok_or(Refused::Null)?,
        false => value,
    };
    Ok(value.mark(&variable.marks()))
}
