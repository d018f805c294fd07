//! `init`, `get`: a folder is made ready – its modules, its backend, its providers.

use std::path::{Path, PathBuf};

use super::host::Host;
use super::with_room;
use crate::backend::workspace;
use crate::diagnostic::Diagnostics;
use crate::install::{Event, Settings};
use crate::operation::backends::{self, Event as BackendEvent};
use crate::operation::modules::{How, Progress, copy_module, install_modules};
use crate::operation::plugins::{Choices, LockFile, install as install_providers};
use crate::operation::policies::{self, Progress as PolicyProgress};
use crate::operation::session::{Session, early_context, root_place};
use crate::state::State;
use crate::testing::{Open, helpers_of};
use crate::world::World;

/// What `init` is asked.
#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    /// The source of a module that is copied into the folder first.
    pub from_module: Option<String>,
    /// Whether the backend is set up, and how.
    pub backend: Option<backends::Init>,
    /// Whether modules are installed.
    pub get: bool,
    /// Whether newer modules and providers are looked for.
    pub upgrade: bool,
    /// The folder of tests, whose modules and providers are installed, too.
    pub tests: PathBuf,
    /// Which providers are installed from where.
    pub providers: Choices,
    /// `-policy=…`: policies that are installed beside those of the CLI configuration.
    pub policies: Vec<String>,
}

/// A step of `init`.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The folder has no configuration.
    Empty,
    /// The configuration cannot be read; what is wrong with it follows.
    Invalid,
    /// A module is copied into the folder: its source.
    Copying(String),
    /// The backend is set up.
    Backend,
    /// Something became of the backend.
    BackendEvent(BackendEvent),
    /// Modules are installed in their newest versions.
    UpgradingModules,
    /// A module is fetched or found.
    ModuleProgress(Progress),
    /// Something happens to policies that have a source.
    Policies(PolicyProgress),
    /// Providers are found.
    Providers,
    /// Something happens to a provider.
    Provider(Event),
    /// What became of the lock file.
    Lock(LockFile),
    /// Warnings may follow.
    Gap,
    /// Everything is in place.
    Done,
}

/// Who is told of each step.
pub type TellStep<'a> = &'a (dyn Fn(Step) + Sync);

/// Installs modules, sets the backend up, and finds providers.
///
/// # Errors
///
/// If the configuration cannot be read, or something cannot be had. What was installed by then stays.
pub fn init(host: &Host<'_>, options: &InitOptions, step: TellStep<'_>) -> Result<(), Diagnostics> {
    with_room(|runtime| {
        if let Some(source) = &options.from_module {
            step(Step::Copying(source.clone()));
            let settings = Settings::of(host.world);
            let how = How { upgrade: false, settings: &settings, tell: &|_| {} };
            copy_module(host.world, source, &how)?;
        }
        if options.get {
            let how = (options.upgrade, options.providers.readonly);
            install_policies(host, &options.policies, how, step)?;
        }
        if is_empty(host.world) {
            step(Step::Empty);
            return Ok(());
        }
        if let Some(backend) = &options.backend {
            set_backend_up(host, backend, step)?;
        }
        let mut told = Diagnostics::new();
        if options.get {
            told =
                install_all(host, (options.upgrade, &options.tests), &|progress| match progress {
                    Progress::Begun if options.upgrade => step(Step::UpgradingModules),
                    other => step(Step::ModuleProgress(other)),
                })?;
        }
        let session =
            host.asking(|| Session::open_unchecked(host.world.clone(), host.sources.clone()));
        let mut session = valid(step, session)?;
        let tests = Open { world: host.world, sources: host.sources, directory: &options.tests };
        session.also_required = valid(step, tests.requirements(&session.config))?;
        step(Step::Providers);
        let state = session.snapshot()?.state.unwrap_or_default();
        let mut warnings = session.warnings.clone().beyond(&told);
        let found = providers(host, &session, &state, (&options.providers, step));
        match runtime.block_on(found) {
            Ok(found) => warnings.extend(found),
            Err(found) => {
                warnings.extend(found);
                return Err(warnings);
            }
        }
        step(Step::Gap);
        if !warnings.is_empty() {
            host.tell.problems(warnings);
            step(Step::Gap);
        }
        step(Step::Done);
        Ok(())
    })?
}

fn set_backend_up(
    host: &Host<'_>,
    flags: &backends::Init,
    step: TellStep<'_>,
) -> Result<(), Diagnostics> {
    let root = host.asking(|| {
        let root = root_place(host.world, host.sources)?;
        // A missing variable is asked for before anything is done.
        backends::check_arguments(&root)?;
        Ok(root)
    });
    let root = valid(step, root)?;
    step(Step::Backend);
    let warnings = backends::initialize(&root, host.sources, flags, &Steps { host, step })?;
    host.tell.problems(warnings);
    Ok(())
}

/// Tells why initialization ends where the configuration cannot be read.
fn valid<T>(step: TellStep<'_>, read: Result<T, Diagnostics>) -> Result<T, Diagnostics> {
    read.inspect_err(|_| step(Step::Invalid))
}

fn is_empty(world: &World) -> bool {
    crate::config::files::config_files(&world.files, &world.root).is_some_and(|it| it.is_empty())
}

/// Tells of the backend as of other steps, and asks the host.
struct Steps<'a> {
    host: &'a Host<'a>,
    step: TellStep<'a>,
}

impl backends::Asking for Steps<'_> {
    fn tell(&self, event: BackendEvent) {
        (self.step)(Step::BackendEvent(event));
    }

    fn ask(&self, question: &str, explanation: &str) -> Option<bool> {
        self.host.ask.agrees(question, explanation)
    }
}

/// Installs modules and policies, and nothing else.
///
/// # Errors
///
/// If one cannot be had. What was installed by then stays.
pub fn get(
    host: &Host<'_>,
    (upgrade, tests): (bool, &Path),
    words: &[String],
    step: TellStep<'_>,
) -> Result<(), Diagnostics> {
    with_room(|_| {
        install_policies(host, words, (upgrade, false), step)?;
        install_all(host, (upgrade, tests), &|progress| match progress {
            Progress::Begun => {}
            other => step(Step::ModuleProgress(other)),
        })
        .map(drop)
    })?
}

/// Installs policies that have a source, from the CLI configuration and from flags.
fn install_policies(
    host: &Host<'_>,
    words: &[String],
    (upgrade, readonly): (bool, bool),
    step: TellStep<'_>,
) -> Result<(), Diagnostics> {
    let tell = &|it| step(Step::Policies(it));
    let how = policies::How { upgrade, readonly, tell };
    policies::install(host.world, host.sources, words, how)
}

/// Installs modules, and returns the warnings that were told meanwhile.
fn install_all(
    host: &Host<'_>,
    (upgrade, tests): (bool, &Path),
    tell: &dyn Fn(Progress),
) -> Result<Diagnostics, Diagnostics> {
    let called = helpers_of(host.world, tests, host.sources)?;
    let data = workspace::data_folder(host.world);
    let settings = Settings::of(host.world);
    let how = How { upgrade, settings: &settings, tell };
    let problems = host.asking(|| {
        let context = early_context(host.world, host.sources)?;
        let (_, problems) = install_modules(&context, &data, &called, how);
        if problems.has_errors() { Err(problems) } else { Ok(problems) }
    })?;
    host.tell.problems(problems.clone());
    Ok(problems)
}

/// Installs providers; warnings come back, to be told when everything else is.
async fn providers(
    host: &Host<'_>,
    session: &Session,
    state: &State,
    (choices, step): (&Choices, TellStep<'_>),
) -> Result<Diagnostics, Diagnostics> {
    let tell = |event: Event| step(Step::Provider(event));
    let work = install_providers(session, state, choices, &tell);
    let (lock_file, warnings) = host.unless_stopped(work).await?;
    step(Step::Lock(lock_file));
    Ok(warnings)
}
