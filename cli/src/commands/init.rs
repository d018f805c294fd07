//! `init`: prepares a working directory.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::backends;
use entail::operation::plugins::Choices;
use entail::workflow::init::{InitOptions, Step, init};
use entail::world::World;

use super::{begin, no_words};
use crate::arguments::groups::{LockArgs, OutputArgs, VariableArgs};
use crate::interrupt;
use crate::ui::Ui;

/// Prepare your working directory for other commands
///
/// Checks the configuration, installs modules, policies and providers, and sets up the backend. Safe to run again.
#[derive(clap::Args, Debug)]
pub struct InitArgs {
    /// Leave the backend as it is
    #[arg(long, alias = "cloud", action = ArgAction::Set, default_value_t = true)]
    pub backend: bool,

    /// A file of backend settings, or one setting as NAME=VALUE. May be repeated
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub backend_config: Vec<String>,

    /// Answer yes to copying state to a new backend
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub force_copy: bool,

    /// Copy this module into the empty working directory first
    #[arg(long, value_name = "SOURCE")]
    pub from_module: Option<String>,

    /// Do not install modules and policies
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub get: bool,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,

    /// `readonly` refuses to change the lock files
    #[arg(long, value_name = "MODE")]
    pub lockfile: Option<String>,

    /// Set up a changed backend and copy the state to it
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub migrate_state: bool,

    /// Take provider plugins from this directory alone. May be repeated
    #[arg(long, value_name = "DIR", action = ArgAction::Append)]
    pub plugin_dir: Vec<PathBuf>,

    /// Install the policies at this source address, too. May be repeated
    #[arg(long, value_name = "SOURCE", action = ArgAction::Append)]
    pub policy: Vec<String>,

    /// Set up a changed backend and leave the old state where it is
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub reconfigure: bool,

    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Install the newest modules, policies and providers that the constraints allow
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub upgrade: bool,

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

impl InitArgs {
    /// Says what is wrong with the flags.
    pub fn check(&self) -> Result<(), Diagnostics> {
        no_words(&self.words)?;
        if let Some(mode) = self.lockfile.as_deref().filter(|it| !["", "readonly"].contains(it)) {
            return Err(Diagnostic::error("Invalid -lockfile value")
                .detail(format!("The only value of -lockfile is \"readonly\", not {mode:?}."))
                .into());
        }
        if self.migrate_state && self.reconfigure {
            let problem = Diagnostic::error("Wrong combination of options");
            return Err(problem
                .detail("The -migrate-state and -reconfigure options are mutually-exclusive")
                .into());
        }
        Ok(())
    }
    fn options(&self) -> InitOptions {
        let backend = backends::Init {
            reconfigure: self.reconfigure,
            migrate: self.migrate_state,
            force_copy: self.force_copy,
            overrides: self.backend_config.clone(),
            lock: self.lock.lock.then_some(self.lock.lock_timeout),
        };
        let providers = Choices {
            upgrade: self.upgrade,
            folders: self.plugin_dir.clone(),
            readonly: self.lockfile.as_deref() == Some("readonly"),
        };
        InitOptions {
            from_module: self.from_module.clone().filter(|it| !it.is_empty()),
            backend: self.backend.then_some(backend),
            get: self.get,
            upgrade: self.upgrade,
            tests: self.test_directory.clone(),
            providers,
            policies: self.policy.clone(),
        }
    }
}

/// Says, in the manner that was asked for, that nothing can be prepared.
pub fn stop(ui: &mut Ui, args: &InitArgs) -> Result<(), Diagnostics> {
    begin(ui, &args.output, false)?;
    ui.step(&Step::Invalid);
    Ok(())
}

/// Installs modules, sets the backend up, and finds providers.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &InitArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    args.check()?;
    let ui = &*ui;
    let tell = |step| ui.step(&step);
    interrupt::heeding(ui, || init(&ui.host(world), &args.options(), &tell))??;
    Ok(0)
}
