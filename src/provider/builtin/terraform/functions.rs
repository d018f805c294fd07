//! The functions of the builtin provider: values written as, and read from, the language.

use crate::diagnostic::FileId;
use crate::expression::evaluate_constant;
use crate::provider::builtin::attribute::Shape;
use crate::provider::builtin::table::{Called, Function};
use crate::syntax;
use crate::value::text::quoted;
use crate::value::{Kind, Str, Type, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "decode_tfvars",
        parameters: &[("content", Shape::Text)],
        returns: || Type::DYNAMIC,
        body: |_, arguments| decode(arguments[0].as_str().unwrap_or_default()),
    },
    Function {
        name: "encode_expr",
        parameters: &[("expr", Shape::Any)],
        returns: || Type::STRING,
        body: |_, arguments| {
            let mut writer = Writer::default();
            writer.value(&arguments[0]);
            Ok(Value::string(writer.finish()))
        },
    },
    Function {
        name: "encode_tfvars",
        parameters: &[("input", Shape::Any)],
        returns: || Type::STRING,
        body: |_, arguments| encode(&arguments[0]),
    },
];

/// Reads what a `.tfvars` file says.
fn decode(text: &str) -> Called {
    let refuse = |problems: &crate::diagnostic::Diagnostics| {
        let first = problems.iter().find(|it| it.is_error());
        let why = first.map(|it| format!("{}; {}", it.summary, it.detail)).unwrap_or_default();
        (None, format!("failed to decode tfvars content: {why}"))
    };
    let (body, problems) = syntax::parse(FileId::default(), text);
    if problems.has_errors() {
        return Err(refuse(&problems));
    }
    let (attributes, problems) = body.just_attributes();
    if problems.has_errors() {
        return Err(refuse(&problems));
    }
    let mut members: Vec<(Str, Value)> = Vec::new();
    for it in attributes {
        let value = evaluate_constant(&it.value).map_err(|problems| refuse(&problems))?;
        members.push((it.name.text, value));
    }
    Ok(Value::object(members))
}

/// Writes the members of an object as a `.tfvars` file.
fn encode(input: &Value) -> Called {
    if !matches!(input.ty().kind(), Kind::Object(_)) {
        return Err((None, "invalid input: must be an object".into()));
    }
    let mut writer = Writer::default();
    for (name, value) in input.entries() {
        if !syntax::is_identifier(&name) {
            let why = format!("invalid input: object key: {name} - must be a valid identifier");
            return Err((None, why));
        }
        writer.member(&name, value);
        writer.break_line();
    }
    Ok(Value::string(writer.finish()))
}

/// One line of output.
#[derive(Default)]
struct Line {
    text: String,
    /// How long the name before the sign of equality is, in characters and in bytes.
    name: Option<(usize, usize)>,
    /// Brackets opened, less those closed.
    net: i64,
}

/// Writes values in the canonical form of the language: names in a column, brackets indented.
#[derive(Default)]
struct Writer {
    lines: Vec<Line>,
    line: Line,
}

impl Writer {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Bool(it) => self.line.text.push_str(if *it { "true" } else { "false" }),
            Value::Number(it) => self.line.text.push_str(&it.to_string()),
            Value::String(it) => self.line.text.push_str(&quoted(it)),
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
                self.bracket('[');
                for (at, item) in value.children().enumerate() {
                    if at > 0 {
                        self.line.text.push_str(", ");
                    }
                    self.value(item);
                }
                self.bracket(']');
            }
            Value::Map(_) | Value::Object(_) => self.members(value),
            _ => self.line.text.push_str("null"),
        }
    }

    fn members(&mut self, value: &Value) {
        let members = value.entries();
        self.bracket('{');
        if !members.is_empty() {
            self.break_line();
            for (name, value) in members {
                match syntax::is_identifier(&name) {
                    true => self.member(&name, value),
                    false => self.member(&quoted(&name), value),
                }
                self.break_line();
            }
        }
        self.bracket('}');
    }

    fn member(&mut self, name: &str, value: &Value) {
        self.line.name = Some((name.chars().count(), name.len()));
        self.line.text = format!("{name} = ");
        self.value(value);
    }

    fn bracket(&mut self, bracket: char) {
        self.line.net += if matches!(bracket, '[' | '{') { 1 } else { -1 };
        self.line.text.push(bracket);
    }

    fn break_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn finish(mut self) -> String {
        self.lines.push(std::mem::take(&mut self.line));
        align(&mut self.lines);
        indent(&mut self.lines);
        let lines: Vec<String> = self.lines.into_iter().map(|it| it.text).collect();
        lines.join("\n")
    }
}

/// Puts the signs of neighbouring lines into one column. A line that opens a bracket stands alone.
fn align(lines: &mut [Line]) {
    let stands = |it: &Line| it.name.filter(|_| it.net <= 0);
    let mut at = 0;
    while at < lines.len() {
        let end = at + lines[at..].iter().take_while(|it| stands(it).is_some()).count();
        let widest = lines[at..end].iter().filter_map(|it| Some(it.name?.0)).max().unwrap_or(0);
        for line in &mut lines[at..end] {
            let Some((width, bytes)) = line.name else { continue };
            line.text.insert_str(bytes, &" ".repeat(widest - width));
        }
        at = end.max(at) + 1;
    }
}

/// Indents what stands between brackets; brackets opened on one line count once.
fn indent(lines: &mut [Line]) {
    let mut open: Vec<i64> = Vec::new();
    for line in lines {
        let mut closed = -line.net.min(0);
        while closed > 0
            && let Some(last) = open.last_mut()
        {
            let taken = closed.min(*last);
            *last -= taken;
            closed -= taken;
            if *last == 0 {
                open.pop();
            }
        }
        if !line.text.is_empty() {
            line.text.insert_str(0, &"  ".repeat(open.len()));
        }
        if line.net > 0 {
            open.push(line.net);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(input: &str, expected: Expect) {
        let expression = syntax::parse_expression(FileId::default(), input, 0).expect("parses");
        let value = evaluate_constant(&expression).expect("constant");
        let mut writer = Writer::default();
        writer.value(&value);
        expected.assert_eq(&writer.finish());
    }

    #[test]
    fn values_are_written_in_canonical_form() {
        check(
            r#"[1, { d = null, "e f" = true }, {}, [], { a = { b = {} } }, [[1]], "a%%{b}"]"#,
            expect![[r#"
                [1, {
                  d     = null
                  "e f" = true
                  }, {}, [], {
                  a = {
                    b = {}
                  }
                }, [[1]], "a%%{b}"]"#]],
        );
    }

    #[test]
    fn variables_are_written_one_below_the_other_and_read_back() {
        let text = "a   = 1\nbbb = \"$${x}\\u00a0\"\nc = {\n  d = [2]\n}\nee = true\n";
        let value = decode(text).expect("reads");
        assert_eq!(encode(&value).expect("writes"), Value::string(text));
    }

    #[test]
    fn what_is_no_constant_is_refused() {
        assert!(decode("a = b").is_err() && decode("a {}").is_err() && decode("a = ").is_err());
        assert!(encode(&Value::NULL).is_err());
    }
}
