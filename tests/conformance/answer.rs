//! What this implementation says to a record of the corpora.

use std::path::Path;
use std::sync::Arc;

use entail::address;
use entail::config::check::references_problems;
use entail::config::{Config, Module};
use entail::diagnostic::{Diagnostic, Diagnostics, FileId, Span};
use entail::expression::print::{format_type, format_value};
use entail::expression::{self, Around, Ask, Declared, Scope, Subject};
use entail::syntax;
use entail::value::{Value, json};
use entail::world::World;

/// A value, in all the forms that a record states.
#[derive(Debug)]
pub struct Answer {
    /// As `jsonencode` writes it.
    pub json: String,
    /// Its type, as the console writes it.
    pub ty: String,
    /// As the console writes it.
    pub console: String,
    /// Whether any part is sensitive.
    pub is_sensitive: bool,
}

/// Evaluates an expression as it would follow `name = ` in the root module of `folder`, where nothing is declared.
pub fn evaluate(text: &str, folder: &Path) -> Result<Answer, Diagnostic> {
    let text = format!("x = {text}\n");
    let (mut body, problems) = syntax::parse(FileId::default(), &text);
    first_error(problems)?;
    let value = match (body.attributes.len(), body.blocks.len()) {
        (1, 0) => body.attributes.remove(0).value,
        _ => return Err(Diagnostic::error("Invalid expression").detail("This is more than one.")),
    };
    let root = address::Module::default();
    let config = Config {
        modules: [(root.clone(), Arc::new(Module::default()))].into_iter().collect(),
        ..Config::default()
    };
    first_error(references_problems(&config, &root, &value))?;
    let world = World { root: folder.into(), cwd: folder.into(), ..World::of_this_process() };
    let (value, problems) = expression::evaluate(&value, &Empty(world));
    first_error(problems)?;
    let marked = value.to_marked();
    let (bare, marks) = marked.look();
    let encoded = json::to_json(bare).map_err(|it| {
        Diagnostic::error("Invalid function argument").detail(format!("Not to be encoded: {it}."))
    })?;
    Ok(Answer {
        json: encoded,
        ty: format_type(bare.ty()),
        console: format_value(&value),
        is_sensitive: marks.sensitive,
    })
}

fn first_error(problems: Diagnostics) -> Result<(), Diagnostic> {
    problems.0.into_iter().find(Diagnostic::is_error).map_or(Ok(()), Err)
}

fn undeclared(what: &dyn std::fmt::Debug, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid reference").detail(format!("Nothing is declared: {what:?}.")).at(at)
}

/// A root module without anything in it.
struct Empty(World);

impl Scope for Empty {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        Err(undeclared(&what, ask.span).into())
    }

    fn around(&self) -> Around<'_> {
        Around { directory: Some("."), workspace: Some("default"), ..Around::default() }
    }

    fn absent(&self, subject: Subject<'_>, at: Span) -> Result<Value, Diagnostics> {
        Err(undeclared(&subject, at).into())
    }

    fn world(&self) -> &World {
        &self.0
    }

    fn is_planning(&self) -> bool {
        false
    }
}

/// Formats a file.
pub fn format(text: &str) -> Result<String, Diagnostic> {
    syntax::format(FileId::default(), text)
        .map_err(|it| first_error(it).err().unwrap_or_else(|| Diagnostic::error("Invalid file")))
}
