//! `why`, `whatif`, `facts`, `graph`: what was decided, and what it rests on.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use entail::backend::local::Choice;
use entail::diagnostic::Diagnostics;
use entail::observe::supply::Supply;
use entail::operation::explain::{Ground, Question};
use entail::operation::session::Session;
use entail::operation::{plan, saved};
use entail::reason::catalogue;
use entail::request::Request;
use entail::world::World;
use serde_json::json;

use super::{lock, open, open_to_plan, read_state, root_variables, with_room};
use crate::arguments::request::{self, StateOptions};
use crate::commands::facts::FactsArgs;
use crate::commands::graph::GraphArgs;
use crate::commands::plan::PlanOptions;
use crate::commands::whatif::WhatifArgs;
use crate::commands::why::WhyArgs;
use crate::ui::{Manner, Ui};

/// Explains one decision.
pub fn why(ui: &mut Ui, world: &Arc<World>, args: &WhyArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    let options = args.options(ui)?;
    let ui = &*ui;
    with_room(|runtime| {
        let ask = |ground: &Ground| {
            let question = Question::read(&options.address, options.not.as_deref(), ground)?;
            Ok::<_, Diagnostics>(if args.provider { question.about_provider() } else { question })
        };
        let known = match options.plan.is_none() && args.provider {
            true => structured(ui, world, &options.planning)?.map(|it| it.0),
            false => None,
        };
        let known = known.filter(|it| ask(it).is_ok_and(|question| question.is_settled(it)));
        let ground = match (known, &options.plan) {
            (Some(known), _) => known,
            (None, Some(path)) => recorded(world, path, &options.planning)?,
            (None, None) => runtime.block_on(planned(ui, world, &options.planning))?,
        };
        let question = ask(&ground)?;
        let text = if args.json {
            format!("{:#}\n", question.answer_json(&ground)?)
        } else {
            question.answer(&ground, options.depth)?
        };
        ui.out(&text);
        Ok(0)
    })?
}

fn silence(ui: &mut Ui, input: bool) -> Result<(), Diagnostics> {
    Ok(ui.begin(Manner { silent: !input, ..Manner::default() }, None)?)
}

/// What is known before any provider is asked, and whether that is all there is to know of who serves what. Nothing
/// where it cannot be found out: a plan says why.
fn structured(
    ui: &Ui,
    world: &Arc<World>,
    options: &PlanOptions,
) -> Result<Option<(Ground, bool)>, Diagnostics> {
    let session = open(ui, world, &options.state, Supply::of(world, &ui.sources))?;
    let state = read_state(ui, &session)?.state.unwrap_or_default();
    let variables = root_variables(ui, &session, &options.request)?;
    let known = plan::whatif(&session, &options.request, state, &variables).ok();
    Ok(known.map(|known| {
        let is_all = known.providers.awaits.is_empty();
        (Ground::of_structured(&session, known), is_all)
    }))
}

/// What a saved plan rests on.
fn recorded(world: &World, path: &Path, options: &PlanOptions) -> Result<Ground, Diagnostics> {
    request::beside_plan(&options.request)?;
    Ok(Ground::of_saved(world, saved::load(&world.root.join(path))?)?)
}

async fn planned(
    ui: &Ui,
    world: &Arc<World>,
    options: &PlanOptions,
) -> Result<Ground, Diagnostics> {
    let session = open_to_plan(ui, world, &options.state, &options.request)?;
    let _lock = lock(ui, &session, &options.state, "OperationTypePlan")?;
    let state = read_state(ui, &session)?.state.unwrap_or_default();
    let variables = root_variables(ui, &session, &options.request)?;
    let planned = plan::plan(
        &session,
        &options.request,
        state,
        variables,
        &entail::operation::event::Silence,
    )
    .await?;
    let problems = planned.finished.problems.clone();
    if problems.has_errors() {
        ui.diagnostics(problems);
    }
    Ok(Ground::of_planned(&session, planned.finished))
}

/// Prints what takes part in a run, and through whom the rest does not; asks no provider.
pub fn whatif(ui: &mut Ui, world: &Arc<World>, args: &WhatifArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    crate::commands::no_words(&args.words)?;
    let state_options = StateOptions::from(&args.state);
    let request = request::build(&args.planning, &args.variables, &ui.sources)?;
    let ui = &*ui;
    with_room(|_| {
        let session = open(ui, world, &state_options, Supply::of(world, &ui.sources))?;
        let state = read_state(ui, &session)?.state.unwrap_or_default();
        let variables = root_variables(ui, &session, &request)?;
        let known = plan::whatif(&session, &request, state, &variables)?;
        let mut problems = known.lowered.problems.clone();
        problems.extend(session.warnings.iter().cloned());
        let rows = entail::operation::explain::parts(&known);
        if args.json {
            let name = |rows: &[(String, Option<String>)]| -> Vec<serde_json::Value> {
                rows.iter()
                    .map(|(address, via)| json!({"address": address, "through": via}))
                    .collect()
            };
            let document = json!({"selected": rows.selected, "excluded": name(&rows.excluded), "untargeted": rows.untargeted, "undecided": rows.open});
            ui.out(&format!("{document:#}\n"));
            ui.remarks(problems);
            return Ok(0);
        }
        ui.out(&rows.text());
        Ok(ui.diagnostics(problems))
    })?
}

/// Prints relations.
pub fn facts(ui: &mut Ui, world: &Arc<World>, args: &FactsArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    let relation = args.relation()?.map(str::to_owned);
    if args.catalogue {
        let found = catalogue::named(relation.as_deref())?;
        ui.out(&match args.json {
            true => format!("{:#}\n", catalogue::document(&found)),
            false => catalogue::text(&found),
        });
        return Ok(0);
    }
    let options = PlanOptions {
        request: request::build(&args.planning, &args.variables, &ui.sources)?,
        state: StateOptions::from(&args.state),
        out: None,
        detailed_exitcode: false,
    };
    let ui = &*ui;
    with_room(|runtime| {
        let is_early = relation.as_deref().is_some_and(Ground::is_about_providers);
        let known = match args.plan.is_none() && is_early {
            true => structured(ui, world, &options)?.filter(|it| it.1),
            false => None,
        };
        let ground = match (known, &args.plan) {
            (Some((known, _)), _) => known,
            (None, Some(path)) => recorded(world, path, &options)?,
            (None, None) => runtime.block_on(planned(ui, world, &options))?,
        };
        let tables = ground.relations(relation.as_deref())?;
        if args.json {
            ui.out(&format!("{:#}\n", json!(tables.into_iter().collect::<BTreeMap<_, _>>())));
            return Ok(0);
        }
        ui.write(|out| {
            for (name, rows) in &tables {
                for row in rows {
                    writeln!(out, "{name}({})", row.join(", "))?;
                }
            }
            Ok(())
        });
        Ok(0)
    })?
}

/// Prints what waits for what, as a drawing program reads it.
pub fn graph(ui: &mut Ui, world: &Arc<World>, args: &GraphArgs) -> Result<u8, Diagnostics> {
    silence(ui, true)?;
    crate::commands::no_words(&args.words)?;
    args.check()?;
    let ui = &*ui;
    with_room(|_| {
        if let Some(path) = &args.plan {
            let variables = args.variables.sources()?;
            request::beside_plan(&Request { variables, ..Request::default() })?;
            ui.out(&entail::operation::graph::dot_of_plan(&saved::load(&world.root.join(path))?));
            return Ok(0);
        }
        let session = Session::open(world.clone(), ui.sources.clone(), &Choice::default())?;
        ui.out(&entail::operation::graph::dot(&session));
        Ok(0)
    })?
}
