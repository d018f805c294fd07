//! A scope of a few values, and one way to ask for the value of a text.

use std::path::PathBuf;

use parking_lot::Mutex;

use super::super::*;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::syntax::{self, Expression};
use crate::value::{Marks, Type, Value};
use crate::world::World;

/// A scope with variables, resources by address, and what the evaluator told it.
pub struct Known {
    /// `var.NAME`
    pub variables: Vec<(&'static str, Value)>,
    /// `TYPE.NAME`, or `TYPE.NAME[key]`.
    pub resources: Vec<(&'static str, Value)>,
    /// What was reached and what was left out.
    pub told: Mutex<Vec<String>>,
    /// Whether impure functions wait.
    pub planning: bool,
    world: World,
}

impl Known {
    /// A scope in which relative paths start from `root`.
    pub fn at(root: impl Into<PathBuf>) -> Known {
        let root = root.into();
        let world = World {
            cwd: root.clone(),
            root,
            environment: [("HOME".to_owned(), "/home/someone".to_owned())].into(),
            fixed_time: None,
            given: Default::default(),
            files: Default::default(),
            kept: Default::default(),
            stop: Default::default(),
            is_trusted: true,
        };
        Known {
            variables: Vec::new(),
            resources: Vec::new(),
            told: Mutex::default(),
            planning: false,
            world,
        }
    }

    /// The variables that most tests use.
    pub fn usual() -> Known {
        let mut scope = Known::at(".");
        scope.variables = vec![
            ("text", Value::string("abc")),
            ("number", Value::int(5)),
            ("list", Value::list(Type::STRING, vec![Value::string("a"), Value::string("b")])),
            (
                "object",
                Value::object([("id".into(), Value::string("x")), ("n".into(), Value::int(1))]),
            ),
            ("secret", Value::string("hush").mark(&Marks::sensitive())),
            ("passing", Value::string("soon gone").mark(&Marks::ephemeral())),
            ("later", Value::unknown(Type::STRING)),
            ("later_bool", Value::unknown(Type::BOOL)),
            ("later_number", Value::unknown(Type::NUMBER)),
            ("later_list", Value::unknown(Type::list(Type::STRING))),
            ("later_any", Value::unknown(Type::DYNAMIC)),
            ("one", Value::int(1).mark(&Marks::read(1))),
            ("two", Value::int(2).mark(&Marks::read(2))),
            ("three", Value::bool_read(3)),
        ];
        scope
    }

    fn tell(&self, what: String) {
        self.told.lock().push(what);
    }
}

impl Value {
    /// `true`, read from a node.
    fn bool_read(node: u32) -> Value {
        Value::Bool(true).mark(&Marks::read(node))
    }
}

impl Scope for Known {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let undeclared = |what: String| {
            Err(Diagnostic::error("Reference to undeclared thing")
                .detail(format!("There is no {what}."))
                .at(ask.span)
                .into())
        };
        match what {
            Declared::Variable(name) => match self.variables.iter().find(|it| it.0 == &**name) {
                Some(it) => Ok(it.1.clone()),
                None => undeclared(format!("variable {name}")),
            },
            Declared::Resource(name) => {
                let (kind, name) = (&name.kind, &name.name);
                let address = match ask.key {
                    Some(key) => format!("{kind}.{name}[{}]", print::format_value(key)),
                    None => format!("{kind}.{name}"),
                };
                match self.resources.iter().find(|it| it.0 == address) {
                    Some(it) => Ok(it.1.clone()),
                    None => undeclared(format!("resource {address}")),
                }
            }
            other => undeclared(format!("{other:?}")),
        }
    }

    fn around(&self) -> Around<'_> {
        Around { directory: Some("."), workspace: Some("default"), ..Around::default() }
    }

    fn absent(&self, subject: Subject<'_>, at: Span) -> Result<Value, Diagnostics> {
        let detail = format!("There is no {subject:?}.");
        Err(Diagnostic::error("Reference to undeclared thing").detail(detail).at(at).into())
    }

    fn reached(&self, reached: &Reached<'_>) {
        let Reached { reference, key, rest, value, .. } = *reached;
        let key = key.map(|it| format!("[{}]", print::format_value(it))).unwrap_or_default();
        if let Subject::Resource(ResourceNameRef { kind, name, .. }) = reference.subject {
            self.tell(format!(
                "{kind}.{name}{key} and {} steps: {}",
                rest.len(),
                print::format_value(value)
            ));
        }
    }

    fn unevaluated(&self, expression: &Expression, bound: &[Str]) -> Marks {
        let (references, _) = references_within(expression, bound);
        let bound: Vec<&str> = bound.iter().map(|it| &**it).collect();
        let names: Vec<String> = references.iter().map(|it| shown_subject(it.subject)).collect();
        self.tell(format!("left out, with {}: {}", bound.join(" "), names.join(" ")));
        let is_named = |name: &str| {
            let is = |it: Subject<'_>| matches!(it, Subject::Variable(it) if &**it == name);
            references.iter().any(|it| is(it.subject))
        };
        let named = self.variables.iter().filter(|it| is_named(it.0));
        Marks::provenance_of(named.map(|it| &it.1))
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn is_planning(&self) -> bool {
        self.planning
    }
}

/// What a reference names.
pub fn shown_subject(subject: Subject<'_>) -> String {
    match subject {
        Subject::Resource(name) => name.to_string(),
        other => format!("{other:?}"),
    }
}

/// Reads an expression as it would follow `x = ` in a file.
pub fn parse(text: &str) -> Result<(Expression, Sources), Diagnostics> {
    let sources = Sources::default();
    let text = format!("x = {text}\n");
    let file = sources.add("main.tf", text.as_str().into());
    let (body, problems) = syntax::parse(file, &text);
    if problems.has_errors() || body.attributes.len() != 1 {
        return Err(problems);
    }
    let value = body.attributes.into_iter().next().expect("there is one").value;
    Ok((value, sources))
}

/// Evaluates a text in a scope.
pub fn value_of(text: &str, scope: &dyn Scope) -> (Value, Diagnostics) {
    match parse(text) {
        Ok((expression, _)) => evaluate(&expression, scope),
        Err(problems) => (Value::NULL, problems),
    }
}

/// Evaluates a text in the usual scope and prints the value, its marks, what is known of it, and what is wrong.
pub fn shown(text: &str) -> String {
    shown_in(text, &Known::usual())
}

/// Like [`shown`], in another scope.
pub fn shown_in(text: &str, scope: &Known) -> String {
    let (value, problems) = value_of(text, scope);
    let mut lines = vec![describe(&value)];
    for it in problems.iter() {
        lines.push(format!("{}: {}", it.summary, it.detail));
        lines.extend(it.values.iter().map(|(name, words)| format!("  {name} {words}")));
    }
    lines.join("\n")
}

fn describe(value: &Value) -> String {
    let marks = value.marks();
    let mut text = match value.bare() {
        Value::Unknown(it) => {
            let known = &it.refinement;
            let mut text = format!("unknown {}", it.ty);
            if known.not_null {
                text.push_str(", not null");
            }
            if let Some(prefix) = &known.prefix {
                text.push_str(&format!(", begins {prefix:?}"));
            }
            for (bound, word) in [(&known.lower, "from"), (&known.upper, "to")] {
                if let Some((number, possible)) = bound {
                    text.push_str(&format!(
                        ", {word} {number}{}",
                        if *possible { "" } else { " exclusive" }
                    ));
                }
            }
            for (bound, word) in [(known.min_length, "at least"), (known.max_length, "at most")] {
                if let Some(length) = bound {
                    text.push_str(&format!(", {word} {length} long"));
                }
            }
            text
        }
        bare => print::format_value(&bare.to_plain()),
    };
    for (has, word) in [(marks.sensitive, "sensitive"), (marks.ephemeral, "ephemeral")] {
        if has {
            text.push_str(&format!(", {word}"));
        }
    }
    let mut nodes = std::collections::BTreeSet::new();
    value.deep_marks().reads.visit(&mut |node| {
        nodes.insert(node);
    });
    if !nodes.is_empty() {
        let nodes: Vec<String> = nodes.iter().map(u32::to_string).collect();
        text.push_str(&format!(", read from {}", nodes.join(" ")));
    }
    text
}

/// Compares the values of texts, one `text => value` a line.
#[track_caller]
pub fn check(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (text, wanted) = line.rsplit_once(" => ").expect("a line has an arrow");
        let got: Vec<String> = shown(text).lines().map(|it| it.trim().to_owned()).collect();
        assert_eq!(got.join(" "), wanted, "the value of {text}");
    }
}
