//! What S3, DynamoDB, KMS and STS answer where they do not do what they are asked for, and what the user can do about it.

use serde::Deserialize;

use crate::backend::cloud::Trouble;
use crate::backend::cloud::web::{Answer, Service};

/// A service of AWS, with what its messages name.
#[derive(Clone, Debug)]
pub enum Aws {
    /// S3, and the bucket.
    Objects(String),
    /// DynamoDB, and the table.
    Table(String),
    /// KMS, and the key.
    Keys(String),
    /// S3, and the bucket, of which packages are read.
    Packages(String),
    /// STS.
    Tokens,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Body {
    code: String,
    message: String,
    region: String,
    endpoint: String,
    error: Option<Box<Body>>,
}

/// Returns the service's word for the reason, its sentence, and the region that it names.
fn reason(answer: &Answer) -> (String, String, Option<String>) {
    if let Ok(body) = serde_json::from_slice::<serde_json::Value>(&answer.body) {
        let text =
            |names: [&str; 2]| names.iter().find_map(|it| body[*it].as_str()).unwrap_or_default();
        let code = text(["__type", "code"]);
        let code = code.rsplit('#').next().unwrap_or_default();
        return (code.to_owned(), text(["message", "Message"]).to_owned(), None);
    }
    let read: Body = quick_xml::de::from_reader(&*answer.body).unwrap_or_default();
    let body = read.error.map_or(Body { error: None, ..read }, |it| *it);
    let told = answer.header("x-amz-bucket-region").map(str::to_owned);
    let region = told.or(Some(body.region).filter(|it| !it.is_empty()));
    let message = match body.endpoint.is_empty() {
        true => body.message,
        false => format!("{} ({})", body.message, body.endpoint),
    };
    (body.code, message, region)
}

impl Service for Aws {
    fn name(&self) -> &'static str {
        match self {
            Aws::Objects(_) | Aws::Packages(_) => "S3",
            Aws::Table(_) => "DynamoDB",
            Aws::Keys(_) => "AWS KMS",
            Aws::Tokens => "AWS STS",
        }
    }

    fn is_transient(&self, answer: &Answer) -> bool {
        const AGAIN: &[&str] = &[
            "ConditionalRequestConflict",
            "OperationAborted",
            "ProvisionedThroughputExceededException",
            "RequestLimitExceeded",
            "RequestTimeout",
            "SlowDown",
            "Throttling",
            "ThrottlingException",
            "TransactionConflictException",
        ];
        answer.is_overloaded()
            || matches!(answer.status, 400 | 409) && AGAIN.contains(&&*reason(answer).0)
    }

    fn denial(&self, host: &str, answer: &Answer) -> Trouble {
        let (code, message, region) = reason(answer);
        let said = match (&*code, &*message) {
            ("", "") => format!("status {}", answer.status),
            (code, "") => code.to_owned(),
            (code, message) => format!("{code}: {}", message.trim_end_matches('.')),
        };
        let hint = self.hint(&code, answer, region.as_deref());
        let text = format!("{} at {host} says {said}.{hint}", self.name());
        Trouble::denied(answer.status, &code, text)
    }
}

impl Aws {
    fn hint(&self, code: &str, answer: &Answer, region: Option<&str>) -> String {
        let hint = match (code, self) {
            ("NoSuchBucket", Aws::Objects(bucket)) => format!(
                "The bucket {bucket:?} does not exist. It must be made before it can keep states; check its name, the region and the endpoint."
            ),
            ("NoSuchBucket", Aws::Packages(bucket)) => format!(
                "The bucket {bucket:?} does not exist: check its name and the host in the address."
            ),
            ("ResourceNotFoundException", Aws::Table(table)) => format!(
                "The table {table:?} does not exist in this region. It must be made first, with \"LockID\" (a string) as its partition key."
            ),
            ("ValidationException", Aws::Table(table)) => format!(
                "The table {table:?} must have \"LockID\" (a string) as its partition key, and no sort key."
            ),
            ("NotFoundException", Aws::Keys(key)) => format!(
                "The key {key:?} does not exist in this region and account: check \"kms_key_id\" and \"region\"; a key of another account is \
                 named by its ARN."
            ),
            ("DisabledException" | "KMSInvalidStateException" | "KeyUnavailableException", Aws::Keys(key)) => format!(
                "The key {key:?} cannot be used now: enable it, or cancel its deletion. Nothing sealed with it can be read without it."
            ),
            ("InvalidKeyUsageException", Aws::Keys(key)) => {
                format!("The key {key:?} must be a symmetric one that encrypts and decrypts.")
            }
            ("IncorrectKeyException" | "InvalidCiphertextException", Aws::Keys(key)) => format!(
                "What was sealed, was sealed with another key than {key:?}, or it was changed since: name the key that has sealed it."
            ),
            ("PermanentRedirect" | "TemporaryRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException", _) => {
                match region {
                    Some(region) if matches!(self, Aws::Packages(_)) => format!(
                        "The bucket is in the region {region:?}: name it in the host (s3.{region}.amazonaws.com), or in \"region\" behind the \"?\" where \
                         the host is another provider's."
                    ),
                    Some(region) => format!("The bucket is in the region {region:?}: set \"region\" to that."),
                    None => "The bucket is in another region: set \"region\" to that.".to_owned(),
                }
            }
            ("RequestTimeTooSkewed" | "RequestExpired" | "InvalidSignatureException" | "SignatureDoesNotMatch", _)
                if is_about_time(answer) =>
            {
                let theirs = answer.header("date").unwrap_or("not told");
                format!("The clock of this machine is wrong: the service's time is {theirs}. Set the clock, then try again.")
            }
            ("InvalidAccessKeyId" | "UnrecognizedClientException" | "InvalidClientTokenId" | "AuthFailure", _) => {
                "The access key is not known there: check which credentials are used (profile, environment, settings), and for which account."
                    .to_owned()
            }
            ("SignatureDoesNotMatch" | "IncompleteSignature", _) => {
                "The secret key does not belong to the access key, or something in between changes requests.".to_owned()
            }
            ("ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired" | "InvalidToken", _) => {
                "The session's token has expired or is none: log in again, or get new credentials.".to_owned()
            }
            ("AccessDenied" | "AccessDeniedException" | "AllAccessDisabled" | "UnauthorizedAccess", _) => self.rights().to_owned(),
            ("KMS.DisabledException" | "KMS.NotFoundException" | "KMS.KMSInvalidStateException", _) => {
                "Check the key that \"kms_key_id\" names, or the one that the bucket uses.".to_owned()
            }
            ("NotImplemented", Aws::Objects(_)) => {
                "The endpoint does not do all of S3: \"use_lockfile\" needs conditional writes, and \"skip_s3_checksum\" leaves checksums out."
                    .to_owned()
            }
            _ if answer.status == 403 => self.rights().to_owned(),
            _ => return String::new(),
        };
        format!(" {hint}")
    }

    fn rights(&self) -> &'static str {
        match self {
            Aws::Objects(_) => {
                "The credentials have no right to do this. States need s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject and \
                 s3:DeleteObject on its objects; a KMS key needs kms:Encrypt, kms:Decrypt and kms:GenerateDataKey."
            }
            Aws::Packages(_) => {
                "The credentials have no right to do this. Packages need s3:GetObject on the objects, and folders s3:ListBucket on the bucket."
            }
            Aws::Table(_) => {
                "The credentials have no right to do this. Locks need dynamodb:DescribeTable, dynamodb:GetItem, dynamodb:PutItem and \
                 dynamodb:DeleteItem on the table."
            }
            Aws::Keys(_) => {
                "The credentials have no right to do this: they need kms:GenerateDataKey and kms:Decrypt on the key, by its key policy too."
            }
            Aws::Tokens => {
                "The credentials have no right to do this: the role's trust policy must name them, and they need sts:AssumeRole on it."
            }
        }
    }
}

fn is_about_time(answer: &Answer) -> bool {
    let text = String::from_utf8_lossy(&answer.body);
    ["Skewed", "expired", "not yet current", "time"].iter().any(|it| text.contains(it))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("a header's value"));
        }
        Answer::saying(status, map, body)
    }

    #[track_caller]
    fn check(service: Aws, answer: &Answer, parts: &[&str]) {
        let text = service.denial("here:1", answer).to_string();
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_a_way_out() {
        let xml = |code: &str| {
            format!(
                "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no</Message></Error>"
            )
        };
        let bucket = || Aws::Objects("states".into());
        check(
            bucket(),
            &answer(404, &[], &xml("NoSuchBucket")),
            &["S3 at here:1", "\"states\" does not exist"],
        );
        check(
            bucket(),
            &answer(403, &[], &xml("AccessDenied")),
            &["AccessDenied: no", "s3:PutObject"],
        );
        check(
            bucket(),
            &answer(403, &[], &xml("InvalidAccessKeyId")),
            &["access key is not known"],
        );
        let moved = answer(301, &[("x-amz-bucket-region", "eu-west-3")], &xml("PermanentRedirect"));
        check(bucket(), &moved, &["set \"region\" to that", "eu-west-3"]);
        let late =
            answer(403, &[("date", "Mon, 01 Jan 2035 00:00:00 GMT")], &xml("RequestTimeTooSkewed"));
        check(bucket(), &late, &["clock", "2035"]);
        let table = answer(
            400,
            &[],
            r#"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"x"}"#,
        );
        check(Aws::Table("locks".into()), &table, &["\"locks\" does not exist", "LockID"]);
        let sts = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>";
        check(Aws::Tokens, &answer(403, &[], sts), &["AccessDenied: not you", "sts:AssumeRole"]);
        check(bucket(), &answer(418, &[], "tea"), &["status 418"]);
    }

    #[test]
    fn what_is_too_much_at_once_is_asked_again() {
        let slow = answer(400, &[], r#"{"__type":"x#ThrottlingException"}"#);
        assert!(Aws::Table(String::new()).is_transient(&slow));
        assert!(Aws::Tokens.is_transient(&answer(503, &[], "")));
        assert!(!Aws::Objects(String::new()).is_transient(&answer(412, &[], "")));
    }
}
