//! What Azure Blob Storage answers where it does not do what it is asked for.

use serde::Deserialize;

use crate::backend::cloud::Trouble;
use crate::backend::cloud::web::{Answer, Service};

/// Azure Blob Storage, with names for its messages.
#[derive(Clone, Debug)]
pub struct Azure {
    /// The storage account.
    pub account: String,
    /// The container.
    pub container: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Body {
    code: String,
    message: String,
}

impl Service for Azure {
    fn name(&self) -> &'static str {
        "Azure Blob Storage"
    }

    fn is_transient(&self, answer: &Answer) -> bool {
        answer.is_overloaded()
    }

    fn denial(&self, host: &str, answer: &Answer) -> Trouble {
        let body: Body = quick_xml::de::from_reader(&*answer.body).unwrap_or_default();
        let code = answer.header("x-ms-error-code").map_or(body.code, str::to_owned);
        // Behind the first line come times and numbers for whoever serves the service.
        let message = body.message.lines().next().unwrap_or_default().trim();
        let said = match (&*code, message) {
            ("", "") => format!("status {}", answer.status),
            (code, "") => code.to_owned(),
            (code, message) => format!("{code}: {}", message.trim_end_matches('.')),
        };
        let text = match (answer.status, &*code) {
            // Azure gives a reason with it.
            (404, "") => format!(
                "what answers at {host} does not speak as {} does (status 404 without a reason, {}): check the names and the endpoint.",
                self.name(),
                answer.header("content-type").unwrap_or("no content type")
            ),
            _ => format!("{} at {host} says {said}.{}", self.name(), self.hint(&code, answer)),
        };
        Trouble::denied(answer.status, &code, text)
    }
}

impl Azure {
    fn hint(&self, code: &str, answer: &Answer) -> String {
        let Azure { account, container } = self;
        let hint = match code {
            "ContainerNotFound" => format!(
                "The container {container:?} must be made in the storage account {account:?} before it can keep states."
            ),
            "ContainerBeingDeleted" => format!("Wait until the container {container:?} is gone, then make it anew."),
            "AuthenticationFailed" | "InvalidAuthenticationInfo" => {
                let theirs = answer.header("date").unwrap_or("not told");
                format!(
                    "The key, the SAS token or the identity is not valid for the storage account {account:?}, or the clock of this machine is \
                     wrong (the service's time is {theirs})."
                )
            }
            "AuthorizationPermissionMismatch" | "InsufficientAccountPermissions" | "AuthorizationServiceMismatch" => {
                "The identity has no right to do this: it needs the role Storage Blob Data Contributor; a SAS token needs rights to read, \
                 write, delete, list, add and create."
                    .to_owned()
            }
            "AuthorizationFailure" | "PublicAccessNotPermitted" | "IpAuthorizationSourceMismatch" => format!(
                "The storage account {account:?} does not let this machine or this kind of credentials in: look at its network rules, and \
                 whether it takes keys (\"use_azuread_auth\" goes without)."
            ),
            "KeyBasedAuthenticationNotPermitted" => {
                "The storage account takes no keys: set \"use_azuread_auth\".".to_owned()
            }
            "AccountIsDisabled" => format!("The storage account {account:?} is disabled."),
            "BlobCustomerSpecifiedEncryptionMismatch" | "BlobUsesCustomerSpecifiedEncryption" => {
                "Check \"customer_provided_key\": it must be the one that the state was written with.".to_owned()
            }
            "LeaseIdMissing" => "Somebody holds the lock of this state.".to_owned(),
            "SnapshotsPresent" => "The state has snapshots, which must be deleted first.".to_owned(),
            _ if answer.status == 403 => {
                "The credentials have no right to do this: an identity needs the role Storage Blob Data Contributor.".to_owned()
            }
            _ => return String::new(),
        };
        format!(" {hint}")
    }
}

/// Whether a denial says that the lease of a blob is not ours.
pub fn is_about_lease(code: &str) -> bool {
    const CODES: &[&str] = &[
        "LeaseIdMismatchWithBlobOperation",
        "LeaseIdMismatchWithLeaseOperation",
        "LeaseIdMissing",
        "LeaseLost",
        "LeaseNotPresentWithBlobOperation",
        "LeaseNotPresentWithLeaseOperation",
    ];
    CODES.contains(&code)
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_a_way_out() {
        for (status, code, part) in [
            (404, "ContainerNotFound", "\"states\" must be made"),
            (403, "AuthenticationFailed", "clock of this machine"),
            (403, "AuthorizationPermissionMismatch", "Storage Blob Data Contributor"),
            (403, "KeyBasedAuthenticationNotPermitted", "use_azuread_auth"),
            (418, "", "status 418"),
            (404, "", "status 404 without a reason"),
        ] {
            let body = match code {
                "" => String::new(),
                code => format!(
                    "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>No.\nRequestId:1</Message></Error>"
                ),
            };
            let answer = Answer::saying(status, HeaderMap::new(), &body);
            let service = Azure { account: "acc".into(), container: "states".into() };
            let text = service.denial("here", &answer).to_string();
            assert!(text.contains(part) && !text.contains("RequestId"), "{text}");
        }
    }
}
