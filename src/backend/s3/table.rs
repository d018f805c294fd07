//! The table of DynamoDB that holds locks and the digests of states.

use bytes::Bytes;
use http::Method;
use reqsign_aws_v4::Credential;
use serde_json::{Value as Json, json};

use crate::backend::cloud::{Ask, Trouble, Way};

/// A table.
#[derive(Debug)]
pub struct Table {
    /// The way to DynamoDB.
    pub way: Way<Credential>,
    /// Where DynamoDB is.
    pub address: String,
    /// The table's name.
    pub name: String,
}

/// The attribute that holds the record of a lock.
const INFO: &str = "Info";
/// The attribute that holds the digest of a state.
const DIGEST: &str = "Digest";

impl Table {
    async fn ask(&self, action: &str, mut body: Json) -> Result<Json, Trouble> {
        body["TableName"] = json!(self.name);
        let body = Bytes::from(body.to_string());
        let ask = call(&self.address, "1.0", &format!("DynamoDB_20120810.{action}"), body);
        let answer = self.way.demand(&ask).await?;
        serde_json::from_slice(&answer.body).map_err(|_| {
            let text = format!(
                "{} does not answer as DynamoDB does: check the endpoint's address.",
                ask.host()
            );
            Trouble::denied(answer.status, "", text)
        })
    }

    async fn attribute(&self, id: &str, name: &str) -> Result<Option<String>, Trouble> {
        let query = json!({
            "Key": { "LockID": { "S": id } },
            "ProjectionExpression": format!("LockID, {name}"),
            "ConsistentRead": true,
        });
        let found = self.ask("GetItem", query).await?;
        let item = &found["Item"];
        // An item without the attribute is still there, as something else than what was looked for.
        let text = item[name]["S"].as_str().map(str::to_owned);
        Ok(text.or_else(|| item.is_object().then(String::new)))
    }

    /// Returns the record of a lock, as it is written.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn record(&self, id: &str) -> Result<Option<String>, Trouble> {
        self.attribute(id, INFO).await
    }

    /// Puts the record of a lock, unless there is one. Returns whether it did.
    ///
    /// # Errors
    ///
    /// If it may not be there.
    pub async fn put_record(&self, id: &str, record: &str) -> Result<bool, Trouble> {
        let put = json!({
            "Item": { "LockID": { "S": id }, INFO: { "S": record } },
            "ConditionExpression": "attribute_not_exists(LockID)",
        });
        unless_not_met(self.ask("PutItem", put).await)
    }

    /// Deletes the record of a lock, if it still is this one. Returns whether it was.
    ///
    /// # Errors
    ///
    /// If it may still be there.
    pub async fn delete_record(&self, id: &str, record: &str) -> Result<bool, Trouble> {
        let delete = json!({
            "Key": { "LockID": { "S": id } },
            "ConditionExpression": "Info = :info",
            "ExpressionAttributeValues": { ":info": { "S": record } },
        });
        unless_not_met(self.ask("DeleteItem", delete).await)
    }

    /// Returns the digest that the state of this ID must have.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn digest(&self, id: &str) -> Result<Option<String>, Trouble> {
        self.attribute(&format!("{id}-md5"), DIGEST).await
    }

    /// Puts the digest of a state.
    ///
    /// # Errors
    ///
    /// If it may not be there.
    pub async fn put_digest(&self, id: &str, digest: &str) -> Result<(), Trouble> {
        let item = json!({ "LockID": { "S": format!("{id}-md5") }, DIGEST: { "S": digest } });
        self.ask("PutItem", json!({ "Item": item })).await.map(drop)
    }

    /// Deletes the digest of a state.
    ///
    /// # Errors
    ///
    /// If it may still be there.
    pub async fn delete_digest(&self, id: &str) -> Result<(), Trouble> {
        let key = json!({ "LockID": { "S": format!("{id}-md5") } });
        self.ask("DeleteItem", json!({ "Key": key })).await.map(drop)
    }
}

/// Returns a call of a service that speaks JSON.
///
/// - `version`: that of the protocol.
pub fn call(address: &str, version: &str, target: &str, body: Bytes) -> Ask {
    Ask::new(Method::POST, address.to_owned())
        .header("content-type", format!("application/x-amz-json-{version}"))
        .header("x-amz-target", target)
        .header("x-amz-content-sha256", super::objects::sha256_hex(&body))
        .body(body)
}

fn unless_not_met(asked: Result<Json, Trouble>) -> Result<bool, Trouble> {
    match asked {
        Ok(_) => Ok(true),
        Err(it) if it.code() == "ConditionalCheckFailedException" => Ok(false),
        Err(it) => Err(it),
    }
}
