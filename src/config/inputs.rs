//! The values of the root module's variables: where they may be given, which of them counts, and what they become.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use crate::config::{Module, Variable, is_taken_literally};
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Sources, Span};
use crate::expression::evaluate_constant;
use crate::syntax::{self, AttributeSchema, BlockSchema, Body, Expression};
use crate::value::{Str, Type, Value};
use crate::world::{self, Files, VariableSource, World};

mod globals;
mod taken;

pub use globals::Globals;
pub use taken::{Refused, taken};

/// A value that was given for a declared variable, not yet converted.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableInput {
    /// The value.
    pub value: Value,
    /// Where it was given.
    pub origin: Origin,
}

/// The values of the root module's variables.
#[derive(Clone, Debug, Default)]
pub struct RootVariables {
    /// All of them: converted, completed and marked.
    pub values: BTreeMap<Str, Value>,
    /// Those that were given, as they were given. Documents of plans hold them so.
    pub given: BTreeMap<Str, Value>,
    /// Where they were given.
    pub origins: BTreeMap<Str, Origin>,
}

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `TF_VAR_name`
    Environment,
    /// A file that is read by itself: its name and the value's place.
    AutoFile(String, Span),
    /// `-var-file=PATH`: the path and the value's place.
    File(String, Span),
    /// `-var name=…`
    Flag,
    /// An answer on the terminal.
    Prompt,
    /// An argument of a module call.
    Call(Span),
    /// A `variables` block of a test.
    Test(Span),
}

/// A value as it was given, before it is known whether and how it is to be read.
#[derive(Clone, Debug)]
enum Given {
    Text(String),
    Expression(Expression),
}

/// Collects what is given, the later of two values winning.
fn gather<'a>(
    directory: &'a Path,
    given: &[VariableSource],
    world: &'a World,
    sources: &'a Sources,
) -> Collector<'a> {
    let mut collector = Collector {
        files: &world.files,
        given: &world.given,
        sources,
        directory,
        values: BTreeMap::new(),
        problems: Diagnostics::new(),
    };
    for (name, text) in &world.environment {
        if let Some(name) = name.strip_prefix("TF_VAR_") {
            collector.values.insert(name.into(), (Given::Text(text.clone()), Origin::Environment));
        }
    }
    for (name, text) in world.given.answered() {
        collector.values.insert(name.as_str().into(), (Given::Text(text), Origin::Prompt));
    }
    collector.add_auto_files();
    for it in given {
        match it {
            VariableSource::Flag(name, text) => collector.add_flag(name, text),
            VariableSource::File(path) => collector.add_named_file(&path.to_string_lossy()),
            VariableSource::AutoFile(_) | VariableSource::Environment(_) => {}
        }
    }
    collector
}

/// Collects what is given for the root module's variables, the later of two values winning: environment,
/// `terraform.tfvars`, `terraform.tfvars.json`, `*.auto.tfvars(.json)` by name, then the flags in their order.
///
/// - `given`: only [`VariableSource::Flag`] and [`VariableSource::File`] count; the rest is found here.
/// - Paths of files are relative to `directory`.
///
/// Variables that are required and have no value are in [`missing`]; undeclared names are told.
pub fn collect_variables(
    module: &Module,
    directory: &Path,
    given: &[VariableSource],
    world: &World,
    sources: &Sources,
) -> (BTreeMap<Str, VariableInput>, Diagnostics) {
    let Collector { values, mut problems, .. } = gather(directory, given, world, sources);
    let (mut inputs, mut undeclared_in_files) = (BTreeMap::new(), Vec::new());
    for (name, (value, origin)) in values {
        match module.variables.get(&name) {
            Some(variable) => {
                if let Some(value) = problems.take(read(variable, value, sources)) {
                    inputs.insert(name, VariableInput { value, origin });
                }
            }
            None => match origin {
                Origin::Flag => problems.push(undeclared_flag(&name)),
                Origin::AutoFile(file, _) | Origin::File(file, _) => {
                    undeclared_in_files.push((name, file))
                }
                _ => {}
            },
        }
    }
    warn_of_undeclared(&undeclared_in_files, &mut problems);
    (inputs, problems)
}

/// Returns what is wrong with the files of values themselves, whichever variables there are.
pub fn unreadable_files(world: &World, sources: &Sources) -> Diagnostics {
    let mut problems = gather(&world.root, &world.given.variables, world, sources).problems;
    problems.0.retain(Diagnostic::is_error);
    problems
}

/// Returns the variables that need a value and have none, by name: what the terminal may be asked for.
pub fn missing<'a>(module: &'a Module, inputs: &BTreeMap<Str, VariableInput>) -> Vec<&'a Variable> {
    module
        .variables
        .values()
        .filter(|it| it.default.is_none() && !inputs.contains_key(&it.name.text))
        .collect()
}

/// Returns the error for a variable that needs a value and has none.
pub fn no_value(variable: &Variable) -> Diagnostic {
    let name = &variable.name.text;
    Diagnostic::error("No value for required variable")
        .detail(format!("The root module input variable {name:?} is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable."))
        .at(variable.declared)
}

/// Reads the text of a prompt's answer as the variable's type demands.
pub fn read_answer(
    variable: &Variable,
    text: &str,
    sources: &Sources,
) -> Result<VariableInput, Diagnostics> {
    let value = read(variable, Given::Text(text.to_owned()), sources)?;
    Ok(VariableInput { value, origin: Origin::Prompt })
}

struct Collector<'a> {
    files: &'a Files,
    given: &'a world::Given,
    sources: &'a Sources,
    directory: &'a Path,
    values: BTreeMap<Str, (Given, Origin)>,
    problems: Diagnostics,
}

impl Collector<'_> {
    fn add_flag(&mut self, name: &str, text: &str) {
        if name.ends_with(' ') {
            let (name, text) = (name.trim_end_matches(' '), text.trim_start_matches(' '));
            self.problems.push(trailing_space(name, text));
            return;
        }
        self.values.insert(name.into(), (Given::Text(text.to_owned()), Origin::Flag));
    }

    fn add_auto_files(&mut self) {
        for name in ["terraform.tfvars", "terraform.tfvars.json"] {
            if self.files.exists(&self.directory.join(name)) {
                self.add_auto_file(name);
            }
        }
        let entries = self.files.entries(self.directory).unwrap_or_default();
        let mut names: Vec<String> =
            entries.into_iter().filter_map(|it| it.name.into_string().ok()).collect();
        names.retain(|it| it.ends_with(".auto.tfvars") || it.ends_with(".auto.tfvars.json"));
        for name in names {
            self.add_auto_file(&name);
        }
    }

    /// Adds a file that lies there: a regular one, for nobody asked for any other.
    fn add_auto_file(&mut self, name: &str) {
        match self.files.read_regular(&self.directory.join(name)) {
            Ok(bytes) => self.add_file(name, bytes, Origin::AutoFile),
            Err(why) => self.problems.push(unreadable(name, &why.to_string())),
        }
    }

    /// Adds a file that a flag names. It may be a fifo, with another program at its other end.
    fn add_named_file(&mut self, name: &str) {
        if name.is_empty() {
            return self.problems.push(no_name());
        }
        match self.given.file(self.files, &self.directory.join(name)) {
            Ok(bytes) => self.add_file(name, bytes, Origin::File),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.problems.push(no_file(name));
            }
            Err(error) => self.problems.push(unreadable(name, &error.to_string())),
        }
    }

    fn add_file(&mut self, name: &str, bytes: Vec<u8>, origin: fn(String, Span) -> Origin) {
        let Ok(text) = String::from_utf8(bytes) else {
            return self.problems.push(unreadable(name, "it is not UTF-8 text"));
        };
        let id = self.sources.add(name, text.as_str().into());
        // Without a telling name, as of a pipe, the text itself decides.
        let is_json = name.ends_with(".json")
            || (!name.ends_with(".tfvars") && text.trim_start().starts_with('{'));
        let (body, problems) =
            if is_json { syntax::parse_json(id, &text) } else { syntax::parse(id, &text) };
        self.problems.extend(problems);
        if self.refuse_declarations(name, &body) {
            return;
        }
        let (attributes, problems) = body.literal_attributes();
        self.problems.extend(problems);
        for it in attributes {
            let origin = origin(name.to_owned(), it.value.span);
            self.values.insert(it.name.text, (Given::Expression(it.value), origin));
        }
    }

    /// Complains of `variable` blocks, which belong elsewhere.
    fn refuse_declarations(&mut self, file: &str, body: &Body) -> bool {
        let schema = [BlockSchema { kind: "variable", labels: &["name"] }];
        let (content, _, _) = body.partial_content(&[] as &[AttributeSchema], &schema);
        for block in &content.blocks {
            let name = block.labels.first().map_or("", |it| &it.text);
            self.problems.push(declaration_in_values(name, file, block.kind.span));
        }
        !content.blocks.is_empty()
    }
}

/// Reads a value: text is taken as it is for variables of primitive or no type, and as an expression for all others.
fn read(variable: &Variable, given: Given, sources: &Sources) -> Result<Value, Diagnostics> {
    match given {
        Given::Expression(expression) => evaluate_constant(&expression),
        Given::Text(text) if !variable.is_typed || is_taken_literally(variable.ty) => {
            Ok(Value::string(text))
        }
        Given::Text(text) => {
            let id = sources
                .add(format!("<value for var.{}>", variable.name.text), text.as_str().into());
            let expression = syntax::parse_expression(id, &text, 0)?;
            evaluate_constant(&expression)
        }
    }
}

/// Makes the final value of a variable: converted to its type, completed with defaults, and marked.
///
/// - `address`: how messages name the variable (`var.x`, `module.m.var.x`).
/// - `input`: `None` where no value was given at all.
pub fn finish(
    variable: &Variable,
    address: &dyn Display,
    input: Option<&VariableInput>,
    sources: &Sources,
) -> Result<Value, Diagnostics> {
    if let Some(input) = input
        && input.value.contains_ephemeral()
        && !variable.ephemeral
    {
        return Err(ephemeral_value(variable, input).into());
    }
    taken(variable, input.map(|it| &it.value)).map_err(|refused| {
        let problem = match (refused, input) {
            (Refused::Unsuitable(why), Some(input)) => {
                unsuitable(variable, address, input, why.words(), sources)
            }
            (Refused::Null, input) => null_not_allowed(variable, address, input, sources),
            (Refused::Missing | Refused::Unsuitable(_), _) => not_set(variable),
        };
        problem.into()
    })
}

/// Returns the value of a variable whose value cannot be told, for looking on after an error.
pub fn unknown_of(variable: &Variable) -> Value {
    let ty: Type = variable.ty.without_optional();
    Value::unknown(ty).mark(&variable.marks())
}

impl Origin {
    /// Says where a value comes from that stands in no file.
    fn outside_files(&self, name: &str) -> Option<String> {
        match self {
            Origin::Environment => {
                Some(format!("set using the TF_VAR_{name} environment variable"))
            }
            Origin::Flag => Some(format!("set using -var=\"{name}=...\"")),
            Origin::Prompt => Some("set using an interactive prompt".to_owned()),
            Origin::AutoFile(..) | Origin::File(..) | Origin::Call(_) | Origin::Test(_) => None,
        }
    }

    /// Returns the place of the value, or of no file.
    pub fn span(&self) -> Span {
        match self {
            Origin::AutoFile(_, at) | Origin::File(_, at) | Origin::Call(at) | Origin::Test(at) => {
                *at
            }
            Origin::Environment | Origin::Flag | Origin::Prompt => Span::default(),
        }
    }
}

fn undeclared_flag(name: &str) -> Diagnostic {
    Diagnostic::error("Value for undeclared variable")
        .detail(format!("A variable named {name:?} was assigned on the command line, but the root module does not declare a variable of that name. To use this value, add a \"variable\" block to the configuration."))
}

/// Two of the values are told one by one, the rest together.
fn warn_of_undeclared(names: &[(Str, String)], problems: &mut Diagnostics) {
    for (name, file) in names.iter().take(2) {
        let detail = format!(
            "The root module does not declare a variable named {name:?} but a value was found in file {file:?}. If you meant to use this value, add a \"variable\" block to the configuration.\n\nTo silence these warnings, use TF_VAR_... environment variables to provide certain \"global\" settings to all configurations in your organization. To reduce the verbosity of these warnings, use the -compact-warnings option."
        );
        problems.push(Diagnostic::warning("Value for undeclared variable").detail(detail));
    }
    if names.len() > 2 {
        let detail = format!(
            "In addition to the other similar warnings shown, {} other variable(s) defined without being declared.",
            names.len() - 2
        );
        problems.push(Diagnostic::warning("Values for undeclared variables").detail(detail));
    }
}

fn trailing_space(name: &str, text: &str) -> Diagnostic {
    Diagnostic::error("Invalid -var option").detail(format!(
        "Variable name {:?} is invalid due to trailing space. Did you mean -var=\"{name}={text}\"?",
        format!("{name} ")
    ))
}

fn no_name() -> Diagnostic {
    Diagnostic::error("Failed to read variables file").detail(
        "The -var-file option names no file. Write a path behind it, as in -var-file=values.tfvars.",
    )
}

fn no_file(name: &str) -> Diagnostic {
    Diagnostic::error("Failed to read variables file")
        .detail(format!("Given variables file {name} does not exist."))
}

fn unreadable(name: &str, why: &str) -> Diagnostic {
    Diagnostic::error("Failed to read variables file")
        .detail(format!("Error while reading {name}: {why}."))
}

fn declaration_in_values(name: &str, file: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Variable declaration in .tfvars file")
        .detail(format!("A .tfvars file is used to assign values to variables that have already been declared in .tf files, not to declare new variables. To declare variable {name:?}, place this block in one of your .tf files, such as variables.tf.\n\nTo set a value for this variable in {file}, use the definition syntax instead:\n    {name} = <value>"))
        .at(at)
}

fn not_set(variable: &Variable) -> Diagnostic {
    Diagnostic::error("Required variable not set")
        .detail(format!("The variable {:?} is required, but is not set.", variable.name.text))
        .at(variable.declared)
}

fn ephemeral_value(variable: &Variable, input: &VariableInput) -> Diagnostic {
    let at = input.origin.span();
    Diagnostic::error("Variable does not allow ephemeral value")
        .detail(format!("The value used for the variable {:?} is ephemeral, but it is not configured to allow one.", variable.name.text))
        .at(if at.file() == FileId(0) { variable.declared } else { at })
}

fn null_not_allowed(
    variable: &Variable,
    address: &dyn Display,
    input: Option<&VariableInput>,
    sources: &Sources,
) -> Diagnostic {
    let outside = input.and_then(|it| it.origin.outside_files(&variable.name.text));
    let at = input.map_or(variable.declared, |it| it.origin.span());
    let (detail, at) = match outside {
        Some(how) => (
            format!(
                "Unsuitable value for {address} {how}: required variable may not be set to null."
            ),
            variable.declared,
        ),
        None => (
            format!(
                "The given value is not suitable for {address} defined at {}: required variable may not be set to null.",
                sources.range(variable.declared)
            ),
            at,
        ),
    };
    Diagnostic::error("Required variable not set").detail(detail).at(at)
}

/// The value itself may be secret, so its place is told and not shown.
fn unsuitable(
    variable: &Variable,
    address: &dyn Display,
    input: &VariableInput,
    why: &str,
    sources: &Sources,
) -> Diagnostic {
    let why = why.strip_suffix('.').unwrap_or(why);
    let place = sources.range(input.origin.span());
    let detail = match input.origin.outside_files(&variable.name.text) {
        Some(how) => format!("Unsuitable value for {address} {how}: {why}."),
        None if variable.ephemeral => format!(
            "The given value is not suitable for {address}, which is ephemeral: {why}. Invalid value defined at {place}."
        ),
        None if variable.sensitive => format!(
            "The given value is not suitable for {address}, which is sensitive: {why}. Invalid value defined at {place}."
        ),
        None => format!(
            "The given value is not suitable for {address} declared at {}: {why}.",
            sources.range(variable.declared)
        ),
    };
    Diagnostic::error("Invalid value for input variable").detail(detail).at(variable.declared)
}
