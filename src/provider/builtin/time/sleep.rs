//! `time_sleep`: a pause when it is created, and one when it is deleted.

use std::time::Duration;

use super::stamp::Stamp;
use super::{TRIGGERS, id_parts, set_empty_triggers, unexpected_id};
use crate::expression::parse_duration;
use crate::provider::builtin::attribute::{Attribute, text};
use crate::provider::builtin::fields::{Fields, Read, at};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::provider::builtin::rules::none_set;
use crate::value::Value;
use crate::world::World;

const DURATIONS: [&str; 2] = ["create_duration", "destroy_duration"];

pub(super) struct TimeSleep;

impl Kind for TimeSleep {
    fn name(&self) -> &'static str {
        "time_sleep"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("create_duration").optional(),
                text("destroy_duration").optional(),
                text("id").kept(),
                TRIGGERS,
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        let [create, destroy] = DURATIONS;
        // Each of the two says so for itself.
        for (name, other) in [(create, destroy), (destroy, create)] {
            if none_set(config, &DURATIONS) {
                let detail = format!("At least one of {name}, {other} must be set.");
                found.push(Problem::error("Invalid Attribute Combination", detail).at(at(name)));
            }
            if config.text(name).is_some_and(|it| !is_plain(it)) {
                let detail = format!(
                    "{name} must be a number directly followed by ms, s, m or h, such as \"30s\"."
                );
                found.push(Problem::error("Invalid Attribute Value Match", detail).at(at(name)));
            }
        }
    }

    fn pause(&self, prior: &Value, planned: &Value) -> Result<Option<Duration>, Problem> {
        let (text, summary) = if prior.is_null() {
            (planned.text("create_duration"), "Create time sleep error")
        } else if planned.is_null() {
            (prior.text("destroy_duration"), "Delete time sleep error")
        } else {
            (None, "")
        };
        let Some(text) = text.filter(|it| !it.is_empty()) else { return Ok(None) };
        let nanos = parse_duration(text)
            .map_err(|_| Problem::error(summary, format!("{text:?} is no duration.")))?;
        Ok(Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or_default())))
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        planned.set_text("id", Stamp::now(world).to_string());
        Ok(())
    }

    fn import(&self, world: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        Some(import(world, id, object))
    }
}

/// Whether this is one number with one unit.
fn is_plain(text: &str) -> bool {
    let number = text.trim_end_matches(|it: char| !it.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = [whole, fraction]
        .iter()
        .all(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    is_number && ["ms", "s", "m", "h"].contains(&&text[number.len()..])
}

fn import(world: &World, id: &str, object: &mut Fields) -> Result<(), Problem> {
    let form = "CREATE,DESTROY";
    let parts = id_parts::<2>(id, form)?;
    if parts.iter().all(|it| it.is_empty()) {
        return Err(unexpected_id(id, form));
    }
    for (name, text) in DURATIONS.into_iter().zip(parts).filter(|it| !it.1.is_empty()) {
        if parse_duration(text).is_err() {
            return Err(Problem::error(
                "Import time sleep error",
                format!("The {name} in the id, {text:?}, is no duration."),
            ));
        }
        object.set_text(name, text);
    }
    object.set_text("id", Stamp::now(world).to_string());
    set_empty_triggers(object);
    Ok(())
}
