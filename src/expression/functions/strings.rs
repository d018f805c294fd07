//! Functions of text.

use super::graphemes::graphemes;
use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape, fits};
use crate::value::{Type, Value};

const STR: Parameter = Parameter::string("str");
const TEXT: Returns = Returns::Always(Shape::String);
const TEST: Returns = Returns::Always(Shape::Bool);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "upper",
        description: "Turns all letters into capital letters.",
        parameters: &[STR.or_untyped()],
        variadic: None,
        returns: TEXT,
        body: |call| map_text(call, |text| text.chars().map(simple_upper).collect()),
    },
    Function {
        name: "lower",
        description: "Turns all letters into small letters.",
        parameters: &[STR.or_untyped()],
        variadic: None,
        returns: TEXT,
        body: |call| map_text(call, |text| text.chars().map(simple_lower).collect()),
    },
    Function {
        name: "title",
        description: "Turns the first letter of each word into a capital letter.",
        parameters: &[STR],
        variadic: None,
        returns: TEXT,
        body: |call| map_text(call, title),
    },
    Function {
        name: "strrev",
        description: "Returns the characters in reverse order.",
        parameters: &[STR.or_untyped()],
        variadic: None,
        returns: TEXT,
        body: |call| map_text(call, |text| graphemes(text).into_iter().rev().collect()),
    },
    Function {
        name: "chomp",
        description: "Takes line ends off the end.",
        parameters: &[STR],
        variadic: None,
        returns: TEXT,
        body: |call| map_text(call, |text| text.trim_end_matches(['\r', '\n']).to_owned()),
    },
    Function {
        name: "trimspace",
        description: "Takes white space off both ends.",
        parameters: &[STR],
        variadic: None,
        returns: TEXT,
        body: |call| map_text(call, |text| text.trim().to_owned()),
    },
    Function {
        name: "trim",
        description: "Takes every character of a set off both ends.",
        parameters: &[
            STR,
            Parameter::string("cutset").about("The characters to take off, in any order."),
        ],
        variadic: None,
        returns: TEXT,
        body: |call| {
            map_text(call, |text| text.trim_matches(|it| call.text(1).contains(it)).to_owned())
        },
    },
    Function {
        name: "trimprefix",
        description: "Takes a text off the beginning, where it stands there.",
        parameters: &[STR, Parameter::string("prefix")],
        variadic: None,
        returns: TEXT,
        body: |call| {
            map_text(call, |text| text.strip_prefix(call.text(1)).unwrap_or(text).to_owned())
        },
    },
    Function {
        name: "trimsuffix",
        description: "Takes a text off the end, where it stands there.",
        parameters: &[STR, Parameter::string("suffix")],
        variadic: None,
        returns: TEXT,
        body: |call| {
            map_text(call, |text| text.strip_suffix(call.text(1)).unwrap_or(text).to_owned())
        },
    },
    Function {
        name: "indent",
        description: "Puts spaces before every line but the first.",
        parameters: &[Parameter::number("spaces").about("How many spaces each line gets."), STR],
        variadic: None,
        returns: TEXT,
        body: indent,
    },
    Function {
        name: "substr",
        description: "Returns a part by its offset (from the end where negative) and length (-1 is all), in characters.",
        parameters: &[
            STR.or_untyped(),
            Parameter::number("offset").or_untyped(),
            Parameter::number("length").or_untyped(),
        ],
        variadic: None,
        returns: TEXT,
        body: substr,
    },
    Function {
        name: "join",
        description: "Puts the elements of lists after each other, with a separator between them.",
        parameters: &[Parameter::string("separator").about("What stands between two elements.")],
        variadic: Some(
            Parameter::new("lists", Shape::ListOfString).about("Lists of strings, one or more."),
        ),
        returns: TEXT,
        body: join,
    },
    Function {
        name: "split",
        description: "Cuts a text at every separator.",
        parameters: &[Parameter::string("separator"), STR],
        variadic: None,
        returns: Returns::Always(Shape::ListOfString),
        body: split,
    },
    Function {
        name: "startswith",
        description: "Tells whether a text begins with another.",
        parameters: &[STR.or_unknown(), Parameter::string("prefix")],
        variadic: None,
        returns: TEST,
        body: startswith,
    },
    Function {
        name: "endswith",
        description: "Tells whether a text ends with another.",
        parameters: &[STR, Parameter::string("suffix")],
        variadic: None,
        returns: TEST,
        body: |call| Ok(Value::Bool(call.text(0).ends_with(call.text(1)))),
    },
    Function {
        name: "strcontains",
        description: "Tells whether a text occurs in another.",
        parameters: &[STR, Parameter::string("substr")],
        variadic: None,
        returns: Returns::Nullable(Shape::Bool),
        body: |call| Ok(Value::Bool(call.text(0).contains(call.text(1)))),
    },
];

fn map_text(call: &Call<'_>, change: impl FnOnce(&str) -> String) -> CallResult {
    Ok(Value::string(change(call.text(0))))
}

/// The capital of a letter, where it is one letter: `ß` has none.
fn simple_upper(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => title_upper(letter),
    }
}

/// One-letter capitals of letters whose full capital form has several.
fn title_upper(letter: char) -> char {
    match letter {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => {
            char::from_u32(letter as u32 + 8).unwrap_or(letter)
        }
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => char::from_u32(letter as u32 + 9).unwrap_or(letter),
        other => other,
    }
}

fn simple_lower(letter: char) -> char {
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        (Some(first), Some(_)) => first,
        _ => letter,
    }
}

/// The form of a letter at the beginning of a title: differs from the capital for a few double letters.
fn simple_title(letter: char) -> char {
    match letter {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}' => letter,
        other => simple_upper(other),
    }
}

fn title(text: &str) -> String {
    let mut before = ' ';
    text.chars()
        .map(|letter| {
            let at_start = is_separator(before);
            before = letter;
            if at_start { simple_title(letter) } else { letter }
        })
        .collect()
}

/// Returns whether a word may begin after this character.
fn is_separator(it: char) -> bool {
    if it.is_ascii() {
        return !(it.is_ascii_alphanumeric() || it == '_');
    }
    !it.is_alphanumeric() && it.is_whitespace()
}

fn indent(call: &Call<'_>) -> CallResult {
    let spaces = call.int(0).map_err(Failure::of_call)?;
    let text = call.text(1);
    let spaces = usize::try_from(spaces)
        .map_err(|_| Failure::call("the number of spaces must not be negative"))?;
    let lines = text.matches('\n').count();
    fits(lines.saturating_mul(spaces).saturating_add(text.len()))?;
    Ok(Value::string(
        text.replace('\n', &format!("\n{}", " ".repeat(if lines == 0 { 0 } else { spaces }))),
    ))
}

fn substr(call: &Call<'_>) -> CallResult {
    if call.arguments.iter().any(|it| !it.is_known()) {
        return Ok(Value::unknown(Type::STRING));
    }
    let text = call.text(0);
    let whole = |at| call.int(at).map_err(Failure::of_call);
    let (mut offset, length) = (whole(1)?, whole(2)?);
    if offset < 0 {
        offset = offset.saturating_add(graphemes(text).len() as i64);
    } else if length == 0 {
        return Ok(Value::string(""));
    }
    // An offset before the beginning means the beginning.
    let from = usize::try_from(offset).unwrap_or(0);
    let rest = graphemes(text).into_iter().skip(from);
    Ok(Value::string(match usize::try_from(length) {
        // A length of nothing does not stop anywhere once the offset was counted from the end.
        Err(_) | Ok(0) => rest.collect::<String>(),
        Ok(length) => rest.take(length).collect(),
    }))
}

fn join(call: &Call<'_>) -> CallResult {
    let lists = &call.arguments[1..];
    if lists.is_empty() {
        return Err(Failure::call("at least one list is required"));
    }
    if lists.iter().any(|it| !it.is_wholly_known()) {
        return Ok(Value::unknown(Type::STRING));
    }
    let mut items = Vec::new();
    for (at, list) in lists.iter().enumerate() {
        for (position, item) in list.children().enumerate() {
            let Some(text) = item.as_str() else {
                let which =
                    if lists.len() > 1 { format!(" of list {}", at + 1) } else { String::new() };
                return Err(Failure::argument(
                    at + 1,
                    format!("element {position}{which} is null; cannot concatenate null values"),
                ));
            };
            items.push(text);
        }
    }
    let between = items.len().saturating_mul(call.text(0).len());
    fits(items.iter().map(|it| it.len()).fold(between, usize::saturating_add))?;
    Ok(Value::string(items.join(call.text(0))))
}

fn split(call: &Call<'_>) -> CallResult {
    let (separator, text) = (call.text(0), call.text(1));
    let items = match separator {
        "" => text.chars().map(|it| Value::string(it.to_string())).collect(),
        _ => text.split(separator).map(Value::string).collect(),
    };
    Ok(Value::list(Type::STRING, items))
}

fn startswith(call: &Call<'_>) -> CallResult {
    let prefix = call.text(1);
    match call.argument(0) {
        Value::Unknown(it) => {
            let decided = match &it.refinement.prefix {
                Some(known) if known.starts_with(prefix) => Some(true),
                Some(known) if !prefix.starts_with(&**known) => Some(false),
                _ if prefix.is_empty() => Some(true),
                _ => None,
            };
            Ok(decided.map_or_else(|| Value::unknown(Type::BOOL), Value::Bool))
        }
        text => Ok(Value::Bool(text.as_str().unwrap_or("").starts_with(prefix))),
    }
}
