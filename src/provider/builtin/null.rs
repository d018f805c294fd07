//! `hashicorp/null`: a resource that does nothing, and a data source that returns what it is given.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;

use super::attribute::{Attribute, text, text_map, values_differ};
use super::fields::{Fields, Read};
use super::resource::{Kind, Problem};
use super::table::{Source, Table};
use crate::value::Value;
use crate::world::World;

pub(super) static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::new(&[&NullResource], &[&NullDataSource], &[], &[]));

struct NullResource;

impl Kind for NullResource {
    fn name(&self) -> &'static str {
        "null_resource"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const { &[text("id").kept(), text_map("triggers").optional().replaces_when(values_differ)] }
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        planned.set_text("id", random_number(world));
        Ok(())
    }
}

struct NullDataSource;

#[async_trait]
impl Source for NullDataSource {
    fn name(&self) -> &'static str {
        "null_data_source"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("has_computed_default").optional().computed(),
                text("id").computed().deprecated("It always has the same value and will go."),
                text_map("inputs").optional(),
                text_map("outputs").computed(),
                text("random").computed(),
            ]
        }
    }

    fn deprecated(&self) -> Option<&'static str> {
        Some("Use a local value, or terraform_data.")
    }

    async fn read(
        &self,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        result.set("outputs", config.member("inputs").clone());
        result.set_text("random", random_number(world));
        result.set_text("id", "static");
        if config.member("has_computed_default").is_null() {
            result.set_text("has_computed_default", "default");
        }
        Ok(())
    }
}

/// Returns a random whole number of 63 bits, in decimal.
fn random_number(world: &World) -> String {
    let mut bytes = [0; 8];
    world.random(&mut bytes);
    (u64::from_le_bytes(bytes) >> 1).to_string()
}
