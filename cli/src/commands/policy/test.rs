//! `policy test`: runs the cases beside policies.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::workflow::policy::testing::{TestOptions, test};
use entail::world::World;

use super::LimitArgs;
use crate::commands::silence;
use crate::ui::Ui;
use crate::view::policy::tests as view;

/// Run the tests of policies
///
/// Tests are files that end in .policytest.hcl, beside the policies that they test. Each case is a configuration with the
/// verdicts that it is to get, and fails where it gets others. Exits with 1 where a case fails, and with 2 where a test or a
/// policy is faulty. Without names, every test in this folder is run, at any depth.
#[derive(clap::Args, Debug)]
pub struct TestArgs {
    /// Judge by this file, folder, part of the library (library:NAME) or installed source address, too
    #[arg(long, value_name = "PATH|SOURCE")]
    pub policy: Vec<String>,

    /// What the rules may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Say which rules and premises no case meets
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub coverage: bool,

    /// Leave out one premise at a time, and name those that no test misses
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub mutate: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Files and folders with tests
    #[arg(value_name = "[DIR|FILE...]", hide = true)]
    pub words: Vec<String>,
}

/// Runs the tests. Exits with 1 where a case failed, with 2 where something is faulty.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &TestArgs) -> Result<u8, Diagnostics> {
    silence(ui, false)?;
    let options = TestOptions {
        paths: args.words.clone(),
        named: args.policy.clone(),
        coverage: args.coverage,
        mutate: args.mutate,
        limits: args.limits.limits()?,
        ..TestOptions::default()
    };
    let tested = test(&ui.host(world), &options)?;
    let (_, failed, faulty) = tested.counts();
    let code = match tested.problems.has_errors() || faulty > 0 {
        true => 2,
        false => u8::from(failed > 0),
    };
    match args.json {
        true => ui.json(&view::json(&tested, &options, &ui.sources)),
        false => {
            ui.out(&view::text(&tested, &options, &ui.sources));
            ui.remarks(tested.problems);
        }
    }
    Ok(code)
}
