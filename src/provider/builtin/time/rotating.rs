//! `time_rotating`: a moment that gives way to a new one when its time is over.

use super::stamp::Stamp;
use super::{
    PARTS, TRIGGERS, check_times, id_time, set_empty_triggers, set_numbers, set_parts, set_time,
    time_or_now, time_text, unexpected_id, writable,
};
use crate::provider::builtin::attribute::{Attribute, ReplaceCase, text, whole};
use crate::provider::builtin::fields::{Fields, Read, same};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::provider::builtin::rules::{at_least, none_set};
use crate::value::Value;
use crate::world::World;

/// The periods in the order of an import id.
const PERIODS: [&str; 5] =
    ["rotation_years", "rotation_months", "rotation_days", "rotation_hours", "rotation_minutes"];

/// The periods, and the time itself.
const ROTATION: [&str; 6] = [
    "rotation_minutes",
    "rotation_hours",
    "rotation_days",
    "rotation_months",
    "rotation_years",
    "rotation_rfc3339",
];

pub(super) struct TimeRotating;

impl Kind for TimeRotating {
    fn name(&self) -> &'static str {
        "time_rotating"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            let [day, hour, minute, month, second, unix, year] = PARTS;
            &[
                day,
                hour,
                time_text("id"),
                minute,
                month,
                text("rfc3339").optional().computed().replaces(),
                whole("rotation_days").optional(),
                whole("rotation_hours").optional(),
                whole("rotation_minutes").optional(),
                whole("rotation_months").optional(),
                text("rotation_rfc3339").optional().computed().replaces_when(is_over),
                whole("rotation_years").optional(),
                second,
                TRIGGERS,
                unix,
                year,
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        if none_set(config, &ROTATION) {
            found.push(Problem::error(
                "Missing Attribute Configuration",
                format!("At least one of {} must be set.", ROTATION.join(", ")),
            ));
        }
        for name in PERIODS {
            at_least(config, name, 1, found);
        }
        check_times(config, &["rfc3339", "rotation_rfc3339"], found);
    }

    fn is_there(&self, world: &World, object: &Value) -> Result<bool, Problem> {
        let end = object.text("rotation_rfc3339").and_then(Stamp::parse);
        Ok(!end.is_some_and(|it| Stamp::now(world).is_after(it)))
    }

    /// A changed rotation tells everything in the plan already, from the old base where none is configured.
    fn refine(&self, prior: &Value, planned: &mut Fields) -> Result<(), Problem> {
        let is_changed = ROTATION.iter().any(|it| !same(prior.member(it), planned.get(it)));
        if prior.is_null() || !is_changed || planned.any_unknown(&PERIODS) {
            return Ok(());
        }
        let base = if planned.get("rfc3339").is_known() {
            planned.text("rfc3339")
        } else {
            prior.text("rfc3339")
        };
        if let Some((text, base)) = base.and_then(|it| Some((it.to_owned(), Stamp::parse(it)?)))
            && let Some(end) = end(planned, base)
        {
            planned.set_text("rfc3339", text);
            complete(planned, base, end)?;
        }
        Ok(())
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let base = time_or_now(world, planned, "rfc3339");
        let end = end(planned, base)
            .ok_or_else(|| bad_rotation("The time of the rotation is not set.".to_owned()))?;
        complete(planned, base, end)
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        Some(import(id, object))
    }
}

/// A changed rotation of an object whose time is over makes a new object.
fn is_over(case: &ReplaceCase<'_>) -> bool {
    let end = case.prior.as_str().and_then(Stamp::parse);
    end.is_some_and(|it| Stamp::of_unix(case.now.timestamp()).is_after(it))
}

/// Returns the end of the rotation. Of several arguments the last in this order counts, they do not add up.
fn end(object: &Fields, base: Stamp) -> Option<Stamp> {
    const MINUTE: i64 = 60_000_000_000;
    let period = |name: &str| object.whole(name).filter(|it| *it > 0);
    None.or(period("rotation_years").map(|it| base.add_date(it, 0, 0)))
        .or(object.text("rotation_rfc3339").and_then(Stamp::parse))
        .or(period("rotation_months").map(|it| base.add_date(0, it, 0)))
        .or(period("rotation_minutes").map(|it| base.add(it, MINUTE)))
        .or(period("rotation_hours").map(|it| base.add(it, 60 * MINUTE)))
        .or(period("rotation_days").map(|it| base.add_date(0, 0, it)))
}

fn complete(object: &mut Fields, base: Stamp, end: Stamp) -> Result<(), Problem> {
    let end = writable("rotation_rfc3339", end)?;
    set_parts(object, end);
    set_time(object, "rotation_rfc3339", end);
    set_time(object, "rfc3339", base);
    set_time(object, "id", base);
    Ok(())
}

fn import(id: &str, object: &mut Fields) -> Result<(), Problem> {
    let parts: Vec<&str> = id.split(',').collect();
    let form = "BASE,YEARS,MONTHS,DAYS,HOURS,MINUTES or BASE,ROTATION";
    let (base, rotation) = parts.split_first().ok_or_else(|| unexpected_id(id, form))?;
    if base.is_empty()
        || rotation.iter().all(|it| it.is_empty())
        || ![1, 5].contains(&rotation.len())
    {
        return Err(unexpected_id(id, form));
    }
    let base = id_time(base, bad_import)?;
    let end = match rotation {
        [end] => id_time(end, bad_import)?,
        periods => {
            set_numbers(object, &PERIODS, periods, bad_import)?;
            end(object, base)
                .ok_or_else(|| bad_import("No period is longer than zero.".to_owned()))?
        }
    };
    complete(object, base, end)?;
    set_empty_triggers(object);
    Ok(())
}

fn bad_import(detail: String) -> Problem {
    Problem::error("Import time rotating error", detail)
}

fn bad_rotation(detail: String) -> Problem {
    Problem::error("Create time rotating error", detail)
}
