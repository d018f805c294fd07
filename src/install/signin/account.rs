//! Whose a token is that somebody has typed in: the service `tfe.v2` is asked.

use serde_json::Value as Json;

use crate::error::{Error, ErrorContext};
use crate::install::settings::Token;
use crate::install::web::{Url, Web};

/// Why nobody knows whose a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The host does not know the token.
    Invalid,
    /// The host gives no answer, or none that makes sense.
    Failed(Error),
}

/// Returns the name of a token's user.
///
/// # Errors
///
/// If the host does not know the token, or cannot be asked.
pub async fn user_of(web: &Web, service: &Url, token: &Token) -> Result<String, Refused> {
    let asked = async {
        let url = service.join("account/details").map_err(Error::of)?;
        web.get(&url, Some(token)).await
    };
    let answer = asked.await.map_err(Refused::Failed)?;
    let strange = |why: String| Refused::Failed(why.into());
    match answer.status {
        200 => {}
        401 => return Err(Refused::Invalid),
        _ => return Err(strange(format!("the host answers with status {}", answer.status_text()))),
    }
    let said: Json = serde_json::from_slice(&answer.body)
        .context("the host's answer is no JSON")
        .map_err(Refused::Failed)?;
    let user = said["data"]["attributes"]["username"].as_str();
    user.map(str::to_owned).ok_or_else(|| strange("the host's answer names no user".into()))
}
