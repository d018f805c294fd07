//! What a scalar means: by its tag, else by its look, with the keywords and timestamps of YAML 1.1.

use libyaml_safer::ScalarStyle;

use super::super::dates::yaml_time;
use crate::error::Error;
use crate::value::convert::convert;
use crate::value::{Number, Type, Value};

/// What a scalar means. One that stands in a block (`|`, `>`) is text, whatever it looks like.
pub(super) fn scalar(tag: &str, text: &str, style: ScalarStyle) -> Result<Value, Error> {
    let value = resolve(tag, text, style)?;
    let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    Ok(if block && tag.is_empty() { convert(&value, Type::STRING).unwrap_or(value) } else { value })
}

/// What a scalar means by its tag, else by its look.
fn resolve(tag: &str, text: &str, style: ScalarStyle) -> Result<Value, Error> {
    let short = tag.strip_prefix("tag:yaml.org,2002:").unwrap_or(tag);
    if !matches!(short, "" | "str" | "bool" | "int" | "float" | "null" | "timestamp" | "binary")
        || (short == tag && !tag.is_empty())
    {
        return Err(format!("unsupported tag {tag:?}").into());
    }
    let cannot = || Error::from(format!("cannot parse {text:?} as {tag}"));
    let string = || Ok(Value::string(text));
    let hinted =
        text.is_empty() || text.starts_with(|it: char| "+-.0123456789yYnNtTfFoO~".contains(it));
    if hinted && short != "str" && short != "binary" {
        if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
            return string();
        }
        if let Some(value) = keyword(text) {
            return Ok(value);
        }
        if short.is_empty() && matches!(text, ".nan" | ".NaN" | ".NAN") {
            return Err("floating point NaN is not supported".into());
        }
        if text.starts_with('.') {
            if let Some(number) = Number::parse(text) {
                return Ok(Value::Number(number));
            }
        } else if text.starts_with(|it: char| it.is_ascii_digit() || it == '+' || it == '-') {
            if matches!(short, "" | "timestamp")
                && let Some(time) = yaml_time(text)
            {
                return Ok(Value::string(time));
            }
            if looks_like_number(text) {
                return number(text).ok_or_else(cannot);
            }
        }
    }
    match short {
        "bool" => keyword(text).filter(|it| it.as_bool().is_some()).ok_or_else(cannot),
        "int" | "float" => number(text).ok_or_else(cannot),
        "timestamp" => yaml_time(text).map(Value::string).ok_or_else(cannot),
        "null" => Ok(Value::NULL),
        "binary" if !is_base64(text) => {
            Err(format!("cannot parse {text:?} as {tag}: not valid base64").into())
        }
        _ => string(),
    }
}

fn is_base64(text: &str) -> bool {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text.replace(['\r', '\n'], "")).is_ok()
}

fn keyword(text: &str) -> Option<Value> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        "" | "~" | "null" | "Null" | "NULL" => Value::NULL,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            Value::Number(Number::infinity(false))
        }
        "-.inf" | "-.Inf" | "-.INF" => Value::Number(Number::infinity(true)),
        _ => return None,
    })
}

/// Decimal, octal (`0o17`) and hexadecimal (`0x1f`) whole numbers, and decimal fractions.
fn looks_like_number(text: &str) -> bool {
    let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|it| it.is_digit(radix));
    if let Some(rest) = text.strip_prefix("0o") {
        return digits(rest, 8);
    }
    if let Some(rest) = text.strip_prefix("0x") {
        return digits(rest, 16);
    }
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) =
        rest.split_once(['e', 'E']).map_or((rest, None), |it| (it.0, Some(it.1)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits =
        exponent.is_none_or(|it| digits(it.strip_prefix(['+', '-']).unwrap_or(it), 10));
    let number = (digits(whole, 10) && (fraction.is_empty() || digits(fraction, 10)))
        || (whole.is_empty() && digits(fraction, 10));
    number && exponent_fits
}

fn number(text: &str) -> Option<Value> {
    let plain = text.replace('_', "");
    if let Some(number) = Number::parse(&plain) {
        return Some(Value::Number(number));
    }
    let (negative, rest) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let lower = rest.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => return None,
    };
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -value } else { value };
    Some(Value::Number(Number::from_bigint(&value.into())))
}
