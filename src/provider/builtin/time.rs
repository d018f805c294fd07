//! `hashicorp/time`: moments that are taken once and then stay.

use std::sync::LazyLock;

use super::attribute::{Attribute, text, text_map, whole};
use super::fields::{Fields, Read, at};
use super::resource::Problem;
use super::table::Table;
use crate::value::{Type, Value};
use crate::world::World;
use stamp::Stamp;

mod functions;
mod offset;
mod rotating;
mod sleep;
mod stamp;
mod still;

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        &[&offset::TimeOffset, &rotating::TimeRotating, &sleep::TimeSleep, &still::TimeStatic],
        &[],
        &[],
        functions::FUNCTIONS,
    )
});

const TRIGGERS: Attribute = text_map("triggers").optional().replaces();

/// The parts of a time as numbers, in its own zone.
const PARTS: [Attribute; 7] = [
    whole("day").computed(),
    whole("hour").computed(),
    whole("minute").computed(),
    whole("month").computed(),
    whole("second").computed(),
    whole("unix").computed(),
    whole("year").computed(),
];

/// Sets the parts of a time.
fn set_parts(object: &mut Fields, time: Stamp) {
    let civil = time.civil();
    object.set("year", Value::int(civil.year));
    object.set("month", Value::int(civil.month));
    object.set("day", Value::int(civil.day));
    object.set("hour", Value::int(civil.hour));
    object.set("minute", Value::int(civil.minute));
    object.set("second", Value::int(civil.second));
    object.set("unix", Value::int(time.unix));
}

/// Sets a time, unless it is there already, written in another way.
fn set_time(object: &mut Fields, name: &str, time: Stamp) {
    let written = object.text(name).and_then(Stamp::parse);
    if written.is_none_or(|it| it.to_string() != time.to_string()) {
        object.set_text(name, time.to_string());
    }
}

/// Returns a computed time, unless its year or zone cannot be written.
fn writable(name: &str, time: Stamp) -> Result<Stamp, Problem> {
    let written = time.to_string();
    if Stamp::parse(&written).is_some() { Ok(time) } else { Err(invalid_time(name, &written)) }
}

/// Returns the time at an attribute, where it is known; an absent one is now.
fn time_or_now(world: &World, object: &Fields, name: &str) -> Stamp {
    object.text(name).and_then(Stamp::parse).unwrap_or_else(|| Stamp::now(world))
}

/// Times must be written as RFC 3339 has it.
fn check_times(config: &Value, names: &[&str], found: &mut Vec<Problem>) {
    for name in names {
        if let Some(given) = config.text(name)
            && Stamp::parse(given).is_none()
        {
            found.push(invalid_time(name, given));
        }
    }
}

fn invalid_time(name: &str, given: &str) -> Problem {
    let detail = format!("{name} must be a time such as 2024-01-31T10:20:30Z, not {given:?}.");
    Problem::error("Invalid RFC3339 String Value", detail).at(at(name))
}

/// Splits an import id at its commas.
fn id_parts<'a, const N: usize>(id: &'a str, form: &str) -> Result<[&'a str; N], Problem> {
    let parts: Vec<&str> = id.split(',').collect();
    parts.try_into().map_err(|_| unexpected_id(id, form))
}

fn unexpected_id(id: &str, form: &str) -> Problem {
    Problem::error(
        "Unexpected Format of ID",
        format!(
            "The id is {id:?}, but it is written {form}, with at least one value after the first."
        ),
    )
}

/// Sets numbers that an import id gives; empty parts are absent.
fn set_numbers(
    object: &mut Fields,
    names: &[&str],
    parts: &[&str],
    bad: fn(String) -> Problem,
) -> Result<(), Problem> {
    for (name, part) in names.iter().zip(parts).filter(|it| !it.1.is_empty()) {
        let number = part
            .parse::<i64>()
            .map_err(|_| bad(format!("The {name} in the id, {part:?}, is no whole number.")))?;
        object.set(name, Value::int(number));
    }
    Ok(())
}

/// Returns the time that an import id gives.
fn id_time(text: &str, bad: fn(String) -> Problem) -> Result<Stamp, Problem> {
    Stamp::parse(text)
        .ok_or_else(|| bad(format!("{text:?} is no time such as 2024-01-31T10:20:30Z.")))
}

/// Imported triggers are empty rather than absent.
fn set_empty_triggers(object: &mut Fields) {
    object.set("triggers", Value::map(Type::STRING, []));
}

const fn time_text(name: &'static str) -> Attribute {
    text(name).computed()
}
