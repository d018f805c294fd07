//! `show`: prints the state, a saved plan, or the configuration.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::page::page;
use entail::workflow::show::{ShowTarget, Shown, show, show_json};
use entail::world::{PROGRAM, World};

use super::{miscounted, present};
use crate::arguments::groups::{ReadingArgs, VariableArgs};
use crate::ui::{Manner, Ui, two_streams};
use crate::view;
use crate::view::plan::Look;
use crate::view::style::Style;

/// Show the current state or a saved plan
///
/// Prints the state, or the plan or state in a file that is named. With -html, writes a page for a browser instead: one file that
/// needs no network, with every change, what becomes of its attributes, why, what policies say, what is left out, the graph and the
/// order of steps.
#[derive(clap::Args, Debug)]
pub struct ShowArgs {
    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write the JSON into a file, beside the text for people
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,

    /// Write a page for a browser, into this file or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub html: Option<String>,

    /// Write a saved plan as Markdown, for the comment of a review, into this file or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub markdown: Option<String>,

    /// Show the state
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub state: bool,

    /// Show this saved plan
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Show the configuration; needs -json
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub config: bool,

    /// Show one module of the configuration, by its folder; needs -json. With -plan: show only changes in this module, by its address
    #[arg(long, value_name = "DIR|ADDRESS")]
    pub module: Option<PathBuf>,

    /// Show sensitive values
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub show_sensitive: bool,

    /// What of a plan is shown.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// The file of a saved plan or of a state
    #[arg(value_name = "[FILE]", hide = true)]
    pub words: Vec<String>,
}

impl ShowArgs {
    /// Returns what is asked for, or what is wrong with the flags.
    pub fn asked(&self) -> Result<ShowTarget, Diagnostic> {
        let named = [
            self.state.then_some(ShowTarget::State),
            self.plan.clone().map(ShowTarget::Plan),
            self.config.then_some(ShowTarget::Config),
            self.module.clone().filter(|_| self.plan.is_none()).map(ShowTarget::Module),
        ];
        let mut named = named.into_iter().flatten();
        let problem = |summary, detail| Err(Diagnostic::error(summary).detail(detail));
        match (named.next(), named.next(), self.words.as_slice()) {
            (Some(_), Some(_), _) => problem(
                "Conflicting object types to show",
                "The -state, -plan=FILENAME, -config, and -module=DIR options are mutually-exclusive, to specify which kind of object to show.",
            ),
            (Some(_), None, [_, ..]) => problem(
                "Unexpected command line arguments",
                "This command does not expect any positional arguments when using a target-selection option.",
            ),
            (Some(ShowTarget::Config), ..) if !self.json => problem(
                "JSON output required for configuration",
                "The -config option requires -json to be specified.",
            ),
            (Some(ShowTarget::Module(_)), ..) if !self.json => problem(
                "JSON output required for module",
                "The -module=DIR option requires -json to be specified.",
            ),
            (Some(shown), None, []) => Ok(shown),
            (None, _, []) => Ok(ShowTarget::State),
            (None, _, [file]) => Ok(ShowTarget::File(PathBuf::from(file))),
            (None, ..) => Err(miscounted(
                "Too many command line arguments",
                "Expected at most one positional argument for the legacy positional argument mode.",
            )),
        }
    }
}

impl ShowArgs {
    /// Returns what is wrong with the flags of a page.
    fn check_page(&self) -> Result<(), Diagnostics> {
        let incompatible =
            |why: &str| Err(Diagnostic::error("Incompatible options").detail(why).into());
        match self {
            Self { json: true, .. } | Self { json_into: Some(_), .. } => {
                incompatible("Of -html and JSON, only one can be written.")
            }
            Self { markdown: Some(_), .. } => {
                incompatible("Of -html and -markdown, only one can be written.")
            }
            Self { show_sensitive: true, .. } => incompatible(
                "A page is made to be passed on, and holds no sensitive values: -html does not go with -show-sensitive.",
            ),
            _ if !self.reading.reading(&[])?.is_whole() || self.module.is_some() => incompatible(
                "A page shows the whole plan, and filters it where it is read: -html goes with neither -only, -type nor -module.",
            ),
            _ => Ok(()),
        }
    }
}

impl ShowArgs {
    /// Returns what is wrong with the flags of a comment.
    fn check_comment(&self) -> Result<(), Diagnostics> {
        let incompatible =
            |why: &str| Err(Diagnostic::error("Incompatible options").detail(why).into());
        match self {
            Self { json: true, .. } | Self { json_into: Some(_), .. } => {
                incompatible("Of -markdown and JSON, only one can be written.")
            }
            Self { show_sensitive: true, .. } => incompatible(
                "A comment is made to be passed on, and holds no sensitive values: -markdown does not go with -show-sensitive.",
            ),
            _ => Ok(()),
        }
    }

    /// The modules of which changes are shown, by their addresses.
    fn modules(&self) -> Vec<String> {
        let modules = self.module.iter().filter(|_| self.plan.is_some());
        modules.map(|it| it.display().to_string()).collect()
    }
}

/// Writes a saved plan as a comment.
fn comment(
    ui: &Ui,
    world: &Arc<World>,
    (args, asked): (&ShowArgs, &ShowTarget),
    file: &str,
) -> Result<u8, Diagnostics> {
    let Shown::Plan(plan, schemas, report) = show(&ui.host(world), asked)? else {
        return Err(Diagnostic::error("Not a saved plan")
            .detail("A comment is written of a saved plan: name its file behind -markdown, or with -plan=FILE.")
            .into());
    };
    let told = view::markdown::plan::Told {
        plan: Some((&plan, &schemas)),
        report: report.as_ref(),
        problems: &Diagnostics::new(),
        sources: &ui.sources,
    };
    let reading = args.reading.reading(&args.modules())?;
    let more = format!("`{PROGRAM} show` of the plan has everything.");
    let text = view::markdown::plan::document(&told, &reading, &more);
    present::written(ui, world, ("markdown", "comment"), file, &text)
}

/// Shows what is asked for.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ShowArgs) -> Result<u8, Diagnostics> {
    let asked = args.asked()?;
    if let Some(file) = &args.html {
        args.check_page()?;
        let look = Look { style: Style::default(), ..ui.look() };
        let text = page(&ui.host(world), &asked, |it| view::page::draw(it, look))?;
        return present::page(ui, world, file, &text);
    }
    if let Some(file) = &args.markdown {
        args.check_comment()?;
        return comment(ui, world, (args, &asked), file);
    }
    if args.json && args.json_into.is_some() {
        return Err(two_streams().into());
    }
    if args.json {
        ui.json(&format!("{}\n", show_json(&ui.host(world), &asked)?));
        return Ok(0);
    }
    if let Some(file) = &args.json_into {
        let text = format!("{}\n", show_json(&ui.host(world), &asked)?);
        present::document(world, file, &text)?;
    }
    let manner = Manner { show_sensitive: args.show_sensitive, ..Manner::default() };
    ui.begin(manner, None)?;
    ui.reads(args.reading.reading(&args.modules())?, false);
    let ui = &*ui;
    ui.hold();
    match show(&ui.host(world), &asked)? {
        Shown::NoState => ui.out("No state.\n"),
        Shown::State(state, schemas) => ui.show(|out| {
            let objects = view::state::objects(&state, &schemas);
            view::state::write(out, &objects, &state.outputs, &schemas, ui.look())
        }),
        Shown::Plan(plan, schemas, said) => {
            ui.show(|out| view::plan::write(out, (&plan, &schemas), ui.look(), ui.reading()));
            if let Some(report) = said {
                ui.out(&format!("\n{}", view::policy::report(&report, true, &ui.style())));
            }
        }
        Shown::Document(text) => ui.json(&format!("{text}\n")),
    }
    Ok(0)
}
