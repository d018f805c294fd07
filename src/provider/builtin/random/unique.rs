//! `random_uuid`, `random_uuid4` and `random_uuid7`.

use uuid::{Builder, Uuid};

use super::KEEPERS;
use crate::provider::builtin::attribute::{Attribute, text};
use crate::provider::builtin::fields::Fields;
use crate::provider::builtin::resource::{Kind, Problem};
use crate::world::World;

pub(super) struct Unique {
    name: &'static str,
    draw: fn(&World) -> String,
    parse: fn(&str) -> Option<Uuid>,
}

pub(super) static UUID: Unique =
    Unique { name: "random_uuid", draw: World::uuid, parse: parse_hyphenated };
pub(super) static UUID4: Unique =
    Unique { name: "random_uuid4", draw: World::uuid, parse: parse_any };
pub(super) static UUID7: Unique =
    Unique { name: "random_uuid7", draw: draw_by_time, parse: parse_any };

impl Kind for Unique {
    fn name(&self) -> &'static str {
        self.name
    }

    fn attributes(&self) -> &'static [Attribute] {
        const { &[text("id").kept(), KEEPERS, text("result").kept()] }
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        write(planned, &(self.draw)(world));
        Ok(())
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        let parsed = (self.parse)(id).ok_or_else(|| {
            Problem::error("Import Random UUID Error", format!("{id:?} is no UUID."))
        });
        Some(parsed.map(|it| write(object, &it.to_string())))
    }
}

fn write(object: &mut Fields, uuid: &str) {
    object.set_text("id", uuid);
    object.set_text("result", uuid);
}

fn draw_by_time(world: &World) -> String {
    let mut random = [0; 10];
    world.random(&mut random);
    let millis = u64::try_from(world.now().timestamp_millis()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
}

fn parse_any(text: &str) -> Option<Uuid> {
    Uuid::parse_str(text).ok()
}

fn parse_hyphenated(text: &str) -> Option<Uuid> {
    parse_any(text).filter(|_| text.len() == 36)
}
