//! What Google Cloud Storage answers where it does not do what it is asked for.

use serde_json::Value as Json;

use crate::backend::cloud::Trouble;
use crate::backend::cloud::web::{Answer, Service};

/// Google Cloud Storage, with what a bucket is for and its name, for messages.
#[derive(Clone, Debug)]
pub enum Google {
    /// It keeps states.
    States(String),
    /// Packages are read there.
    Packages(String),
}

impl Service for Google {
    fn name(&self) -> &'static str {
        "Google Cloud Storage"
    }

    fn is_transient(&self, answer: &Answer) -> bool {
        answer.is_overloaded()
    }

    fn denial(&self, host: &str, answer: &Answer) -> Trouble {
        let (code, said) = reason(answer);
        let text = format!("{} at {host} says: {said}.{}", self.name(), self.hint(answer, &said));
        Trouble::denied(answer.status, &code, text)
    }
}

/// Returns Google's word for the reason, where there is one, and its sentence.
pub fn reason(answer: &Answer) -> (String, String) {
    let body: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
    let error = &body["error"];
    let code = error["errors"][0]["reason"].as_str().or_else(|| error["status"].as_str());
    let plain = || String::from_utf8_lossy(&answer.body).chars().take(200).collect::<String>();
    let said = match error["message"].as_str() {
        Some(message) => message.trim_end_matches('.').to_owned(),
        None if !answer.body.is_empty() => plain().trim().to_owned(),
        None => format!("status {}", answer.status),
    };
    (code.unwrap_or_default().to_owned(), said)
}

impl Google {
    fn hint(&self, answer: &Answer, said: &str) -> String {
        let (bucket, is_for_states) = match self {
            Google::States(bucket) => (bucket, true),
            Google::Packages(bucket) => (bucket, false),
        };
        match answer.status {
            401 if said.contains("lock") || said.contains("iat") => {
                " The clock of this machine may be wrong.".to_owned()
            }
            401 => {
                " The credentials are not valid (any more): log in again, or get a new token or key.".to_owned()
            }
            403 if !is_for_states => format!(
                " The credentials have no right to do this. Packages need storage.objects.get in the bucket {bucket:?}, and folders \
                 storage.objects.list (the role Storage Object Viewer has both)."
            ),
            404 if !is_for_states => {
                format!(" The bucket {bucket:?} does not exist: check its name in the address.")
            }
            403 => format!(
                " The credentials have no right to do this. States need storage.objects.create, .delete, .get, .list and .update in the bucket \
                 {bucket:?} (the role Storage Object User has them); a KMS key must be open to the service agent of Cloud Storage."
            ),
            404 => format!(
                " The bucket {bucket:?} must be made before it can keep states: check its name and the endpoint."
            ),
            400 if said.contains("ncryption key") => {
                " Check \"encryption_key\": it must be the one that the state was written with.".to_owned()
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_a_way_out() {
        for (status, body, part) in [
            (401, r#"{"error":{"message":"Invalid Credentials"}}"#, "log in again"),
            (
                403,
                r#"{"error":{"message":"no access","errors":[{"reason":"forbidden"}]}}"#,
                "storage.objects.create",
            ),
            (
                404,
                r#"{"error":{"message":"The specified bucket does not exist."}}"#,
                "\"states\" must be made",
            ),
            (418, "tea", "says: tea"),
            (418, "", "status 418"),
        ] {
            let answer = Answer::saying(status, HeaderMap::new(), body);
            let text = Google::States("states".into()).denial("here", &answer).to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}
