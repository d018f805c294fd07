//! `test`: runs the tests of a module.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::request::Request;
use entail::workflow::test::{Manner, Status, TestOptions, Tested, test};
use entail::world::World;

use super::begin;
use crate::arguments::groups::{OutputArgs, VariableArgs};
use crate::arguments::request;
use crate::interrupt;
use crate::ui::Ui;
use crate::view::junit;
use crate::view::test::{Listener, coverage};
use crate::watching::Watched;

/// Execute integration tests for modules
///
/// Runs every test file, and destroys what it made.
#[derive(clap::Args, Debug)]
pub struct TestArgs {
    /// Run this test file. May be repeated
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub filter: Vec<String>,

    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Print the plan or the state of every run
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub verbose: bool,

    /// Do as another program does in every detail: `opentofu`
    #[arg(long, value_name = "PROGRAM", conflicts_with = "strict")]
    pub compat: Option<String>,

    /// Fail where something is left behind, where a filter fits no file; keep the outputs of every run for later ones
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub strict: bool,

    /// How many things to do at once
    #[arg(long, value_name = "10", default_value_t = 10, hide_default_value = true)]
    pub parallelism: i64,

    /// Keep snapshots as they are now, and compare them with nothing
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub update_snapshots: bool,

    /// Tell of false assertions why the objects that they name are as they are
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub why: bool,

    /// Tell what of the module the tests exercise: `text`, `json` or `lcov`
    #[arg(long, value_name = "FORMAT")]
    pub coverage: Option<String>,

    /// Write that into this file
    #[arg(long, value_name = "FILE", requires = "coverage")]
    pub coverage_out: Option<PathBuf>,

    /// Run again what a change of files touches, until interrupted
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub watch: bool,

    /// Write what came of the tests into this file, as JUnit does
    #[arg(long, value_name = "FILE")]
    pub junit_xml: Option<PathBuf>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

impl TestArgs {
    /// Returns what is asked, or what is wrong with the flags.
    fn options(&self) -> Result<TestOptions, Diagnostics> {
        let mut problems = Diagnostics::new();
        let compat = problems.take(request::compat(self.compat.as_deref())).unwrap_or_default();
        let parallelism = problems.take(request::parallelism(self.parallelism));
        let variables = problems.take(self.variables.sources()).unwrap_or_default();
        if !problems.is_empty() {
            return Err(problems);
        }
        let format = self.coverage.as_deref().map(coverage::Format::parse);
        problems.take(format.transpose());
        if self.output.messages.json && self.coverage.is_some() && self.coverage_out.is_none() {
            problems.push(coverage::no_place());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let manner = match (compat, self.strict) {
            (true, _) => Manner::OPENTOFU,
            (false, true) => Manner::STRICT,
            (false, false) => Manner::USUAL,
        };
        let parallelism = parallelism.unwrap_or(1);
        Ok(TestOptions {
            directory: self.test_directory.clone(),
            filter: self.filter.clone(),
            verbose: self.verbose,
            manner,
            updates_snapshots: self.update_snapshots,
            explains: self.why,
            covers: self.coverage.is_some(),
            request: Request { variables, parallelism, ..Request::default() },
        })
    }
}

/// Runs the tests, and tells of each file when it is over.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &TestArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    let options = args.options()?;
    ui.interrupts.for_tests();
    let ui = &*ui;
    interrupt::heeding(ui, || {
        if args.watch {
            watched(ui, world, args, &options)
        } else {
            once(ui, world, args, &options)
        }
    })?
}

fn once(
    ui: &Ui,
    world: &Arc<World>,
    args: &TestArgs,
    options: &TestOptions,
) -> Result<u8, Diagnostics> {
    let (code, _) = tested(ui, world, args, options)?;
    Ok(code)
}

fn tested(
    ui: &Ui,
    world: &Arc<World>,
    args: &TestArgs,
    options: &TestOptions,
) -> Result<(u8, Tested), Diagnostics> {
    let listener = Listener::new(ui);
    let tested = test(&ui.host(world), options, &listener)?;
    if let Some(path) = &args.junit_xml {
        let document = junit::document(None, &listener.taken());
        junit::write(&world.root.join(path), &document, ("junit-xml", "tests"))?;
    }
    if let (Some(found), Some(format)) = (&tested.exercised, &args.coverage) {
        let text = coverage::Format::parse(format)?.text(found);
        match &args.coverage_out {
            Some(path) => coverage::write(&world.root.join(path), &text)?,
            None => ui.say(&format!("\n{text}")),
        }
    }
    let is_ended = ui.interrupts.stop.asked() > 1;
    let failed = tested.counts.status != Status::Pass || is_ended;
    Ok((u8::from(failed), tested))
}

/// Runs the tests, then again what each change of files touches, until the user has enough.
fn watched(
    ui: &Ui,
    world: &Arc<World>,
    args: &TestArgs,
    options: &TestOptions,
) -> Result<u8, Diagnostics> {
    let (mut code, mut last) = match tested(ui, world, args, options) {
        Ok((code, tested)) => (code, tested),
        Err(problems) => (ui.diagnostics(problems), Tested::default()),
    };
    // What the tests have written themselves is no change.
    let mut files = Watched::of(&world.root);
    loop {
        ui.say("\nWaiting for changes. An interrupt ends it.\n\n");
        let Some(changed) = files.changes(&ui.interrupts.stop) else { return Ok(code) };
        let touched = last.touched(&changed);
        // What could not be read before is read as a whole.
        let narrow = !last.reach.is_empty() && !touched.is_empty();
        let mut again = options.clone();
        if narrow {
            again.filter = touched;
        }
        match tested(ui, world, args, &again) {
            Ok((now, tested)) => (code, last) = (now, tested),
            Err(problems) => code = ui.diagnostics(problems),
        }
        files = Watched::of(&world.root);
    }
}
