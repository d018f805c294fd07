//! `validate`: checks a configuration, without state and without touching anything.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::variables::unreadable_files;
use entail::workflow::Host;
use entail::workflow::validate::validate;
use entail::world::World;

use super::{at_most_one, present, silence};
use crate::arguments::groups::{LintArgs, MessageArgs, OutputArgs, VariableArgs};
use crate::ui::{Ui, two_streams};
use crate::view::validate as view;

/// Check whether the configuration is valid
///
/// Checks what can be known from the configuration alone: syntax, references, types, what providers accept.
#[derive(clap::Args, Debug)]
pub struct ValidateArgs {
    /// Do not check tests
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub no_tests: bool,

    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Lint rules.
    #[command(flatten)]
    pub lint: LintArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The directory to check
    #[arg(value_name = "[DIR]", hide = true)]
    pub words: Vec<String>,
}

impl ValidateArgs {
    /// Returns the directory to check, where one is named.
    pub fn directory(&self) -> Result<Option<&str>, Diagnostic> {
        at_most_one(
            &self.words,
            "Too many command line arguments",
            "Expected at most one positional argument.",
        )
    }
}

/// Checks the configuration, and says how many problems there are.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ValidateArgs) -> Result<u8, Diagnostics> {
    let (here, mut world) = (world.clone(), world.clone());
    let mut sources = ui.sources.clone();
    let mut unreadable = None;
    if let Some(directory) = args.directory()? {
        let root = world.root.join(directory);
        let folder = shown_folder(&root, &world.root);
        unreadable = (!world.files.is_folder(&root)).then(|| unreadable_folder(&folder));
        if !folder.is_empty() {
            sources = sources.below(&folder);
        }
        world = Arc::new(World { root, ..(*world).clone() });
    }
    let MessageArgs { json, json_into } = &args.output.messages;
    if *json && json_into.is_some() {
        return Err(two_streams().into());
    }
    if !json {
        silence(ui, args.output.input)?;
    }
    let ui = &*ui;
    let given = unreadable_files(&here, &ui.sources);
    let problems = match unreadable {
        Some(problem) => problem.into(),
        None if !given.is_empty() => given,
        None => {
            let tests = (!args.no_tests).then_some(&*args.test_directory);
            let lint = args.lint.selection()?;
            validate(&Host { sources: &sources, ..ui.host(&world) }, tests, &lint)?
        }
    };
    if *json {
        ui.json(&view::json(&problems, &ui.sources));
        return Ok(u8::from(problems.has_errors()));
    }
    if let Some(file) = json_into {
        present::document(&here, file, &view::json(&problems, &ui.sources))?;
    }
    let text = view::text(&problems, ui.style());
    let code = ui.diagnostics(problems);
    ui.say(&text);
    Ok(code)
}

/// Returns a folder as people see it from another: empty for that folder itself.
fn shown_folder(folder: &Path, from: &Path) -> String {
    let parts = folder.strip_prefix(from).unwrap_or(folder).components();
    let shown: PathBuf = parts.filter(|it| *it != Component::CurDir).collect();
    shown.display().to_string()
}

fn unreadable_folder(folder: &str) -> Diagnostic {
    Diagnostic::error("Failed to read module directory")
        .detail(format!("Module directory {folder} does not exist or cannot be read."))
}
