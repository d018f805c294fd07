//! `random_id` and `random_bytes`: bytes, written in several ways.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use num_bigint::BigUint;

use super::{KEEPERS, bytes};
use crate::provider::builtin::attribute::{Attribute, text, text_map, whole};
use crate::provider::builtin::fields::{Fields, Read};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::provider::builtin::rules::at_least;
use crate::provider::builtin::table::Source;
use crate::provider::builtin::text::{from_base64, from_base64_url, hex};
use crate::value::Value;
use crate::world::World;

pub(super) struct RandomId;

impl Kind for RandomId {
    fn name(&self) -> &'static str {
        "random_id"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("b64_std").kept(),
                text("b64_url").kept(),
                whole("byte_length").required().replaces(),
                text("dec").kept(),
                text("hex").kept(),
                text("id").kept(),
                KEEPERS,
                text("prefix").optional().replaces(),
            ]
        }
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let bytes = bytes(world, planned.whole("byte_length").unwrap_or_default())?;
        let prefix = planned.text("prefix").unwrap_or_default().to_owned();
        write_id(planned, &prefix, &BASE64_URL_SAFE_NO_PAD.encode(&bytes), &bytes);
        Ok(())
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        let (prefix, id) = id.rsplit_once(',').unwrap_or(("", id));
        let Some(bytes) = from_base64_url(id) else {
            let detail = format!("{id:?} is not unpadded base64 in the URL-safe alphabet.");
            return Some(Err(Problem::error("Import Random ID Error", detail)));
        };
        object.set("byte_length", Value::int(bytes.len() as i64));
        if !prefix.is_empty() {
            object.set_text("prefix", prefix);
        }
        write_id(object, prefix, id, &bytes);
        Some(Ok(()))
    }
}

fn write_id(object: &mut Fields, prefix: &str, id: &str, bytes: &[u8]) {
    object.set_text("b64_std", format!("{prefix}{}", BASE64_STANDARD.encode(bytes)));
    object.set_text("b64_url", format!("{prefix}{id}"));
    object.set_text("dec", format!("{prefix}{}", BigUint::from_bytes_be(bytes)));
    object.set_text("hex", format!("{prefix}{}", hex(bytes)));
    object.set_text("id", id);
}

pub(super) struct RandomBytes;

impl Kind for RandomBytes {
    fn name(&self) -> &'static str {
        "random_bytes"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("base64").kept().sensitive(),
                text("hex").kept().sensitive(),
                text_map("keepers").optional().replaces(),
                whole("length").required().replaces(),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        at_least(config, "length", 1, found);
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        write_bytes(world, planned)
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        let Some(bytes) = from_base64(id) else {
            return Some(Err(Problem::error(
                "Import Random bytes Error",
                "The id is not padded base64.",
            )));
        };
        object.set("length", Value::int(bytes.len() as i64));
        object.set_text("base64", id);
        object.set_text("hex", hex(&bytes));
        Some(Ok(()))
    }
}

fn write_bytes(world: &World, object: &mut Fields) -> Result<(), Problem> {
    let bytes = bytes(world, object.whole("length").unwrap_or_default())?;
    object.set_text("base64", BASE64_STANDARD.encode(&bytes));
    object.set_text("hex", hex(&bytes));
    Ok(())
}

/// The ephemeral `random_bytes`.
pub(super) struct EphemeralBytes;

#[async_trait]
impl Source for EphemeralBytes {
    fn name(&self) -> &'static str {
        "random_bytes"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("base64").computed().sensitive(),
                text("hex").computed().sensitive(),
                whole("length").required(),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        at_least(config, "length", 1, found);
    }

    async fn read(
        &self,
        world: &Arc<World>,
        _: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        write_bytes(world, result)
    }
}
