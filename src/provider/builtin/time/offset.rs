//! `time_offset`: a moment some time before or after another.

use super::stamp::Stamp;
use super::{
    PARTS, TRIGGERS, check_times, id_parts, id_time, set_empty_triggers, set_numbers, set_parts,
    set_time, time_or_now, time_text, unexpected_id, writable,
};
use crate::provider::builtin::attribute::{Attribute, text, whole};
use crate::provider::builtin::fields::{Fields, Read, same};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::provider::builtin::rules::none_set;
use crate::value::Value;
use crate::world::World;

/// The offsets in the order of an import id.
const OFFSETS: [&str; 6] = [
    "offset_years",
    "offset_months",
    "offset_days",
    "offset_hours",
    "offset_minutes",
    "offset_seconds",
];

pub(super) struct TimeOffset;

impl Kind for TimeOffset {
    fn name(&self) -> &'static str {
        "time_offset"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            let [day, hour, minute, month, second, unix, year] = PARTS;
            &[
                text("base_rfc3339").optional().computed(),
                day,
                hour,
                time_text("id"),
                minute,
                month,
                whole("offset_days").optional(),
                whole("offset_hours").optional(),
                whole("offset_minutes").optional(),
                whole("offset_months").optional(),
                whole("offset_seconds").optional(),
                whole("offset_years").optional(),
                time_text("rfc3339"),
                second,
                TRIGGERS,
                unix,
                year,
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        if none_set(config, &OFFSETS) {
            found.push(Problem::error(
                "Missing Attribute Configuration",
                format!("At least one of {} must be set.", OFFSETS.join(", ")),
            ));
        }
        check_times(config, &["base_rfc3339"], found);
    }

    /// A changed offset tells everything in the plan already, from the old base where none is configured.
    fn refine(&self, prior: &Value, planned: &mut Fields) -> Result<(), Problem> {
        let is_changed = OFFSETS.iter().any(|it| !same(prior.member(it), planned.get(it)));
        if prior.is_null() || !is_changed || planned.any_unknown(&OFFSETS) {
            return Ok(());
        }
        let base = if planned.get("base_rfc3339").is_known() {
            planned.text("base_rfc3339")
        } else {
            prior.text("base_rfc3339")
        };
        if let Some((text, time)) = base.and_then(|it| Some((it.to_owned(), Stamp::parse(it)?))) {
            planned.set_text("base_rfc3339", text);
            complete(planned, time)?;
        }
        Ok(())
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let base = time_or_now(world, planned, "base_rfc3339");
        complete(planned, base)
    }

    fn update(&self, planned: &mut Fields) -> Result<(), Problem> {
        if let Some(base) = planned.text("base_rfc3339").and_then(Stamp::parse) {
            complete(planned, base)?;
        }
        Ok(())
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        Some(import(id, object))
    }
}

fn import(id: &str, object: &mut Fields) -> Result<(), Problem> {
    let form = "BASE,YEARS,MONTHS,DAYS,HOURS,MINUTES,SECONDS";
    let bad = |detail| Problem::error("Import time offset error", detail);
    let [base, offsets @ ..] = id_parts::<7>(id, form)?;
    if base.is_empty() || offsets.iter().all(|it| it.is_empty()) {
        return Err(unexpected_id(id, form));
    }
    set_numbers(object, &OFFSETS, &offsets, bad)?;
    // The base, alone among the parts, is refused under this summary.
    let bad_base = |detail| Problem::error("Create time offset error", detail);
    complete(object, id_time(base, bad_base)?)?;
    set_empty_triggers(object);
    Ok(())
}

/// Sets all that follows from the base and the offsets.
fn complete(object: &mut Fields, base: Stamp) -> Result<(), Problem> {
    const MINUTE: i64 = 60_000_000_000;
    let offset = |name: &str| object.whole(name).unwrap_or_default();
    let time = base
        .add_date(0, 0, offset("offset_days"))
        .add(offset("offset_hours"), 60 * MINUTE)
        .add(offset("offset_minutes"), MINUTE)
        .add_date(0, offset("offset_months"), 0)
        .add(offset("offset_seconds"), MINUTE / 60)
        .add_date(offset("offset_years"), 0, 0);
    let time = writable("rfc3339", time)?;
    set_parts(object, time);
    set_time(object, "rfc3339", time);
    set_time(object, "base_rfc3339", base);
    set_time(object, "id", base);
    Ok(())
}
