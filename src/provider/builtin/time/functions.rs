//! The functions of `time`: times and durations as objects.

use super::stamp::Stamp;
use crate::expression::parse_duration;
use crate::provider::builtin::attribute::Shape;
use crate::provider::builtin::table::Function;
use crate::value::{Number, Str, Type, Value};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "duration_parse",
        parameters: &[("duration", Shape::Text)],
        returns: || type_of(&duration_members(0)),
        body: |_, arguments| {
            let text = arguments[0].as_str().unwrap_or_default();
            let nanos = parse_duration(text).map_err(|_| {
                (
                    Some(0),
                    format!(
                        "Error parsing duration string: {text:?} is not a valid duration string"
                    ),
                )
            })?;
            Ok(object(duration_members(nanos)))
        },
    },
    Function {
        name: "rfc3339_parse",
        parameters: &[("timestamp", Shape::Text)],
        returns: || type_of(&members(Stamp::of_unix(0), unix)),
        body: |_, arguments| {
            let text = arguments[0].as_str().unwrap_or_default();
            let time = Stamp::parse(text).ok_or_else(|| {
                (
                    Some(0),
                    format!(
                        "Error parsing RFC3339 timestamp: {text:?} is not a valid RFC3339 timestamp"
                    ),
                )
            })?;
            Ok(object(members(time, unix)))
        },
    },
    Function {
        name: "unix_timestamp_parse",
        parameters: &[("unix_timestamp", Shape::Whole)],
        returns: || type_of(&members(Stamp::of_unix(0), written)),
        body: |_, arguments| {
            let seconds = arguments[0].as_int().ok_or_else(|| {
                (Some(0), "The timestamp must be a whole number of 64 bits".to_owned())
            })?;
            Ok(object(members(Stamp::of_unix(seconds), written)))
        },
    },
];

type Member = (&'static str, Value);

fn unix(time: Stamp) -> Member {
    ("unix", Value::int(time.unix))
}

fn written(time: Stamp) -> Member {
    ("rfc3339", Value::string(time.to_string()))
}

fn members(time: Stamp, other: fn(Stamp) -> Member) -> Vec<Member> {
    let civil = time.civil();
    let (iso_year, iso_week) = time.iso_week();
    let weekday = time.weekday();
    vec![
        other(time),
        ("year", Value::int(civil.year)),
        ("year_day", Value::int(time.year_day())),
        ("month", Value::int(civil.month)),
        ("month_name", Value::string(MONTHS[(civil.month - 1) as usize])),
        ("day", Value::int(civil.day)),
        ("weekday", Value::int(weekday)),
        ("weekday_name", Value::string(WEEKDAYS[weekday as usize])),
        ("hour", Value::int(civil.hour)),
        ("minute", Value::int(civil.minute)),
        ("second", Value::int(civil.second)),
        ("iso_year", Value::int(iso_year)),
        ("iso_week", Value::int(iso_week)),
    ]
}

fn duration_members(nanos: i64) -> Vec<Member> {
    const SECOND: i64 = 1_000_000_000;
    // Whole part and rest are added as floats, as Go does it.
    let in_units = |unit: i64| {
        let float = (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64;
        Value::Number(Number::from_f64(float).expect("a duration is finite"))
    };
    vec![
        ("hours", in_units(3600 * SECOND)),
        ("minutes", in_units(60 * SECOND)),
        ("seconds", in_units(SECOND)),
        ("milliseconds", Value::int(nanos / 1_000_000)),
        ("microseconds", Value::int(nanos / 1_000)),
        ("nanoseconds", Value::int(nanos)),
    ]
}

fn object(members: Vec<Member>) -> Value {
    Value::object(members.into_iter().map(|(name, value)| (Str::from(name), value)))
}

fn type_of(members: &[Member]) -> Type {
    Type::object(members.iter().map(|(name, value)| ((*name).into(), value.ty())).collect())
}
