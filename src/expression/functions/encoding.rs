//! JSON, Base64, CSV, URLs and other text encodings.

use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet;
use base64::engine::{
    DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD,
};

use rustc_hash::FxHashSet;

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::{Kind, Str, Type, Value, json, unknown};

const STR: Parameter = Parameter::string("str");
const TEXT: Returns = Returns::Always(Shape::String);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "jsonencode",
        description: "Writes a value as JSON.",
        parameters: &[Parameter::any("val").or_null().or_unknown().or_untyped()],
        variadic: None,
        returns: TEXT,
        body: jsonencode,
    },
    Function {
        name: "jsondecode",
        description: "Reads JSON.",
        parameters: &[STR],
        variadic: None,
        returns: Returns::NullableComputed(jsondecode_type),
        body: |call| json::from_json_implied(call.text(0)).map_err(Failure::call),
    },
    Function {
        name: "base64encode",
        description: "Writes the UTF-8 bytes of a text in Base64.",
        parameters: &[STR],
        variadic: None,
        returns: TEXT,
        body: |call| Ok(Value::string(STANDARD.encode(call.text(0)))),
    },
    Function {
        name: "base64decode",
        description: "Reads Base64 of UTF-8 text.",
        parameters: &[STR.or_marked()],
        variadic: None,
        returns: TEXT,
        body: base64decode,
    },
    Function {
        name: "base64gzip",
        description: "Compresses a text with gzip and writes it in Base64.",
        parameters: &[STR],
        variadic: None,
        returns: TEXT,
        body: |call| {
            Ok(Value::string(STANDARD.encode(super::gzip::compress(call.text(0).as_bytes()))))
        },
    },
    Function {
        name: "base64gunzip",
        description: "Reads Base64 of gzip of UTF-8 text.",
        parameters: &[STR.or_marked()],
        variadic: None,
        returns: TEXT,
        body: base64gunzip,
    },
    Function {
        name: "textencodebase64",
        description: "Writes a text in a character encoding, in Base64.",
        parameters: &[Parameter::string("string"), Parameter::string("encoding")],
        variadic: None,
        returns: TEXT,
        body: |call| {
            let bytes = super::charsets::encode(call.text(0), call.text(1))?;
            Ok(Value::string(STANDARD.encode(bytes)))
        },
    },
    Function {
        name: "textdecodebase64",
        description: "Reads Base64 of text in a character encoding.",
        parameters: &[Parameter::string("source"), Parameter::string("encoding")],
        variadic: None,
        returns: TEXT,
        body: |call| {
            // An encoding that nobody knows is said first.
            super::charsets::decode(&[], call.text(1))?;
            let bytes = decode_base64(call.text(0)).map_err(|at| {
                let what = if at >= call.text(0).len() {
                    "unexpected end of input".to_owned()
                } else {
                    at.to_string()
                };
                Failure::argument(
                    0,
                    format!("the given value is has an invalid base64 symbol at offset {what}"),
                )
            })?;
            super::charsets::decode(&bytes, call.text(1)).map(Value::string)
        },
    },
    Function {
        name: "urlencode",
        description: "Escapes a text for use in the query of a URL.",
        parameters: &[STR],
        variadic: None,
        returns: TEXT,
        body: |call| Ok(Value::string(urlencode(call.text(0)))),
    },
    Function {
        name: "urldecode",
        description: "Reads text that is escaped for the query of a URL.",
        parameters: &[STR.or_secret()],
        variadic: None,
        returns: TEXT,
        body: urldecode,
    },
    Function {
        name: "csvdecode",
        description: "Reads CSV with a header line to a list of objects.",
        parameters: &[STR],
        variadic: None,
        returns: Returns::Computed(csv_type),
        body: csvdecode,
    },
];

fn jsonencode(call: &Call<'_>) -> CallResult {
    let value = call.argument(0);
    if value.is_wholly_known() {
        return json::to_json(value)
            .map(Value::string)
            .map_err(|error| Failure::call(error.message));
    }
    if !unknown::is_definitely_not_null(value) {
        return Ok(Value::unknown(Type::STRING));
    }
    let first = match value.ty().kind() {
        Kind::String => 0,
        Kind::Object(_) | Kind::Map(_) => 1,
        Kind::Tuple(_) | Kind::List(_) | Kind::Set(_) => 2,
        _ => return Ok(Value::unknown(Type::STRING)),
    };
    Ok(DOCUMENTS[first].clone())
}

/// JSON that is not known but for its first character: of a string, an object and a list.
static DOCUMENTS: LazyLock<[Value; 3]> =
    LazyLock::new(|| ["\"", "{", "["].map(unknown::with_prefix));

fn jsondecode_type(arguments: &[Value]) -> Result<Type, Failure> {
    if arguments[0].is_known() {
        return Ok(Type::DYNAMIC);
    }
    match unknown::known_prefix(&arguments[0]).trim_start().chars().next() {
        Some('"') => Ok(Type::STRING),
        Some('t' | 'f') => Ok(Type::BOOL),
        Some('-' | '.' | '0'..='9') => Ok(Type::NUMBER),
        None | Some('{' | '[' | 'n') => Ok(Type::DYNAMIC),
        Some(other) => Err(Failure::argument(
            0,
            format!("a JSON document cannot begin with the character {other:?}"),
        )),
    }
}

/// Line ends are passed over; the error is the first byte that does not belong.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    const STRICT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
    );
    let plain: String = text.chars().filter(|it| !matches!(it, '\r' | '\n')).collect();
    STRICT.decode(&plain).map_err(|_| wrong_byte(text))
}

fn wrong_byte(text: &str) -> usize {
    let ok = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'\r' | b'\n');
    text.bytes().position(|it| !ok(it)).unwrap_or(text.len())
}

fn base64decode(call: &Call<'_>) -> CallResult {
    let argument = call.argument(0);
    let shown = || super::maps::redacted(&format!("{:?}", call.text(0)), &argument.marks());
    let bytes = decode_base64(call.text(0)).map_err(|_| {
        Failure::call(format!("failed to decode base64 data {}", shown())).discreet()
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::string(text).mark(&argument.marks())),
        Err(_) => {
            Err(Failure::call("the result of decoding the provided string is not valid UTF-8"))
        }
    }
}

fn base64gunzip(call: &Call<'_>) -> CallResult {
    let argument = call.argument(0);
    let shown = || super::maps::redacted(&format!("{:?}", call.text(0)), &argument.marks());
    let bytes = decode_base64(call.text(0)).map_err(|_| {
        Failure::call(format!("failed to decode base64 data {}", shown())).discreet()
    })?;
    let bytes = super::gzip::decompress(&bytes)
        .map_err(|why| Failure::call(format!("failed to gunzip bytes: {why}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::string(text).mark(&argument.marks())),
        Err(_) => {
            Err(Failure::call("the result of decoding the provided string is not valid UTF-8"))
        }
    }
}

fn urlencode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte))
            }
            b' ' => encoded.push('+'),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

fn urldecode(call: &Call<'_>) -> CallResult {
    let argument = call.argument(0);
    let text = call.text(0);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => match after
                .get(..2)
                .and_then(|it| std::str::from_utf8(it).ok())
                .and_then(|it| u8::from_str_radix(it, 16).ok())
            {
                Some(byte) if after[0] != b'+' => {
                    bytes.push(byte);
                    rest = &after[2..];
                }
                _ => {
                    let shown = super::maps::redacted(text, &argument.marks());
                    return Err(Failure::call(format!(
                        "failed to decode URL '{shown}': invalid escape sequence"
                    ))
                    .discreet());
                }
            },
            other => bytes.push(*other),
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::string(text).mark(&argument.marks())),
        Err(_) => {
            Err(Failure::call("the result of decoding the provided string is not valid UTF-8"))
        }
    }
}

fn csv_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].as_str() {
        None => Ok(Type::DYNAMIC),
        Some(text) => read_csv(text).map(|it| it.0),
    }
}

/// Returns the type of the list, and its rows in the order of the header.
#[expect(clippy::type_complexity, reason = "used twice, side by side")]
fn read_csv(text: &str) -> Result<(Type, Vec<Str>, Vec<Vec<String>>), Failure> {
    let mut rows = super::csv::records(text).map_err(Failure::call)?.into_iter();
    let Some(header) = rows.next() else { return Err(Failure::call("missing header line")) };
    let mut names: Vec<Str> = Vec::with_capacity(header.fields.len());
    let mut seen = FxHashSet::default();
    for name in &header.fields {
        let name = crate::value::nfc(name);
        if !seen.insert(name.clone()) {
            return Err(Failure::call(format!("duplicate column name {name:?}")));
        }
        names.push(name);
    }
    let mut records = Vec::new();
    for row in rows {
        if row.fields.len() != names.len() {
            return Err(Failure::call(format!(
                "CSV parse error on line {}: wrong number of fields",
                row.line
            )));
        }
        records.push(row.fields);
    }
    let element = Type::object(names.iter().map(|it| (it.clone(), Type::STRING)).collect());
    Ok((Type::list(element), names, records))
}

fn csvdecode(call: &Call<'_>) -> CallResult {
    let (ty, names, rows) = read_csv(call.text(0))?;
    let object = |row: Vec<String>| {
        Value::object(names.iter().cloned().zip(row.into_iter().map(Value::string)))
    };
    Ok(Value::list(ty.element().unwrap_or(Type::DYNAMIC), rows.into_iter().map(object).collect()))
}
