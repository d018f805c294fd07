//! `random_pet`: names of a few words.

use super::words::{ADJECTIVES, ADVERBS, NAMES};
use super::{KEEPERS, below, size};
use crate::provider::builtin::attribute::{Attribute, Preset, text, whole};
use crate::provider::builtin::fields::{Fields, Read};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::value::{Type, Value};
use crate::world::World;

pub(super) struct RandomPet;

impl Kind for RandomPet {
    fn name(&self) -> &'static str {
        "random_pet"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("id").kept(),
                KEEPERS,
                whole("length").preset(Preset::Whole(2)).replaces(),
                text("prefix").optional().replaces(),
                text("separator").preset(Preset::Text("-")).replaces(),
            ]
        }
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let separator = planned.text("separator").unwrap_or_default();
        // Lower case throughout, the separator between the words included; the prefix stays as it is.
        let mut name = words(world, planned.whole("length").unwrap_or_default())?
            .join(separator)
            .to_lowercase();
        match planned.text("prefix") {
            None | Some("") => planned.set("prefix", Value::Null(Type::STRING)),
            Some(prefix) => name = format!("{prefix}{separator}{name}"),
        }
        planned.set_text("id", name);
        Ok(())
    }
}

/// One word is a name, two are an adjective and a name, every further one is an adverb in front.
fn words(world: &World, count: i64) -> Result<Vec<&'static str>, Problem> {
    let pick = |list: &'static str| {
        list.split_whitespace()
            .nth(below(world, list.split_whitespace().count()))
            .unwrap_or_default()
    };
    if count == 1 {
        return Ok(vec![pick(NAMES)]);
    }
    let mut words: Vec<&str> = (0..size((count - 2).max(0))?).map(|_| pick(ADVERBS)).collect();
    words.extend([pick(ADJECTIVES), pick(NAMES)]);
    Ok(words)
}
