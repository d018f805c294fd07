//! `time_static`: one moment.

use super::stamp::Stamp;
use super::{
    PARTS, TRIGGERS, check_times, id_time, set_empty_triggers, set_parts, set_time, time_or_now,
    writable,
};
use crate::provider::builtin::attribute::{Attribute, text};
use crate::provider::builtin::fields::{Fields, Read};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::value::Value;
use crate::world::World;

pub(super) struct TimeStatic;

impl Kind for TimeStatic {
    fn name(&self) -> &'static str {
        "time_static"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            let [day, hour, minute, month, second, unix, year] = PARTS;
            &[
                day,
                hour,
                text("id").kept(),
                minute,
                month,
                text("rfc3339").optional().computed().replaces(),
                second,
                TRIGGERS,
                unix,
                year,
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        check_times(config, &["rfc3339"], found);
    }

    /// A given time tells everything in the plan already.
    fn refine(&self, prior: &Value, planned: &mut Fields) -> Result<(), Problem> {
        if prior.is_null()
            && let Some(time) = planned.text("rfc3339").and_then(Stamp::parse)
        {
            complete(planned, time);
        }
        Ok(())
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let time = time_or_now(world, planned, "rfc3339");
        complete(planned, time);
        Ok(())
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        let bad = |detail| Problem::error("Import time static error", detail);
        set_empty_triggers(object);
        let time = id_time(id, bad).and_then(|it| writable("rfc3339", it));
        Some(time.map(|it| complete(object, it)))
    }
}

fn complete(object: &mut Fields, time: Stamp) {
    set_parts(object, time);
    set_time(object, "rfc3339", time);
    let written = object.get("rfc3339").clone();
    object.set("id", written);
}
