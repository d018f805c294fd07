//! Durations as Go writes them: `1h30m`, `1.5s`, `-300ms`.

use crate::error::Error;

/// Returns a duration in nanoseconds.
///
/// # Errors
///
/// What is wrong with the text, in the words of Go's `time` package: no duration, no unit, an unknown one, or more than
/// 64 bits hold.
pub fn parse_duration(text: &str) -> Result<i64, Error> {
    let invalid = || Error::from(format!("time: invalid duration {}", quoted(text)));
    let (is_negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let (number, unit) = (number(&mut rest).ok_or_else(invalid)?, unit(&mut rest));
        let unit = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "" => return Err(format!("time: missing unit in duration {}", quoted(text)).into()),
            other => {
                return Err(format!(
                    "time: unknown unit {} in duration {}",
                    quoted(other),
                    quoted(text)
                )
                .into());
            }
        };
        let part = nanoseconds(number, unit).and_then(|it| sum.checked_add(it));
        sum = part.filter(|it| *it <= 1 << 63).ok_or_else(invalid)?;
    }
    if is_negative {
        Ok((sum as i64).wrapping_neg())
    } else {
        i64::try_from(sum).map_err(|_| invalid())
    }
}

/// Takes the digits before and behind the point.
fn number<'a>(rest: &mut &'a str) -> Option<(&'a str, &'a str)> {
    let whole = take_while(rest, |it| it.is_ascii_digit());
    let fraction = match rest.strip_prefix('.') {
        Some(after) => {
            *rest = after;
            take_while(rest, |it| it.is_ascii_digit())
        }
        None => "",
    };
    (!whole.is_empty() || !fraction.is_empty()).then_some((whole, fraction))
}

fn unit<'a>(rest: &mut &'a str) -> &'a str {
    take_while(rest, |it| it != '.' && !it.is_ascii_digit())
}

fn nanoseconds((whole, fraction): (&str, &str), unit: u64) -> Option<u64> {
    let whole: u64 =
        if whole.is_empty() { 0 } else { whole.parse().ok().filter(|it| *it <= 1 << 63)? };
    let product = whole.checked_mul(unit).filter(|it| *it <= 1 << 63)?;
    // No unit has more than 13 digits, so further digits of the fraction count for nothing.
    let digits = &fraction[..fraction.len().min(18)];
    let scale = 10_f64.powi(digits.len() as i32);
    let beyond = if digits.is_empty() {
        0
    } else {
        (digits.parse::<u64>().ok()? as f64 * (unit as f64 / scale)) as u64
    };
    product.checked_add(beyond)
}

fn take_while<'a>(rest: &mut &'a str, is_part: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
    let (taken, after) = rest.split_at(end);
    *rest = after;
    taken
}

/// Shows text as messages about durations do: every byte that is no plain letter as a number.
fn quoted(text: &str) -> String {
    let shown = |it: u8| match it {
        b'"' | b'\\' => format!("\\{}", it as char),
        b' '..0x80 => (it as char).to_string(),
        _ => format!("\\x{it:02x}"),
    };
    format!("\"{}\"", text.bytes().map(shown).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{Error, parse_duration};

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, wanted) in [
            ("0", Ok(0)),
            ("1h30m", Ok(5_400_000_000_000)),
            ("-1.5s", Ok(-1_500_000_000)),
            (".5ms", Ok(500_000)),
            ("2µs3ns", Ok(2_003)),
            ("-9223372036854775808ns", Ok(i64::MIN)),
            ("9223372036854775808ns", Err("time: invalid duration \"9223372036854775808ns\"")),
            ("", Err("time: invalid duration \"\"")),
            ("s", Err("time: invalid duration \"s\"")),
            ("1", Err("time: missing unit in duration \"1\"")),
            ("1d", Err("time: unknown unit \"d\" in duration \"1d\"")),
            ("99999999999h", Err("time: invalid duration \"99999999999h\"")),
        ] {
            assert_eq!(
                parse_duration(text).as_ref().map_err(Error::words),
                wanted.as_ref().map_err(|it| *it),
                "{text}"
            );
        }
    }
}
