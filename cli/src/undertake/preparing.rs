//! `init`, `get`, `validate`: a folder made ready, and checked.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use entail::backend::local::Choice;
use entail::backend::workspace;
use entail::diagnostic::{Diagnostic, Diagnostics, Sources};
use entail::install::requirement::Requirements;
use entail::install::{Event, Settings};
use entail::observe::pool::Pool;
use entail::operation::modules::{How, Progress, copy_module, install_modules};
use entail::operation::plugins::{Choices, install as install_providers};
use entail::operation::session::{Session, ground, root_place};
use entail::operation::{backends, validate};
use entail::state::State;
use entail::world::World;

use super::{asking, begin, unless_interrupted, with_interrupts, with_room};
use crate::commands::get::GetArgs;
use crate::commands::init::InitArgs;
use crate::commands::validate::ValidateArgs;
use crate::ui::Ui;
use crate::view::init::Step;
use crate::view::validate as view;

/// Installs modules, sets the backend up, and finds providers.
pub fn init(ui: &mut Ui, world: &Arc<World>, args: &InitArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    args.check()?;
    let ui = &*ui;
    with_interrupts(ui, |runtime| {
        if let Some(source) = args.from_module.as_ref().filter(|it| !it.is_empty()) {
            step(ui, &Step::Copying(source.clone()));
            let settings = Settings::of(world);
            copy_module(
                world,
                source,
                &How { upgrade: false, settings: &settings, tell: &|_| {} },
            )?;
        }
        if is_empty(world) {
            step(ui, &Step::Empty);
            return Ok(0);
        }
        if args.backend {
            let root = asking(ui, world, || {
                let root = root_place(world, &ui.sources)?;
                // A missing variable is asked for before anything is done.
                backends::likely(&root, &Choice::default(), &workspace::data_folder(world))?;
                Ok(root)
            });
            let root = valid(ui, root)?;
            step(ui, &Step::Backend);
            let flags = backends::Init {
                reconfigure: args.reconfigure,
                migrate: args.migrate_state,
                force_copy: args.force_copy,
                overrides: args.backend_config.clone(),
                lock: args.lock.lock.then_some(args.lock.lock_timeout),
            };
            let warnings = backends::initialize(&root, &ui.sources, &flags, &Terminal(ui))?;
            ui.diagnostics(warnings);
        }
        if args.get {
            let tell = |progress: Progress| match progress {
                Progress::Begun if args.upgrade => step(ui, &Step::UpgradingModules),
                other => step(ui, &Step::ModuleProgress(other)),
            };
            modules(ui, world, args.upgrade, &tell)?;
        }
        let session =
            asking(ui, world, || Session::open_unchecked(world.clone(), ui.sources.clone()));
        let session = valid(ui, session)?;
        step(ui, &Step::Providers);
        let state = session.snapshot()?.state.unwrap_or_default();
        let warnings = runtime.block_on(providers(ui, &session, &state, args))?;
        step(ui, &Step::Gap);
        if !warnings.is_empty() {
            ui.diagnostics(warnings);
            step(ui, &Step::Gap);
        }
        step(ui, &Step::Done);
        Ok(0)
    })?
}

/// Tells why initialization ends where the configuration cannot be read.
fn valid<T>(ui: &Ui, read: Result<T, Diagnostics>) -> Result<T, Diagnostics> {
    read.inspect_err(|_| step(ui, &Step::Invalid))
}

fn is_empty(world: &World) -> bool {
    entail::config::files::config_files(&world.root).is_some_and(|it| it.is_empty())
}

/// Tells of the backend on the terminal, and asks there.
struct Terminal<'a>(&'a Ui);

impl backends::Asking for Terminal<'_> {
    fn tell(&self, event: backends::Event) {
        step(self.0, &Step::BackendEvent(event));
    }

    fn ask(&self, question: &str, explanation: &str) -> Option<bool> {
        if !self.0.may_ask() {
            return None;
        }
        self.0.ask(question, explanation, false).ok().map(|it| it == "yes")
    }
}

fn step(ui: &Ui, step: &Step) {
    ui.step(step);
}

fn modules(
    ui: &Ui,
    world: &Arc<World>,
    upgrade: bool,
    tell: &dyn Fn(Progress),
) -> Result<(), Diagnostics> {
    let data = workspace::data_folder(world);
    let settings = Settings::of(world);
    let how = How { upgrade, settings: &settings, tell };
    let problems = asking(ui, world, || {
        let ground = ground(world, &ui.sources)?;
        let (_, problems) = install_modules(&ground, &data, how);
        if problems.has_errors() { Err(problems) } else { Ok(problems) }
    })?;
    ui.diagnostics(problems);
    Ok(())
}

/// Installs providers; warnings come back, to be shown when everything else is.
async fn providers(
    ui: &Ui,
    session: &Session,
    state: &State,
    args: &InitArgs,
) -> Result<Diagnostics, Diagnostics> {
    let choices = Choices {
        upgrade: args.upgrade,
        folders: args.plugin_dir.clone(),
        readonly: args.lockfile.as_deref() == Some("readonly"),
    };
    let tell = |event: Event| step(ui, &Step::Provider(event));
    let install = install_providers(session, state, &choices, &tell);
    let (lock_file, warnings) = unless_interrupted(ui, install).await?;
    step(ui, &Step::Lock(lock_file));
    Ok(warnings)
}

/// Installs modules only.
pub fn get(ui: &mut Ui, world: &Arc<World>, args: &GetArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    crate::commands::no_words(&args.words)?;
    let ui = &*ui;
    modules(ui, world, args.update, &|progress| match progress {
        Progress::Begun => {}
        other => step(ui, &Step::ModuleProgress(other)),
    })?;
    Ok(0)
}

/// Checks the configuration, and says how many problems there are.
pub fn validate(ui: &mut Ui, world: &Arc<World>, args: &ValidateArgs) -> Result<u8, Diagnostics> {
    let mut world = world.clone();
    let mut sources = ui.sources.clone();
    let mut unreadable = None;
    if let Some(directory) = args.directory()? {
        let root = world.root.join(directory);
        let folder = shown_folder(&root, &world.root);
        unreadable = (!root.is_dir()).then(|| unreadable_folder(&folder));
        if !folder.is_empty() {
            sources = sources.below(&folder);
        }
        world = Arc::new(World { root, ..(*world).clone() });
    }
    let json = args.output.messages.json;
    if !json {
        begin(ui, &args.output, false)?;
    }
    let ui = &*ui;
    with_room(|runtime| {
        let problems = match unreadable {
            Some(problem) => problem.into(),
            None => runtime.block_on(check(&world, &sources)).unwrap_or_else(|it| it),
        };
        if json {
            ui.out(&view::json(&problems, &ui.sources));
            return Ok(u8::from(problems.has_errors()));
        }
        let text = view::text(&problems, ui.style());
        let code = ui.diagnostics(problems);
        ui.say(&text);
        Ok(code)
    })?
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

/// Checks providers first, then names, then every block; what is wrong with providers or module calls is told alone.
async fn check(world: &Arc<World>, sources: &Sources) -> Result<Diagnostics, Diagnostics> {
    let (session, mut problems) = Session::load(world.clone(), sources.clone())?;
    let (pool, mut unusable) =
        Pool::start(&session.supply, session.needed_providers(&State::default())).await;
    let plugins = session.supply.plugins().ok();
    if let Some(plugins) = plugins {
        unusable.extend(plugins.check_available(&Requirements::of(&session.config).0));
    }
    if unusable.has_errors() {
        return Err(unusable.once());
    }
    problems.extend(unusable);
    let told = session.check_names()?;
    problems.extend(validate::check(&session, &pool, &told).await);
    problems.extend(validate::missing_keys(&session));
    problems.extend(told);
    problems.extend(plugins.and_then(|it| it.warning()));
    Ok(problems.once())
}
