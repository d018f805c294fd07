//! `fleet.hcl`: which stacks there are – root modules and bare states – with their labels, variables and order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail::backend::registry;
use entail::backend::shape::{Arguments, Unfit};
use entail::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use entail::expression::evaluate_constant;
use entail::expression::print::format_value;
use entail::syntax::{Attribute, Block, Body, parse};
use entail::value::Value;
use entail::world::World;

/// The file, where no flag names another.
pub const FILE: &str = "fleet.hcl";

/// What `fleet.hcl` says.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The folder of the file: names and paths start from it.
    pub root: PathBuf,
    /// The blocks, in order.
    pub groups: Vec<Group>,
}

/// One block: several stacks of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// The block's label.
    pub name: String,
    /// What its stacks are.
    pub kind: Kind,
    /// What is said of each of them.
    pub labels: BTreeMap<String, String>,
    /// Names of stacks, with `*`, that come before those of this block.
    pub after: Vec<(String, Span)>,
    /// The block's header.
    pub span: Span,
}

/// What stacks of a block are.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Root modules.
    Modules(Modules),
    /// States without a configuration.
    States(States),
}

/// Root modules.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    /// Folders, with `*`.
    pub directories: Vec<(String, Span)>,
    /// Values for their root variables, each as a flag has it.
    pub variables: BTreeMap<String, String>,
    /// Files of values, from each folder.
    pub var_files: Vec<String>,
    /// The file of a saved plan, from each folder; a stack need not have one.
    pub plan: Option<String>,
}

/// States without a configuration.
#[derive(Clone, Debug)]
pub struct States {
    /// The kind of backend.
    pub backend: &'static str,
    /// Files, with `*`; of a backend that keeps them in files of this machine.
    pub paths: Vec<(String, Span)>,
    /// The backend's arguments.
    pub config: Arguments,
    /// Only workspaces whose name begins so.
    pub prefix: String,
}

/// Reads `fleet.hcl`.
///
/// # Errors
///
/// If there is none, or it makes no sense.
pub fn read(world: &World, sources: &Sources, file: &Path) -> Result<Settings, Diagnostics> {
    let path = world.root.join(file);
    let text = world.files.read_text(&path).map_err(|why| unreadable(file, &why))?;
    let id = sources.add(file.display().to_string(), Arc::from(text.as_str()));
    let (body, mut problems) = parse(id, &text);
    let root = path.parent().map_or_else(|| world.root.clone(), Path::to_owned);
    let mut settings = Settings { root, groups: Vec::new() };
    for attribute in &body.attributes {
        problems.push(unexpected(&attribute.name.text, attribute.span(), &["stacks", "states"]));
    }
    for block in &body.blocks {
        let Some(group) = problems.take(group(block)) else { continue };
        match settings.groups.iter().find(|it| it.name == group.name) {
            Some(first) => problems.push(twice(&group, first)),
            None => settings.groups.push(group),
        }
    }
    if settings.groups.is_empty() && !problems.has_errors() {
        problems.push(no_stacks(file));
    }
    if problems.has_errors() { Err(problems) } else { Ok(settings) }
}

fn group(block: &Block) -> Result<Group, Diagnostics> {
    let [label] = &block.labels[..] else {
        return Err(Diagnostic::error("Invalid block of stacks")
            .detail(format!("A block `{}` has one label: what it is called.", block.kind.text))
            .at(block.header)
            .into());
    };
    let mut fields = Fields { body: &block.body, problems: Diagnostics::new() };
    let kind = match &*block.kind.text {
        "stacks" => Kind::Modules(modules(&mut fields, block)),
        "states" => match states(&mut fields, block) {
            Some(states) => Kind::States(states),
            None => return Err(fields.problems),
        },
        other => return Err(unexpected(other, block.header, &["stacks", "states"]).into()),
    };
    let known: &[&str] = match kind {
        Kind::Modules(_) => &["directories", "labels", "variables", "var_files", "plan", "after"],
        Kind::States(_) => &["backend", "paths", "config", "prefix", "labels", "after"],
    };
    let labels = fields.texts_by_name("labels");
    let after = fields.texts("after");
    for attribute in &block.body.attributes {
        if !known.contains(&&*attribute.name.text) {
            fields.problems.push(unexpected(&attribute.name.text, attribute.span(), known));
        }
    }
    for inner in &block.body.blocks {
        fields.problems.push(unexpected(&inner.kind.text, inner.header, known));
    }
    match fields.problems.has_errors() {
        true => Err(fields.problems),
        false => {
            Ok(Group { name: label.text.to_string(), kind, labels, after, span: block.header })
        }
    }
}

fn modules(fields: &mut Fields<'_>, block: &Block) -> Modules {
    let directories = fields.texts("directories");
    if fields.find("directories").is_none() {
        fields.problems.push(missing("directories", "[\"live/*\"]", block.header));
    }
    let variables = fields.value("variables").map_or_else(BTreeMap::new, |(value, _)| {
        let entries = value.entries().into_iter();
        entries.map(|(name, it)| (name.to_string(), as_flag(it))).collect()
    });
    let var_files = fields.texts("var_files").into_iter().map(|it| it.0).collect();
    let plan = fields.text("plan").map(|it| it.0);
    Modules { directories, variables, var_files, plan }
}

fn states(fields: &mut Fields<'_>, block: &Block) -> Option<States> {
    let named = fields.text("backend").unwrap_or_else(|| ("local".to_owned(), block.header));
    let Some(kind) = registry::kind(&named.0) else {
        let problem = Diagnostic::error("Invalid backend type");
        fields.problems.push(problem.detail(registry::why_not(&named.0)).at(named.1));
        return None;
    };
    let paths = fields.texts("paths");
    let is_local = kind.name == "local";
    if is_local && fields.find("paths").is_none() {
        fields.problems.push(missing("paths", "[\"states/**/*.tfstate\"]", block.header));
    }
    if let Some(at) = fields.find("paths").filter(|_| !is_local) {
        let detail = "`paths` is for states in files of this machine. Elsewhere, `config` says where the states are, and `prefix` which of its workspaces are meant.";
        let problem = Diagnostic::error("Paths of another backend").detail(detail);
        fields.problems.push(problem.at(at.span()));
    }
    let mut config = kind.unset();
    if let Some((value, span)) = fields.value("config") {
        for (name, it) in value.entries() {
            match kind.setting(&name, it) {
                Ok(set) => drop(config.insert(name.to_string(), set)),
                Err(unfit) => {
                    fields.problems.push(unfit_argument(kind.name, &name, &unfit).at(span))
                }
            }
        }
    }
    let prefix = fields.text("prefix").map_or(String::new(), |it| it.0);
    Some(States { backend: kind.name, paths, config, prefix })
}

/// The arguments of a block, read one by one.
struct Fields<'a> {
    body: &'a Body,
    problems: Diagnostics,
}

impl Fields<'_> {
    fn find(&self, name: &str) -> Option<&Attribute> {
        self.body.attributes.iter().find(|it| *it.name.text == *name)
    }

    fn value(&mut self, name: &str) -> Option<(Value, Span)> {
        let found = self.find(name)?;
        let (result, span) = (evaluate_constant(&found.value), found.value.span);
        Some((self.problems.take(result)?, span))
    }

    fn text(&mut self, name: &str) -> Option<(String, Span)> {
        let (value, span) = self.value(name)?;
        match value.as_str() {
            Some(text) => Some((text.to_owned(), span)),
            None => {
                self.problems.push(of_type(name, "a string", span));
                None
            }
        }
    }

    fn texts(&mut self, name: &str) -> Vec<(String, Span)> {
        let Some((value, span)) = self.value(name) else { return Vec::new() };
        let texts: Vec<&str> = value.children().filter_map(Value::as_str).collect();
        if texts.len() != value.children().count() || value.as_str().is_some() {
            self.problems.push(of_type(name, "a list of strings", span));
            return Vec::new();
        }
        texts.into_iter().map(|it| (it.to_owned(), span)).collect()
    }

    fn texts_by_name(&mut self, name: &str) -> BTreeMap<String, String> {
        let Some((value, span)) = self.value(name) else { return BTreeMap::new() };
        let entries = value.entries();
        let texts: BTreeMap<String, String> = entries
            .iter()
            .filter_map(|(name, it)| Some((name.to_string(), it.as_str()?.to_owned())))
            .collect();
        if texts.len() != entries.len() || value.entries().is_empty() && !is_empty_object(&value) {
            self.problems.push(of_type(name, "an object of strings", span));
        }
        texts
    }
}

fn is_empty_object(value: &Value) -> bool {
    matches!(value.bare(), Value::Object(_) | Value::Map(_))
}

/// A value as a flag has it: texts as they are, all else as it is written.
fn as_flag(value: &Value) -> String {
    value.as_str().map_or_else(|| format_value(value), str::to_owned)
}

fn unreadable(file: &Path, why: &std::io::Error) -> Diagnostic {
    let file = file.display();
    let detail = match why.kind() {
        std::io::ErrorKind::NotFound => format!(
            "There is no file {file}. It names the stacks of a fleet, such as:\n\n  stacks \"live\" {{\n    directories = [\"live/*\"]\n  }}\n\nWrite one, or name another with -fleet=FILE."
        ),
        _ => format!("{file} cannot be read: {why}."),
    };
    Diagnostic::error("No fleet").detail(detail)
}

fn no_stacks(file: &Path) -> Diagnostic {
    Diagnostic::error("No stacks").detail(format!(
        "{} names no stacks: it needs a block `stacks` or `states`.",
        file.display()
    ))
}

fn unexpected(name: &str, at: Span, known: &[&str]) -> Diagnostic {
    Diagnostic::error("Unexpected argument or block")
        .detail(format!("`{name}` means nothing here. Known are: {}.", known.join(", ")))
        .at(at)
}

fn missing(name: &str, example: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Missing argument")
        .detail(format!("The block needs `{name}`, such as {name} = {example}."))
        .at(at)
}

fn of_type(name: &str, what: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid argument").detail(format!("`{name}` must be {what}.")).at(at)
}

fn twice(group: &Group, first: &Group) -> Diagnostic {
    Diagnostic::error("Two blocks of one name")
        .detail(format!(
            "`{}` is what another block is called already. Rename one of the two.",
            first.name
        ))
        .at(group.span)
}

fn unfit_argument(backend: &str, name: &str, unfit: &Unfit) -> Diagnostic {
    let why = match unfit {
        Unfit::Unknown => "there is no such argument".to_owned(),
        Unfit::Type(why) => why.clone(),
        Unfit::Empty(what) => format!("it would be an invalid {what}"),
    };
    Diagnostic::error("Invalid backend configuration")
        .detail(format!("The argument `{name}` of the backend {backend:?} cannot be used: {why}."))
}
