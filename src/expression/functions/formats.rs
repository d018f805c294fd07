//! `format` and `formatlist`: text by a pattern.

use super::graphemes::graphemes;
use super::sets::is_open;
use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape, fits};
use crate::error::Error;
use crate::value::convert::convert;
use crate::value::number::Notation;
use crate::value::{Number, Type, Value, json, unknown};

const ARGS: Option<Parameter> = Some(Parameter::any("args").or_null().or_unknown().or_untyped());

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "format",
        description: "Puts values into a text where the pattern has verbs such as %s and %d.",
        parameters: &[Parameter::string("format")],
        variadic: ARGS,
        returns: Returns::Always(Shape::String),
        body: format_one,
    },
    Function {
        name: "formatlist",
        description: "Like format, once for each element of the lists among the arguments.",
        parameters: &[Parameter::string("format")],
        variadic: ARGS,
        returns: Returns::Always(Shape::ListOfString),
        body: format_list,
    },
];

fn format_one(call: &Call<'_>) -> CallResult {
    let pattern = call.text(0);
    let arguments = &call.arguments[1..];
    if arguments.iter().any(|it| !it.is_wholly_known()) {
        return Ok(match pattern.find('%') {
            Some(at @ 1..) => unknown::with_prefix(&pattern[..at]),
            _ => Value::unknown(Type::STRING),
        });
    }
    render(pattern, arguments).map(Value::string)
}

fn format_list(call: &Call<'_>) -> CallResult {
    let pattern = call.text(0);
    let arguments = &call.arguments[1..];
    if arguments.is_empty() {
        return Ok(Value::list(Type::STRING, vec![Value::string(render(pattern, arguments)?)]));
    }
    let mut length: Option<(usize, usize)> = None;
    let mut undecided = false;
    for (at, argument) in arguments.iter().enumerate() {
        if !is_iterated(argument) {
            undecided |= argument.ty() == Type::DYNAMIC && !argument.is_known();
            continue;
        }
        let own = match argument.ty().kind() {
            crate::value::Kind::Tuple(types) => types.len(),
            _ if !argument.is_known() || is_open(argument) => {
                undecided = true;
                continue;
            }
            _ => argument.children().count(),
        };
        undecided |= !argument.is_known();
        match length {
            Some((first, chooser)) if first != own => {
                return Err(Failure::argument(
                    at + 1,
                    format!(
                        "argument {} has length {own}, which is inconsistent with argument {} of length {first}",
                        at + 1,
                        chooser + 1
                    ),
                ));
            }
            Some(_) => {}
            None => length = Some((own, at)),
        }
    }
    if undecided {
        return Ok(Value::unknown(call.ty));
    }
    let columns: Vec<Option<Vec<Value>>> = arguments
        .iter()
        .map(|it| is_iterated(it).then(|| it.children().cloned().collect()))
        .collect();
    let (mut rows, mut written) = (Vec::new(), 0_usize);
    for row in 0..length.map_or(1, |it| it.0) {
        let pick = |(column, single): (&Option<Vec<Value>>, &Value)| match column {
            Some(items) => items.get(row).cloned().unwrap_or(Value::NULL),
            None => single.clone(),
        };
        let given: Vec<Value> = columns.iter().zip(arguments).map(pick).collect();
        if given.iter().any(|it| !it.is_wholly_known()) {
            rows.push(Value::unknown_not_null(Type::STRING));
            continue;
        }
        let text = render(pattern, &given).map_err(|it| {
            Failure::call(format!("error on format iteration {row}: {}", it.text()))
        })?;
        written = written.saturating_add(text.len());
        fits(written)?;
        rows.push(Value::string(text));
    }
    Ok(Value::list(Type::STRING, rows))
}

fn is_iterated(value: &Value) -> bool {
    value.ty().is_sequence() && !value.is_null()
}

/// One verb with its flags.
#[derive(Debug, Default)]
struct Verb<'p> {
    /// As written.
    raw: &'p str,
    /// Its first byte in the pattern.
    offset: usize,
    /// Which argument, from 1.
    argument: usize,
    letter: char,
    zero: bool,
    sharp: bool,
    plus: bool,
    minus: bool,
    space: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// No width or precision above this makes sense; it would only fill the memory.
const WIDEST: usize = 1 << 20;

/// Fills a pattern.
pub(super) fn render(pattern: &str, arguments: &[Value]) -> Result<String, Failure> {
    let mut text = String::new();
    let (mut at, mut next, mut highest) = (0, 1, 0);
    while let Some(found) = pattern[at..].find('%') {
        text.push_str(&pattern[at..at + found]);
        at += found;
        if pattern[at + 1..].starts_with('%') {
            text.push('%');
            at += 2;
            continue;
        }
        let verb = read_verb(pattern, at, next)?;
        at += verb.raw.len();
        highest = highest.max(verb.argument);
        next = verb.argument + 1;
        let value = verb.argument.checked_sub(1).and_then(|it| arguments.get(it));
        write_verb(&mut text, &verb, value, arguments.len()).map_err(Failure::call)?;
        fits(text.len())?;
    }
    text.push_str(&pattern[at..]);
    match highest {
        _ if highest >= arguments.len() => Ok(text),
        0 => Err(Failure::argument(1, "too many arguments; no verbs in format string")),
        used => Err(Failure::argument(
            used + 1,
            format!("too many arguments; only {used} used by format string"),
        )),
    }
}

fn read_verb(pattern: &str, offset: usize, next: usize) -> Result<Verb<'_>, Failure> {
    let mut verb = Verb { offset, argument: next, ..Verb::default() };
    let bytes = pattern.as_bytes();
    let mut at = offset + 1;
    let number = |at: &mut usize| {
        let mut number = 0_usize;
        while let Some(digit) = bytes.get(*at).filter(|it| it.is_ascii_digit()) {
            number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            *at += 1;
        }
        number
    };
    while let Some(flag) = bytes.get(at) {
        match flag {
            b'0' => verb.zero = true,
            b'#' => verb.sharp = true,
            b'-' => verb.minus = true,
            b'+' => verb.plus = true,
            b' ' => verb.space = true,
            _ => break,
        }
        at += 1;
    }
    if matches!(bytes.get(at), Some(b'1'..=b'9')) {
        verb.width = Some(number(&mut at));
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        verb.precision = Some(number(&mut at));
    }
    if bytes.get(at) == Some(&b'[') {
        at += 1;
        if !matches!(bytes.get(at), Some(b'1'..=b'9')) {
            return Err(unexpected(pattern, at));
        }
        verb.argument = number(&mut at);
        if bytes.get(at) != Some(&b']') {
            return Err(unexpected(pattern, at));
        }
        at += 1;
    }
    match bytes.get(at) {
        Some(letter) if letter.is_ascii_alphabetic() => verb.letter = char::from(*letter),
        _ => return Err(unexpected(pattern, at)),
    }
    verb.raw = &pattern[offset..=at];
    if verb.width.is_some_and(|it| it > WIDEST) || verb.precision.is_some_and(|it| it > WIDEST) {
        return Err(Failure::call(format!(
            "the width or precision of {:?} at {offset} is too large",
            verb.raw
        )));
    }
    Ok(verb)
}

fn unexpected(pattern: &str, at: usize) -> Failure {
    match pattern.get(at..).and_then(|it| it.chars().next()) {
        Some(letter) => {
            Failure::call(format!("unrecognized format character {letter:?} at offset {at}"))
        }
        None => Failure::call(format!("invalid format string starting at offset {at}")),
    }
}

fn write_verb(
    text: &mut String,
    verb: &Verb<'_>,
    value: Option<&Value>,
    count: usize,
) -> Result<(), Error> {
    let (raw, offset) = (verb.raw, verb.offset);
    let Some(value) = value else {
        return Err(format!(
            "not enough arguments for {raw:?} at {offset}: need index {} but have {count} total",
            verb.argument
        )
        .into());
    };
    if verb.letter != 'v' && value.is_null() {
        return Err(format!(
            "unsupported value for {raw:?} at {offset}: null value cannot be formatted"
        )
        .into());
    }
    let converted = |ty| {
        convert(value, ty)
            .map_err(|it| format!("unsupported value for {raw:?} at {offset}: {}", it.message))
    };
    match verb.letter {
        'v' => text.push_str(&padded(verb, &as_is(verb, value)?)),
        't' => text.push_str(if converted(Type::BOOL)?.as_bool() == Some(true) {
            "true"
        } else {
            "false"
        }),
        'b' | 'd' | 'o' | 'x' | 'X' => {
            let number = converted(Type::NUMBER)?;
            let whole = number.as_number().and_then(Number::as_bigint);
            let Some(whole) = whole else {
                return Err(format!(
                    "unsupported value for {raw:?} at {offset}: an integer is required"
                )
                .into());
            };
            text.push_str(&integer(verb, &whole));
        }
        'e' | 'E' | 'f' | 'g' | 'G' => {
            let number = converted(Type::NUMBER)?;
            if let Some(number) = number.as_number() {
                text.push_str(&float(verb, number));
            }
        }
        's' | 'q' => {
            let value = converted(Type::STRING)?;
            let own = value.as_str().unwrap_or("");
            let cut: String = match verb.precision {
                Some(most @ 1..) => graphemes(own).into_iter().take(most).collect(),
                _ => own.to_owned(),
            };
            let shown =
                if verb.letter == 'q' { json::quote(&cut, json::Escape::Html) } else { cut };
            text.push_str(&padded(verb, &shown));
        }
        other => {
            return Err(
                format!("unsupported format verb {other:?} in {raw:?} at offset {offset}").into()
            );
        }
    }
    Ok(())
}

/// `%v`: text and numbers as they are, anything else as JSON; `%#v`: always JSON.
fn as_is(verb: &Verb<'_>, value: &Value) -> Result<String, Error> {
    match value {
        Value::String(it) if !verb.sharp => Ok(it.to_string()),
        Value::Number(it) if !verb.sharp => Ok(it.text(Notation::General, None)),
        _ => json::to_json(value).map_err(|error| {
            format!("unsupported value for {:?} at {}: {}", verb.raw, verb.offset, error.message)
                .into()
        }),
    }
}

fn padded(verb: &Verb<'_>, text: &str) -> String {
    let missing = verb.width.unwrap_or(0).saturating_sub(graphemes(text).len());
    let pads = if verb.zero { "0" } else { " " }.repeat(missing);
    if verb.minus { format!("{text}{pads}") } else { format!("{pads}{text}") }
}

fn sign(verb: &Verb<'_>, negative: bool) -> &'static str {
    match negative {
        true => "-",
        false if verb.plus => "+",
        false if verb.space => " ",
        false => "",
    }
}

/// Pads a number as C does: spaces before it, or zeros after its sign.
fn padded_number(
    verb: &Verb<'_>,
    sign: &str,
    prefix: &str,
    digits: &str,
    zeros_allowed: bool,
) -> String {
    let missing =
        verb.width.unwrap_or(0).saturating_sub(sign.len() + prefix.len() + digits.chars().count());
    if verb.minus {
        format!("{sign}{prefix}{digits}{}", " ".repeat(missing))
    } else if verb.zero && zeros_allowed {
        format!("{sign}{prefix}{}{digits}", "0".repeat(missing))
    } else {
        format!("{}{sign}{prefix}{digits}", " ".repeat(missing))
    }
}

fn integer(verb: &Verb<'_>, number: &num_bigint::BigInt) -> String {
    let negative = number.sign() == num_bigint::Sign::Minus;
    let magnitude = number.magnitude();
    let (radix, prefix) = match verb.letter {
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        _ => (10, ""),
    };
    let mut digits = magnitude.to_str_radix(radix);
    if verb.letter == 'X' {
        digits = digits.to_ascii_uppercase();
    }
    if let Some(least) = verb.precision {
        digits = if least == 0 && digits == "0" {
            String::new()
        } else {
            format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len())))
        };
        if digits.is_empty() {
            return String::new();
        }
    }
    let prefix = if verb.sharp { prefix } else { "" };
    padded_number(verb, sign(verb, negative), prefix, &digits, verb.precision.is_none())
}

fn float(verb: &Verb<'_>, number: &Number) -> String {
    let (notation, default) = match verb.letter {
        'e' | 'E' => (Notation::Scientific, Some(6)),
        'f' => (Notation::Fixed, Some(6)),
        _ => (Notation::General, None),
    };
    let text = number.text(notation, verb.precision.or(default));
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let digits = if verb.letter.is_ascii_uppercase() {
        digits.to_ascii_uppercase()
    } else {
        digits.to_owned()
    };
    if number.is_infinite() {
        let sign = if negative {
            "-"
        } else if verb.space && !verb.plus {
            " "
        } else {
            "+"
        };
        return padded_number(verb, sign, "", "Inf", false);
    }
    padded_number(verb, sign(verb, negative), "", &digits, true)
}
