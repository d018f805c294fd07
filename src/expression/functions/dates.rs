//! Points in time, as RFC 3339 writes them.

use chrono::{DateTime, Datelike, Duration, FixedOffset, NaiveDate, NaiveTime, TimeZone, Timelike};

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::expression::parse_duration;
use crate::value::{Type, Value};

use super::hashes::later;
use crate::error::Error;

const TEXT: Returns = Returns::Always(Shape::String);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "timestamp",
        description: "Returns the time at which apply evaluates it.",
        parameters: &[],
        variadic: None,
        returns: TEXT,
        body: |call| {
            Ok(later(call, || Value::string(rfc3339(&call.scope.world().now().fixed_offset()))))
        },
    },
    Function {
        name: "plantimestamp",
        description: "Returns the time at which the plan was made.",
        parameters: &[],
        variadic: None,
        returns: TEXT,
        body: |call| {
            Ok(call.scope.plan_time().map_or_else(
                || Value::unknown(Type::STRING),
                |it| Value::string(rfc3339(&it.fixed_offset())),
            ))
        },
    },
    Function {
        name: "formatdate",
        description: "Writes a time by a pattern of letters such as YYYY and hh.",
        parameters: &[Parameter::string("format"), Parameter::string("time")],
        variadic: None,
        returns: TEXT,
        body: formatdate,
    },
    Function {
        name: "timeadd",
        description: "Adds a duration such as 1h30m to a time.",
        parameters: &[Parameter::string("timestamp"), Parameter::string("duration")],
        variadic: None,
        returns: Returns::Nullable(Shape::String),
        body: timeadd,
    },
    Function {
        name: "timecmp",
        description: "Returns -1, 0 or 1: whether a time is before, at or after another.",
        parameters: &[Parameter::string("timestamp_a"), Parameter::string("timestamp_b")],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: timecmp,
    },
];

type Time = DateTime<FixedOffset>;

fn timeadd(call: &Call<'_>) -> CallResult {
    let time = parse_time(call.text(0)).map_err(Failure::call)?;
    let nanoseconds = parse_duration(call.text(1)).map_err(Failure::call)?;
    let sum = time.checked_add_signed(Duration::nanoseconds(nanoseconds));
    sum.map(|it| Value::string(rfc3339(&it)))
        .ok_or_else(|| Failure::call("the result lies outside of all calendars"))
}

fn timecmp(call: &Call<'_>) -> CallResult {
    let a = parse_time(call.text(0)).map_err(|why| Failure::argument(0, why))?;
    let b = parse_time(call.text(1)).map_err(|why| Failure::argument(1, why))?;
    Ok(Value::int(a.cmp(&b) as i64))
}

/// Writes a time to the second.
fn rfc3339(time: &Time) -> String {
    let offset =
        if time.offset().local_minus_utc() == 0 { "Z".to_owned() } else { offset(time, ":") };
    format!(
        "{}-{:02}-{:02}T{:02}:{:02}:{:02}{offset}",
        year(time),
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

fn year(time: &Time) -> String {
    let year = time.year();
    if year < 0 { format!("-{:04}", -year) } else { format!("{year:04}") }
}

fn offset(time: &Time, separator: &str) -> String {
    let minutes = time.offset().local_minus_utc() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}{separator}{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// Reads a time strictly as RFC 3339 has it.
fn parse_time(text: &str) -> Result<Time, Error> {
    let mut reader = TimeReader { text, at: 0 };
    let year = reader.number(4, "year")?;
    reader.separator('-')?;
    let month = reader.number(2, "month")?;
    let month = if (1..=12).contains(&month) { month } else { return Err(reader.cannot("month")) };
    reader.separator('-')?;
    let day = reader.number(2, "day of month")?;
    if !text[reader.at..].starts_with('T') {
        return Err(wrong("missing required time introducer 'T'"));
    }
    reader.at += 1;
    let hour = reader.clock("hour")?;
    if hour > 23 {
        return Err(wrong("hour must be between 0 and 23 inclusive"));
    }
    reader.separator(':')?;
    let minute = reader.clock("minute")?;
    if minute > 59 {
        return Err(wrong("minute must have exactly two digits"));
    }
    reader.separator(':')?;
    let second = reader.number(2, "second")?;
    if second > 59 {
        return Err(reader.cannot("second"));
    }
    let nanosecond = reader.fraction()?;
    let offset = reader.offset()?;
    let date = NaiveDate::from_ymd_opt(year as i32, month, day)
        .ok_or_else(|| wrong("day out of range"))?;
    let time = NaiveTime::from_hms_nano_opt(hour, minute, second, nanosecond)
        .ok_or_else(|| wrong("second out of range"))?;
    offset
        .from_local_datetime(&date.and_time(time))
        .single()
        .ok_or_else(|| wrong("day out of range"))
}

fn wrong(what: &str) -> Error {
    format!("not a valid RFC3339 timestamp: {what}").into()
}

struct TimeReader<'t> {
    text: &'t str,
    at: usize,
}

impl TimeReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// What could not be read, as a message names it.
    fn cannot(&self, what: &str) -> Error {
        match self.rest() {
            "" => wrong(&format!("end of string before {what}")),
            rest => wrong(&format!("cannot use {rest:?} as {what}")),
        }
    }

    fn number(&mut self, digits: usize, what: &str) -> Result<u32, Error> {
        let number = self
            .rest()
            .get(..digits)
            .filter(|it| it.bytes().all(|it| it.is_ascii_digit()))
            .and_then(|it| it.parse().ok());
        let number = number.ok_or_else(|| self.cannot(what))?;
        self.at += digits;
        Ok(number)
    }

    fn clock(&mut self, what: &str) -> Result<u32, Error> {
        let bytes = self.rest().as_bytes();
        if let [first, second, ..] = bytes
            && first.is_ascii_digit()
            && !second.is_ascii_digit()
        {
            return Err(wrong(&format!("{what} must have exactly two digits")));
        }
        self.number(2, what)
    }

    fn separator(&mut self, wanted: char) -> Result<(), Error> {
        match self.rest().chars().next() {
            Some(it) if it == wanted => {
                self.at += 1;
                Ok(())
            }
            None => {
                Err(wrong(&format!("end of string where {:?} is expected", wanted.to_string())))
            }
            Some(_) => Err(wrong(&format!(
                "found {:?} where {:?} is expected",
                self.rest(),
                wanted.to_string()
            ))),
        }
    }

    fn fraction(&mut self) -> Result<u32, Error> {
        let Some(rest) = self.rest().strip_prefix('.') else { return Ok(0) };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.cannot("UTC offset"));
        }
        let nanoseconds = format!("{:0<9}", &rest[..digits.min(9)]).parse().unwrap_or(0);
        self.at += 1 + digits;
        Ok(nanoseconds)
    }

    fn offset(&mut self) -> Result<FixedOffset, Error> {
        let seconds = match self.rest().as_bytes() {
            b"Z" => 0,
            [sign @ (b'+' | b'-'), a, b, b':', c, d]
                if [a, b, c, d].iter().all(|it| it.is_ascii_digit()) =>
            {
                let two =
                    |tens: &u8, ones: &u8| i32::from(tens - b'0') * 10 + i32::from(ones - b'0');
                let (hours, minutes) = (two(a, b), two(c, d));
                if hours > 23 || minutes > 59 {
                    return Err(self.cannot("UTC offset"));
                }
                (hours * 60 + minutes) * if *sign == b'-' { -60 } else { 60 }
            }
            [b'Z', ..] => {
                return Err(wrong(&format!(
                    "cannot use {:?} as timestamp segment",
                    &self.rest()[1..]
                )));
            }
            _ => return Err(self.cannot("UTC offset")),
        };
        FixedOffset::east_opt(seconds).ok_or_else(|| self.cannot("UTC offset"))
    }
}

fn formatdate(call: &Call<'_>) -> CallResult {
    let time = parse_time(call.text(1)).map_err(|why| Failure::argument(1, why))?;
    let mut text = String::new();
    let mut rest = call.text(0);
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = quoted_literal(rest, &mut text)
                .ok_or_else(|| Failure::argument(0, "unterminated literal '"))?;
        } else if first.is_ascii_alphabetic() {
            let length = rest.chars().take_while(|it| *it == first).count();
            let (verb, after) = rest.split_at(length);
            text.push_str(&date_part(&time, verb).map_err(|why| Failure::argument(0, why))?);
            rest = after;
        } else {
            text.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Ok(Value::string(text))
}

/// Copies a literal in quotes, of which `''` is a quote; returns what follows, or nothing where it does not end.
fn quoted_literal<'t>(text: &'t str, into: &mut String) -> Option<&'t str> {
    if let Some(rest) = text.strip_prefix("''") {
        into.push('\'');
        return Some(rest);
    }
    let mut rest = &text[1..];
    loop {
        let end = rest.find('\'')?;
        into.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                into.push('\'');
                rest = after;
            }
            None => return Some(rest),
        }
    }
}

fn date_part(time: &Time, verb: &str) -> Result<String, Error> {
    let wrong = |what: &str| Err(format!("invalid date format verb {verb:?}: {what}").into());
    let twelve = match time.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    let half = if time.hour() < 12 { "AM" } else { "PM" };
    let utc = time.offset().local_minus_utc() == 0;
    Ok(match verb {
        "YY" => format!("{:02}", time.year().rem_euclid(100)),
        "YYYY" => year(time),
        "M" => time.month().to_string(),
        "MM" => format!("{:02}", time.month()),
        "MMM" => time.format("%b").to_string(),
        "MMMM" => time.format("%B").to_string(),
        "D" => time.day().to_string(),
        "DD" => format!("{:02}", time.day()),
        "EEE" => time.format("%a").to_string(),
        "EEEE" => time.format("%A").to_string(),
        "h" => time.hour().to_string(),
        "hh" => format!("{:02}", time.hour()),
        "H" => twelve.to_string(),
        "HH" => format!("{twelve:02}"),
        "AA" => half.to_owned(),
        "aa" => half.to_lowercase(),
        "m" => time.minute().to_string(),
        "mm" => format!("{:02}", time.minute()),
        "s" => time.second().to_string(),
        "ss" => format!("{:02}", time.second()),
        "Z" if utc => "Z".to_owned(),
        "ZZZ" if utc => "UTC".to_owned(),
        "Z" | "ZZZZZ" => offset(time, ":"),
        "ZZZ" | "ZZZZ" => offset(time, ""),
        _ => match verb.as_bytes()[0] {
            b'Y' => return wrong("year must either be \"YY\" or \"YYYY\""),
            b'M' => return wrong("month must be \"M\", \"MM\", \"MMM\", or \"MMMM\""),
            b'D' => return wrong("day of month must either be \"D\" or \"DD\""),
            b'E' => return wrong("day of week must either be \"EEE\" or \"EEEE\""),
            b'h' => return wrong("24-hour must either be \"h\" or \"hh\""),
            b'H' => return wrong("12-hour must either be \"H\" or \"HH\""),
            b'A' => return wrong("must be \"AA\""),
            b'a' => return wrong("must be \"aa\""),
            b'm' => return wrong("minute must either be \"m\" or \"mm\""),
            b's' => return wrong("second must either be \"s\" or \"ss\""),
            b'Z' => return wrong("timezone must be Z, ZZZZ, or ZZZZZ"),
            _ => return Err(format!("invalid date format verb {verb:?}").into()),
        },
    })
}

/// Reads what YAML takes for a time – a date, a time with `T`, `t` or a space – and writes it as RFC 3339.
pub(super) fn yaml_time(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || !bytes[..4].iter().all(u8::is_ascii_digit) || bytes[4] != b'-' {
        return None;
    }
    let short = |text: &str| -> Option<u32> {
        let fits = (1..=2).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
        fits.then(|| text.parse().ok()).flatten()
    };
    let (date, clock) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((&text[at..=at], &text[at + 1..]))),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, short(parts.next()?)?, short(parts.next()?)?);
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, month, day)?;
    let Some((separator, clock)) = clock else {
        return Some(rfc3339(&date.and_time(NaiveTime::MIN).and_utc().fixed_offset()));
    };
    let (time, zone) = match separator {
        " " => (clock, None),
        _ => {
            let at = clock.find(['Z', '+', '-'])?;
            (&clock[..at], Some(&clock[at..]))
        }
    };
    let (time, fraction) = time.split_once('.').map_or((time, None), |it| (it.0, Some(it.1)));
    if fraction.is_some_and(|it| it.is_empty() || !it.bytes().all(|it| it.is_ascii_digit())) {
        return None;
    }
    let mut parts = time.splitn(3, ':');
    let (hour, minute, second) =
        (short(parts.next()?)?, short(parts.next()?)?, short(parts.next()?)?);
    let time = date.and_time(NaiveTime::from_hms_opt(hour, minute, second)?);
    let offset = match zone {
        None => FixedOffset::east_opt(0)?,
        Some(zone) => TimeReader { text: zone, at: 0 }.offset().ok()?,
    };
    Some(rfc3339(&offset.from_local_datetime(&time).single()?))
}
