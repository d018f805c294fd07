//! What a function takes, where a call of it is being written.

use std::ops::Range;
use std::path::Path;

use super::document::Language;
use super::module::Module;
use super::vocabulary::called;
use super::workspace::Workspace;
use crate::expression::base_name;
use crate::expression::functions::{self, Parameter, SPECIAL};
use crate::schema::{FunctionParameter, FunctionSignature};
use crate::syntax::{At, cursor};

/// How a function is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The whole: `join(separator: string, lists…: list of string): string`.
    pub label: String,
    /// Where each parameter stands in that, and what it means.
    pub parameters: Vec<(Range<usize>, String)>,
    /// What the function does.
    pub about: String,
    /// The parameter whose argument is being written.
    pub active: usize,
}

/// Returns the signature of the function whose arguments are being written at a byte of a file.
pub fn signature(workspace: &Workspace, path: &Path, at: usize) -> Option<Signature> {
    let document = workspace.document(path)?;
    if document.language == Language::Rules {
        let (name, complete) = open_call(&document.text, at)?;
        let found = of_relation(&name).or_else(|| of(workspace, &workspace.module_of(path), &name));
        return found.map(|it| it.writing(complete));
    }
    if !document.language.is_native() {
        return None;
    }
    let At::Value(written) = cursor(&document.text, at).at else { return None };
    let (name, complete) = written.call?;
    Some(of(workspace, &workspace.module_of(path), &name)?.writing(complete))
}

impl Signature {
    /// Marks the parameter that is being written: all further arguments are for the last one.
    fn writing(mut self, complete: usize) -> Signature {
        self.active = complete.min(self.parameters.len().saturating_sub(1));
        self
    }
}

/// What is called where a rule is being written, and how many of its arguments are complete. Rules end with a semicolon.
fn open_call(text: &str, at: usize) -> Option<(String, usize)> {
    let mut before = text.get(..at)?;
    // One in a text ends none, but then nothing is open before it that could be called.
    if let Some(end) = before.rfind(";\n") {
        before = &before[end + 1..];
    }
    let (mut open, mut is_quoted): (Vec<(String, usize)>, bool) = (Vec::new(), false);
    let mut word = String::new();
    for line in before.lines().filter(|it| !it.trim_start().starts_with("//")) {
        for c in line.chars() {
            match c {
                '"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                '(' => open.push((std::mem::take(&mut word), 0)),
                ')' => drop(open.pop()),
                ',' => open.iter_mut().last().into_iter().for_each(|it| it.1 += 1),
                _ => {}
            }
            match c.is_alphanumeric() || c == '_' {
                true => word.push(c),
                false => word.clear(),
            }
        }
        word.clear();
    }
    // Parentheses of an expression are no call: what is around them is being written.
    open.into_iter().rev().find(|it| !it.0.is_empty())
}

/// Returns the columns of a relation that policies may rely on.
fn of_relation(name: &str) -> Option<Signature> {
    let words = called(name)?;
    let open = words.usage.find('(')?;
    let mut parameters = Vec::new();
    let mut start = open + 1;
    for column in words.usage[start..].trim_end_matches(')').split(',') {
        let lead = column.len() - column.trim_start().len();
        parameters.push((start + lead..start + column.len(), String::new()));
        start += column.len() + 1;
    }
    let about = format!("{} ({})", words.says, words.columns);
    Some(Signature { label: words.usage.to_string(), parameters, about, active: 0 })
}

/// Returns the signature of a function by its name.
pub(super) fn of(workspace: &Workspace, module: &Module, name: &str) -> Option<Signature> {
    if let Some(rest) = name.strip_prefix("provider::") {
        let (local, function) = rest.split_once("::")?;
        let schemas = workspace.schemas(&module.folder);
        let schema = schemas.provider(&module.provider(local))?;
        return Some(of_provider(name, schema.functions.get(function)?));
    }
    let bare = base_name(name);
    let one = |it: &Parameter, more: &str| {
        let about = it.about.unwrap_or_default().to_owned();
        (format!("{}{more}: {}", it.name, it.shape.ty().friendly_constraint()), about)
    };
    let (parameters, variadic, about, returns) = match functions::find(bare) {
        Some(it) => (it.parameters, &it.variadic, it.description, it.usual_type()),
        None => {
            let it = SPECIAL.iter().find(|it| it.name == bare)?;
            (it.parameters, &it.variadic, it.description, it.returns.ty())
        }
    };
    let all = parameters.iter().map(|it| one(it, "")).chain(variadic.iter().map(|it| one(it, "…")));
    Some(written(name, all.collect(), &returns.friendly_constraint(), about))
}

fn of_provider(name: &str, it: &FunctionSignature) -> Signature {
    let one = |it: &FunctionParameter, more: &str| {
        let about = it.description.as_ref().map(ToString::to_string).unwrap_or_default();
        (format!("{}{more}: {}", it.name, it.ty.friendly_constraint()), about)
    };
    let all =
        it.parameters.iter().map(|it| one(it, "")).chain(it.variadic.iter().map(|it| one(it, "…")));
    let about = it.description.as_ref().or(it.summary.as_ref()).map_or("", |it| it.as_str());
    written(name, all.collect(), &it.returns.friendly_constraint(), about)
}

fn written(name: &str, all: Vec<(String, String)>, returns: &str, about: &str) -> Signature {
    let mut found =
        Signature { label: format!("{name}("), about: about.to_owned(), ..Signature::default() };
    for (at, (text, meaning)) in all.into_iter().enumerate() {
        if at > 0 {
            found.label.push_str(", ");
        }
        let start = found.label.len();
        found.label.push_str(&text);
        found.parameters.push((start..found.label.len(), meaning));
    }
    found.label.push_str(&format!("): {returns}"));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<(String, usize)> {
        open_call(text, text.len())
    }

    #[test]
    fn what_is_called_in_a_rule_is_found() {
        let called = |name: &str, complete| Some((name.to_owned(), complete));
        assert_eq!(check("deny(n, \"a, (b\") <-- resource(n, "), called("resource", 1));
        assert_eq!(check("a(n) <-- b(n);\n// c(x,\nd(n) <-- depends_on("), called("depends_on", 0));
        assert_eq!(check("a(n) <-- b(n), length(n.x) > (1 + "), None);
        assert_eq!(check("deny(n, \"x\") <-- b(n);\n"), None);
        let words = of_relation("resource").expect("it is of the vocabulary");
        let columns: Vec<&str> =
            words.parameters.iter().map(|it| &words.label[it.0.clone()]).collect();
        assert_eq!(words.label, format!("resource({})", columns.join(", ")));
    }
}
