//! `init`, `get`: a folder is made ready – its modules, its backend, its providers.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use super::host::Host;
use super::with_room;
use crate::address::ModuleInstance;
use crate::backend::workspace;
use crate::config::{ModuleCall, files};
use crate::diagnostic::Diagnostics;
use crate::install::{Event, Settings};
use crate::operation::backends::{self, Event as BackendEvent};
use crate::operation::modules::{How, Progress, copy_module, install_modules};
use crate::operation::plugins::{Choices, LockFile, install as install_providers};
use crate::operation::policies::{self, Progress as PolicyProgress};
use crate::operation::session::{Readings, Session, early_context, root_place};
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
        let called = valid(step, helpers_of(host.world, &options.tests, host.sources))?;
        // Modules are installed before anybody is told what is wrong with the backend: that may be right once they are there.
        let backend = match &options.backend {
            Some(backend) => set_backend_up(host, backend, step)?,
            None => Ok(Diagnostics::new()),
        };
        let (mut told, mut readings) = (Diagnostics::new(), Readings::FilesFirst);
        if options.get {
            (told, readings) =
                install_all(host, options.upgrade, &called, &|progress| match progress {
                    Progress::Begun if options.upgrade => step(Step::UpgradingModules),
                    other => step(Step::ModuleProgress(other)),
                })?;
        }
        let mut warnings = backend.map_err(|found| behind(&told, found))?;
        let reads_state = options.backend.is_some();
        let session = host.asking(|| {
            let (world, sources) = (host.world.clone(), host.sources.clone());
            Session::open_unchecked(world, sources, readings, reads_state)
        });
        let session = valid(step, session.map_err(|found| behind(&told, found)))?;
        warnings.extend(told.beyond(&session.warnings));
        warnings.extend(session.warnings.clone());
        warnings.extend(files::of_others(&host.world.files, &host.world.root));
        let done = runtime.block_on(finish(host, (session, readings), options, step));
        match done {
            Ok(found) => warnings.extend(found),
            Err(found) => return Err(behind(&warnings, found)),
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

/// Returns problems with the warnings that were met before them.
fn behind(warnings: &Diagnostics, problems: Diagnostics) -> Diagnostics {
    Diagnostics(warnings.iter().cloned().chain(problems).collect())
}

/// Finds providers for a configuration that is read. Returns warnings.
async fn finish(
    host: &Host<'_>,
    (mut session, readings): (Session, Readings),
    options: &InitOptions,
    step: TellStep<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let tests = Open { world: host.world, sources: host.sources, directory: &options.tests };
    let (required, told) = valid(step, tests.requirements(&session.config))?;
    session.also_required = required;
    // Test files are read whenever the module is.
    let times = if readings == Readings::Installing { 3 } else { 2 };
    let mut warnings: Diagnostics =
        std::iter::repeat_n(told.0, times).flatten().collect::<Vec<_>>().into();
    step(Step::Providers);
    // A backend that is left as it is need not be within reach, nor the keys of its state.
    let state = match options.backend {
        Some(_) => session.snapshot()?.state.unwrap_or_default(),
        None => State::default(),
    };
    match providers(host, &session, &state, (&options.providers, step)).await {
        Ok(found) => warnings.extend(found),
        Err(found) => return Err(behind(&warnings, found)),
    }
    Ok(warnings)
}

/// Sets the backend up. Warnings and what is wrong with it come back, to be told when modules are there.
///
/// # Errors
///
/// If the root module cannot be read.
fn set_backend_up(
    host: &Host<'_>,
    flags: &backends::Init,
    step: TellStep<'_>,
) -> Result<Result<Diagnostics, Diagnostics>, Diagnostics> {
    let is_read = Cell::new(false);
    let root = host.asking(|| {
        is_read.set(false);
        let root = root_place(host.world, host.sources)?;
        is_read.set(true);
        // A missing variable is asked for before anything is done.
        backends::check_arguments(&root)?;
        Ok(root)
    });
    if !is_read.get() {
        return valid(step, root).map(|_| Ok(Diagnostics::new()));
    }
    step(Step::Backend);
    Ok(root
        .and_then(|root| backends::initialize(&root, host.sources, flags, &Steps { host, step })))
}

/// Tells why initialization ends where the configuration cannot be read.
fn valid<T>(step: TellStep<'_>, read: Result<T, Diagnostics>) -> Result<T, Diagnostics> {
    read.inspect_err(|_| step(Step::Invalid))
}

fn is_empty(world: &World) -> bool {
    files::config_files(&world.files, &world.root).is_some_and(|it| it.is_empty())
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

    fn answer(&self, question: &str, explanation: &str) -> Option<String> {
        self.host.ask.answer(question, explanation, false)
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
        // Tests that cannot be read keep nobody from having the modules that the configuration calls.
        let (called, broken) = match helpers_of(host.world, tests, host.sources) {
            Ok(called) => (called, Diagnostics::new()),
            Err(broken) => (Vec::new(), broken),
        };
        let (mut told, _) = install_all(host, upgrade, &called, &|progress| match progress {
            Progress::Begun => {}
            other => step(Step::ModuleProgress(other)),
        })?;
        told.extend(broken);
        if told.has_errors() {
            return Err(told.once());
        }
        host.tell.problems(told);
        Ok(())
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

/// A call that stands in no module, with the address before its name.
type Called = (ModuleInstance, ModuleCall);

/// Installs modules, and returns warnings and how often the configuration is read.
///
/// - `called`: calls in tests.
fn install_all(
    host: &Host<'_>,
    upgrade: bool,
    called: &[Called],
    tell: &dyn Fn(Progress),
) -> Result<(Diagnostics, Readings), Diagnostics> {
    let data = workspace::data_folder(host.world);
    let settings = Settings::of(host.world);
    let how = How { upgrade, settings: &settings, tell };
    host.asking(|| {
        let context = early_context(host.world, host.sources)?;
        let (done, problems) = install_modules(&context, &data, called, how);
        let readings = if done.has_calls { Readings::Installing } else { Readings::FilesFirst };
        if problems.has_errors() { Err(problems) } else { Ok((problems, readings)) }
    })
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
