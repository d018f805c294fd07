//! `init`, `get`, `validate`: a folder made ready, and checked.

use std::path::Path;
use std::sync::Arc;

use entail::backend::workspace;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::install::Event;
use entail::observe::pool::Pool;
use entail::operation::modules::install_modules;
use entail::operation::plugins::{Choices, install as install_providers};
use entail::operation::session::Session;
use entail::operation::validate;
use entail::state::State;
use entail::world::World;

use super::{begin, unless_interrupted, with_interrupts, with_room};
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
        let (config, problems) = root_alone(ui, world)?;
        ui.diagnostics(problems);
        if config.is_empty() {
            step(ui, &Step::Empty);
            return Ok(0);
        }
        step(ui, &Step::Backend);
        backend(world, &config)?;
        if args.get {
            modules(ui, world)?;
        }
        step(ui, &Step::Providers);
        let session = Session::open_unchecked(world.clone(), ui.sources.clone())?;
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

fn step(ui: &Ui, step: &Step) {
    ui.step(step);
}

fn root_alone(
    ui: &Ui,
    world: &World,
) -> Result<(entail::config::Module, Diagnostics), Diagnostics> {
    let (module, problems) = entail::config::load_module(&world.root, ".", &ui.sources);
    match module {
        Some(module) if !problems.has_errors() => Ok(((*module).clone(), problems)),
        _ => Err(problems),
    }
}

/// Writes down that the backend block was seen.
fn backend(world: &World, root: &entail::config::Module) -> Result<(), Diagnostics> {
    let Some(backend) = &root.backend else { return Ok(()) };
    let data = workspace::data_folder(world);
    let document = format!(
        "{{\n  \"version\": 3,\n  \"terraform_version\": \"{}\",\n  \"backend\": {{\n    \"type\": \"{}\",\n    \"config\": null,\n    \"hash\": 0\n  }}\n}}\n",
        entail::state::write::WRITTEN_VERSION,
        backend.kind.text
    );
    let write = std::fs::create_dir_all(&data)
        .and_then(|()| std::fs::write(data.join("terraform.tfstate"), document));
    write.map_err(|it| not_written(&data, &it))?;
    Ok(())
}

fn not_written(folder: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Cannot prepare the working directory").detail(format!(
        "The folder {} cannot be written: {error}. Make it writable, then run init again.",
        folder.display()
    ))
}

fn modules(ui: &Ui, world: &World) -> Result<(), Diagnostics> {
    let data = workspace::data_folder(world);
    let (done, problems) = install_modules(&world.root, &data, &ui.sources);
    if problems.has_errors() {
        return Err(problems);
    }
    ui.diagnostics(problems);
    if done.has_calls && !done.installed.is_empty() {
        step(ui, &Step::Modules);
    }
    for it in done.installed {
        step(ui, &Step::Module(it.key, it.directory));
    }
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
    modules(ui, world)?;
    Ok(0)
}

/// Checks the configuration, and says how many problems there are.
pub fn validate(ui: &mut Ui, world: &Arc<World>, args: &ValidateArgs) -> Result<u8, Diagnostics> {
    let mut world = world.clone();
    if let Some(directory) = args.directory()? {
        let mut elsewhere = (*world).clone();
        elsewhere.root = elsewhere.root.join(directory);
        world = Arc::new(elsewhere);
    }
    let json = args.output.json;
    if !json {
        begin(ui, &args.output, false)?;
    }
    let ui = &*ui;
    with_room(|runtime| {
        let problems = runtime.block_on(check(ui, &world));
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

async fn check(ui: &Ui, world: &Arc<World>) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let session = match Session::open_for_validation(world.clone(), ui.sources.clone()) {
        Ok((session, found)) => {
            problems.extend(found);
            session
        }
        Err(found) => return found,
    };
    let (pool, found) =
        Pool::start(world.clone(), session.needed_providers(&State::default())).await;
    problems.extend(found);
    problems.extend(validate::check(&session, &pool).await);
    problems.once()
}
