//! `show`: the state, a saved plan, the configuration.

use std::path::Path;
use std::sync::Arc;

use entail::address::{Mode, Provider};
use entail::backend::local::Choice;
use entail::config::load_module;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::observe::pool::Pool;
use entail::observe::supply::Supply;
use entail::operation::saved;
use entail::operation::session::Session;
use entail::plan::configuration::{document, module_document};
use entail::plan::file::is_archive;
use entail::plan::{json, state_json};
use entail::schema::Schema;
use entail::state::State;
use entail::world::World;

use super::{schemas, with_room};
use crate::commands::show::{ShowArgs, Shown};
use crate::commands::store::Store;
use crate::ui::{Manner, Ui};
use crate::view;

/// Shows what is asked for.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ShowArgs) -> Result<u8, Diagnostics> {
    let asked = args.asked()?;
    if !args.json {
        ui.begin(
            Manner { show_sensitive: args.show_sensitive, ..Manner::default() },
            args.json_into.as_deref(),
        )?;
    }
    let ui = &*ui;
    with_room(|runtime| runtime.block_on(show(ui, world, &asked, args.json)))?
}

async fn show(
    ui: &Ui,
    world: &Arc<World>,
    asked: &Shown,
    as_json: bool,
) -> Result<u8, Diagnostics> {
    match asked {
        Shown::State => {
            let state = Store::open(ui, world, &Choice::default())?.read(ui)?;
            if state.is_none() && !as_json {
                ui.out("No state.\n");
                return Ok(0);
            }
            state_document(ui, world, &state.unwrap_or_default(), as_json).await
        }
        Shown::Plan(path) => plan_document(ui, world, path, as_json).await,
        Shown::File(path) => {
            let bytes = std::fs::read(world.root.join(path)).map_err(|it| unreadable(path, &it))?;
            if is_archive(&bytes) {
                return plan_document(ui, world, path, as_json).await;
            }
            let state = entail::state::read::read(&bytes).map_err(|_| unreadable_kind(path))?;
            state_document(ui, world, &state.unwrap_or_default(), as_json).await
        }
        Shown::Config => configuration(ui, world).await,
        Shown::Module(folder) => module(ui, world, folder),
    }
}

async fn configuration(ui: &Ui, world: &Arc<World>) -> Result<u8, Diagnostics> {
    let (session, problems) = Session::open_for_validation(world.clone(), ui.sources.clone())?;
    if problems.has_errors() {
        return Err(problems);
    }
    let (pool, problems) =
        Pool::schemas_only(&session.supply, session.needed_providers(&State::default())).await;
    if problems.has_errors() {
        return Err(problems);
    }
    let find = |provider: &Provider, mode: Mode, kind: &str| {
        pool.resource_schema(provider, mode, kind).cloned()
    };
    ui.out(&format!("{}\n", document(&session.config, &find)));
    Ok(0)
}

fn module(ui: &Ui, world: &Arc<World>, folder: &Path) -> Result<u8, Diagnostics> {
    let (module, problems) =
        load_module(&world.root.join(folder), &folder.display().to_string(), &ui.sources);
    match module {
        Some(module) if !problems.has_errors() => ui.out(&format!("{}\n", module_document(module))),
        _ => return Err(problems),
    }
    Ok(0)
}

/// Prints a state as one JSON document.
pub fn state_json(ui: &Ui, world: &Arc<World>, state: State) -> Result<u8, Diagnostics> {
    with_room(|runtime| runtime.block_on(state_document(ui, world, &state, true)))?
}

async fn state_document(
    ui: &Ui,
    world: &Arc<World>,
    state: &State,
    as_json: bool,
) -> Result<u8, Diagnostics> {
    let needed = state.resources.values().map(|it| it.provider.provider.clone());
    let (pool, problems) = Pool::schemas_only(&Supply::of(world, &ui.sources), needed).await;
    if as_json {
        if problems.has_errors() {
            return Err(problems);
        }
        let find = |provider: &Provider, mode: Mode, kind: &str| {
            pool.resource_schema(provider, mode, kind).cloned()
        };
        ui.out(&format!("{}\n", state_json::state_document(state, &find)?));
        return Ok(0);
    }
    let schemas = schemas(&pool);
    ui.show(|out| {
        view::state::write(
            out,
            &view::state::objects(state, &schemas),
            &state.outputs,
            &schemas,
            ui.look(),
        )
    });
    Ok(0)
}

async fn plan_document(
    ui: &Ui,
    world: &Arc<World>,
    path: &Path,
    as_json: bool,
) -> Result<u8, Diagnostics> {
    let loaded = saved::load(&world.root.join(path))?;
    let config = loaded.config(world, &ui.sources)?;
    let mut needed: Vec<Provider> =
        loaded.plan.prior_state.resources.values().map(|it| it.provider.provider.clone()).collect();
    needed.extend(loaded.plan.changes.iter().map(|it| it.provider.provider.clone()));
    needed.extend(
        config
            .modules
            .values()
            .flat_map(|it| it.resources.values().map(|it| it.provider_source.clone())),
    );
    let (pool, problems) = Pool::schemas_only(&Supply::of(world, &ui.sources), needed).await;
    if as_json {
        if problems.has_errors() {
            return Err(problems);
        }
        let find = |provider: &Provider, mode: Mode, kind: &str| -> Option<Arc<Schema>> {
            pool.resource_schema(provider, mode, kind).cloned()
        };
        ui.out(&format!("{}\n", json::plan_document(&loaded.plan, &config, &find)?));
        return Ok(0);
    }
    ui.show(|out| view::plan::write(out, &loaded.plan, &schemas(&pool), ui.look()));
    Ok(0)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read the given file as a state or plan file")
        .detail(format!("{}: {error}", path.display()))
}

fn unreadable_kind(path: &Path) -> Diagnostic {
    Diagnostic::error("Failed to read the given file as a state or plan file")
        .detail(format!("{} is neither a saved plan nor a state.", path.display()))
}
