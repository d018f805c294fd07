//! What a double of S3 and DynamoDB answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value as Json, json};

use crate::backend::cloud::double::{Asked, Reply};
use crate::backend::s3::objects::md5_hex;

/// What the double keeps: objects, and items of a table.
#[derive(Default)]
pub struct Kept {
    pub objects: BTreeMap<String, Vec<u8>>,
    pub items: BTreeMap<String, Json>,
    /// Whether conditions of puts are kept.
    pub keeps_conditions: bool,
    /// Whether they are denied as something that is not known.
    pub denies_conditions: bool,
}

pub type Shared = Arc<Mutex<Kept>>;

fn tag(bytes: &[u8]) -> String {
    format!("\"{}\"", md5_hex(bytes))
}

fn error(status: u16, code: &str) -> Reply {
    let body = format!(
        "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>It is so.</Message></Error>"
    );
    Reply::text(status, "application/xml", body)
}

pub fn answer(kept: &Shared, asked: &Asked) -> Reply {
    let mut kept = kept.lock();
    if let Some(target) = asked.header("x-amz-target") {
        return table(&mut kept, target, &serde_json::from_slice(&asked.body).expect("JSON"));
    }
    let Some(key) = asked.path.strip_prefix("/states/") else { return error(404, "NoSuchBucket") };
    let there = kept.objects.get(key).cloned();
    match (&*asked.method, there) {
        ("GET", _) if key.is_empty() => list(&kept, &asked.argument("prefix").unwrap_or_default()),
        ("GET" | "HEAD", Some(bytes)) => {
            let tag = tag(&bytes);
            Reply::text(200, "application/json", bytes).with("etag", &tag)
        }
        ("GET", None) => error(404, "NoSuchKey"),
        ("HEAD", None) => Reply::status(404),
        ("DELETE", _) => {
            kept.objects.remove(key);
            Reply::status(204)
        }
        ("PUT", there) => put(&mut kept, key, there, asked),
        _ => error(405, "MethodNotAllowed"),
    }
}

fn put(kept: &mut Kept, key: &str, there: Option<Vec<u8>>, asked: &Asked) -> Reply {
    let (fresh, same) = (asked.header("if-none-match"), asked.header("if-match"));
    if kept.denies_conditions && (fresh.is_some() || same.is_some()) {
        return error(501, "NotImplemented");
    }
    if kept.keeps_conditions {
        let is_same = there.as_ref().map(|it| tag(it)) == same.map(str::to_owned);
        if fresh.is_some() && there.is_some() || same.is_some() && there.is_some() && !is_same {
            return error(412, "PreconditionFailed");
        }
        if same.is_some() && there.is_none() {
            return error(404, "NoSuchKey");
        }
    }
    kept.objects.insert(key.to_owned(), asked.body.clone());
    Reply::status(200).with("etag", &tag(&asked.body))
}

fn list(kept: &Kept, prefix: &str) -> Reply {
    let keys = kept.objects.keys().filter(|it| it.starts_with(prefix));
    let keys: String = keys.map(|it| format!("<Contents><Key>{it}</Key></Contents>")).collect();
    let body = format!(
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{keys}</ListBucketResult>"
    );
    Reply::text(200, "application/xml", body)
}

fn table(kept: &mut Kept, target: &str, body: &Json) -> Reply {
    let id = body["Key"]["LockID"]["S"].as_str().or(body["Item"]["LockID"]["S"].as_str());
    let id = id.unwrap_or_default().to_owned();
    let there = kept.items.get(&id).cloned();
    let failed = || {
        let body =
            json!({ "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException" });
        Reply::text(400, "application/x-amz-json-1.0", body.to_string())
    };
    let mut found = json!({});
    match target.rsplit('.').next() {
        Some("GetItem") => {
            if let Some(item) = there {
                found["Item"] = item;
            }
        }
        Some("PutItem") if body["ConditionExpression"].is_string() && there.is_some() => {
            return failed();
        }
        Some("PutItem") => {
            kept.items.insert(id, body["Item"].clone());
        }
        _ => {
            let wanted = &body["ExpressionAttributeValues"][":info"];
            if wanted.is_object() && there.is_none_or(|it| it["Info"] != *wanted) {
                return failed();
            }
            kept.items.remove(&id);
        }
    }
    Reply::text(200, "application/x-amz-json-1.0", found.to_string())
}
