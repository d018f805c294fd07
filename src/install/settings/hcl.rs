//! The syntax of the CLI configuration: an older form of the language, without expressions, or JSON.
//!
//! Names may be quoted (`"hashicorp/null" = "/dir"`), several names make nested blocks, and a comma may stand between items.

use crate::error::Error;

/// The inside of a file or of braces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(pub Vec<Item>);

/// One setting or block.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its names: one for a setting, more for a block with labels.
    pub keys: Vec<String>,
    /// Whether a `=` stands before the value.
    pub is_assigned: bool,
    /// Its value.
    pub value: Setting,
    /// Line and column of the first name, from 1.
    pub at: (usize, usize),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A string.
    Text(String),
    /// A number, as written.
    Number(String),
    /// `true` or `false`.
    Bool(bool),
    /// A list.
    List(Vec<Setting>),
    /// Settings in braces.
    Object(Object),
    /// `null`, in JSON.
    Null,
}

impl Setting {
    /// Returns the value as JSON has it. A number that is none there stays a text.
    pub fn json(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Setting::Text(it) => Value::String(it.clone()),
            Setting::Number(it) => {
                it.parse().map_or_else(|_| Value::String(it.clone()), Value::Number)
            }
            Setting::Bool(it) => Value::Bool(*it),
            Setting::List(items) => items.iter().map(Setting::json).collect(),
            Setting::Object(object) => {
                let members = object.0.iter().map(|it| (it.keys.join("."), it.value.json()));
                Value::Object(members.collect())
            }
            Setting::Null => Value::Null,
        }
    }
}

impl Item {
    /// Returns `line:column`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.at.0, self.at.1)
    }
}

/// Reads a file; JSON where it begins with a brace. The error says what is wrong and where.
pub fn parse(text: &str) -> Result<Object, Error> {
    if text.trim_start().starts_with('{') {
        let value: serde_json::Value = serde_json::from_str(text)?;
        return match of_json(value) {
            Setting::Object(object) => Ok(object),
            _ => Err("the file must hold one JSON object".into()),
        };
    }
    let mut reader = Reader { text, at: 0, depth: 0 };
    let object = reader.object(true)?;
    Ok(object)
}

fn of_json(value: serde_json::Value) -> Setting {
    use serde_json::Value;
    match value {
        Value::Null => Setting::Null,
        Value::Bool(it) => Setting::Bool(it),
        Value::Number(it) => Setting::Number(it.to_string()),
        Value::String(it) => Setting::Text(it),
        Value::Array(items) => Setting::List(items.into_iter().map(of_json).collect()),
        Value::Object(members) => {
            let items = members.into_iter().flat_map(|(name, value)| json_items(&name, value));
            Setting::Object(Object(items.collect()))
        }
    }
}

/// A list of objects under one name is as many blocks.
fn json_items(name: &str, value: serde_json::Value) -> Vec<Item> {
    let item = |value| Item {
        keys: vec![name.to_owned()],
        is_assigned: false,
        value: of_json(value),
        at: (1, 1),
    };
    match value {
        serde_json::Value::Array(values)
            if !values.is_empty() && values.iter().all(serde_json::Value::is_object) =>
        {
            values.into_iter().map(item).collect()
        }
        value => vec![item(value)],
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// As deep as settings may be nested.
const DEEPEST: usize = 100;

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.at += wanted.len_utf8();
        }
        is_there
    }

    fn position(&self) -> (usize, usize) {
        let before = &self.text[..self.at];
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    fn fail<T>(&self, why: &str) -> Result<T, Error> {
        let (line, column) = self.position();
        Err(format!("At {line}:{column}: {why}").into())
    }

    /// Passes over blanks, line ends and comments.
    fn skip(&mut self) -> Result<(), Error> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with('#') || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return self.fail("a comment does not end"),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn object(&mut self, is_file: bool) -> Result<Object, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("settings are nested too deeply");
        }
        let mut items = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                None if is_file => break,
                None => return self.fail("a block does not end; expected \"}\""),
                Some('}') if !is_file => {
                    self.at += 1;
                    break;
                }
                Some(',') if !is_file && !items.is_empty() => self.at += 1,
                Some(_) => items.push(self.item()?),
            }
        }
        self.depth -= 1;
        Ok(Object(items))
    }

    fn item(&mut self) -> Result<Item, Error> {
        let at = self.position();
        let mut keys = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some('=') if keys.len() == 1 => {
                    self.at += 1;
                    self.skip()?;
                    let value = self.value()?;
                    return Ok(Item { keys, is_assigned: true, value, at });
                }
                Some('{') if !keys.is_empty() => {
                    self.at += 1;
                    let value = Setting::Object(self.object(false)?);
                    return Ok(Item { keys, is_assigned: false, value, at });
                }
                Some('"') => keys.push(self.string()?),
                Some(it) if it.is_alphabetic() || it == '_' => keys.push(self.word()),
                _ => return self.fail("expected a name, \"=\" or \"{\""),
            }
        }
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let is_part = |it: char| it.is_alphanumeric() || "_-.".contains(it);
        let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        word
    }

    fn value(&mut self) -> Result<Setting, Error> {
        match self.peek() {
            Some('"') => Ok(Setting::Text(self.string()?)),
            Some('{') => {
                self.at += 1;
                Ok(Setting::Object(self.object(false)?))
            }
            Some('[') => self.list(),
            Some('<') => self.heredoc(),
            Some(it) if it.is_ascii_digit() || it == '-' => {
                let sign = if self.eat('-') { "-" } else { "" };
                Ok(Setting::Number(format!("{sign}{}", self.word())))
            }
            Some(_) => match self.word().as_str() {
                "true" => Ok(Setting::Bool(true)),
                "false" => Ok(Setting::Bool(false)),
                _ => self.fail("expected a string, a number, true, false, a list or a block"),
            },
            None => self.fail("expected a value"),
        }
    }

    fn list(&mut self) -> Result<Setting, Error> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("settings are nested too deeply");
        }
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.eat(']') {
                self.depth -= 1;
                return Ok(Setting::List(items));
            }
            items.push(self.value()?);
            self.skip()?;
            if !self.eat(',') && self.peek() != Some(']') {
                return self.fail("expected \",\" or \"]\" after an element of a list");
            }
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(it) = self.peek() else { return self.fail("a string does not end") };
            self.at += it.len_utf8();
            match it {
                '"' => return Ok(text),
                '\n' => return self.fail("a string does not end on its line"),
                '\\' => text.push(self.escape()?),
                it => text.push(it),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let Some(it) = self.peek() else { return self.fail("a string does not end") };
        self.at += it.len_utf8();
        let digits = match it {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            '"' | '\\' => return Ok(it),
            'u' => 4,
            'U' => 8,
            _ => return self.fail("unknown escape sequence in a string"),
        };
        let code = self.rest().get(..digits).and_then(|it| u32::from_str_radix(it, 16).ok());
        match code.and_then(char::from_u32) {
            Some(it) => {
                self.at += digits;
                Ok(it)
            }
            None => self.fail("unknown escape sequence in a string"),
        }
    }

    fn heredoc(&mut self) -> Result<Setting, Error> {
        let Some(head) = self.rest().strip_prefix("<<") else {
            return self.fail("expected a value");
        };
        let Some((name, rest)) = head.split_once('\n') else {
            return self.fail("a heredoc does not end");
        };
        let name = name.trim().trim_start_matches('-').to_owned();
        let start = self.text.len() - rest.len();
        let mut at = start;
        for line in rest.split_inclusive('\n') {
            if line.trim() == name {
                let text = self.text[start..at].to_owned();
                self.at = at + line.trim_end().len();
                return Ok(Setting::Text(text));
            }
            at += line.len();
        }
        self.fail("a heredoc does not end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_quoted_and_labels_follow_the_kind() {
        let object = parse("# first\nhost \"a.b\" {\n  services = { \"x.v1\" = \"/y/\", n = 3 }\n}\nl = [\"a\", true,] /* end */").expect("valid");
        assert_eq!(object.0[0].keys, ["host", "a.b"]);
        assert_eq!(object.0[0].place(), "2:1");
        let Setting::Object(host) = &object.0[0].value else { panic!("a block") };
        let Setting::Object(services) = &host.0[0].value else { panic!("settings") };
        assert_eq!(services.0[0].keys, ["x.v1"]);
        assert_eq!(services.0[1].value, Setting::Number("3".into()));
        assert_eq!(
            object.0[1].value,
            Setting::List(vec![Setting::Text("a".into()), Setting::Bool(true)])
        );
    }

    #[test]
    fn json_gives_the_same() {
        let object =
            parse(r#"{"provider_installation": [{"direct": {}}], "x": "y"}"#).expect("valid");
        assert_eq!(object.0[0].keys, ["provider_installation"]);
        assert!(matches!(object.0[0].value, Setting::Object(_)));
        assert_eq!(object.0[1].value, Setting::Text("y".into()));
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        for (text, place) in [
            ("a", "1:2"),
            ("a = ", "1:5"),
            ("\nb {", "2:4"),
            ("a = \"x", "1:7"),
            ("= 1", "1:1"),
            ("a = [1 2]", "1:8"),
        ] {
            let why = parse(text).expect_err(text);
            assert!(why.words().starts_with(&format!("At {place}:")), "{text}: {why}");
        }
        assert!(parse(&"a {".repeat(5000)).is_err());
        assert!(parse(&format!("a = {}", "[".repeat(5000))).is_err());
    }
}
