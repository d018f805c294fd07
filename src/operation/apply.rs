//! `apply`: carries a plan out and keeps the state, whatever happens.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::event::Sink;
use super::session::Session;
use crate::backend::{Backend, Snapshot};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::execute::journal::Journal;
use crate::execute::{Context, Done, Queue, Stop, execute};
use crate::lower::structure::{NodeKind, ResourceId, Structure};
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::observe::{Observer, Told, conditions};
use crate::plan::Plan;
use crate::request::{PlanMode, Request};
use crate::schema;
use crate::state::journal::Base;
use crate::state::{Attributes, State};
use crate::value::{Marks, Path, Str, Value};
use entail_rules::order::Order;
use entail_rules::{Facts, Phase};

/// Moves are done when a plan is carried out.
static NONE_MOVED: std::sync::OnceLock<BTreeMap<crate::address::Instance, crate::address::Instance>> = std::sync::OnceLock::new();

/// A plan that can be carried out.
pub struct Approved<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The expanded configuration.
    pub structure: &'a Structure,
    /// The order of steps.
    pub order: &'a Order,
    /// Every fact the plan rests on.
    pub facts: &'a Facts,
    /// The root variables.
    pub variables: &'a BTreeMap<Str, Value>,
}

/// Carries a plan out. The state is written even if steps failed; while steps finish, the journal keeps them.
///
/// - `snapshot`: what the backend holds now.
pub async fn apply(session: &Session, pool: &Pool, approved: &Approved<'_>, snapshot: &Snapshot, parallelism: usize, sink: &dyn Sink, stop: &Stop) -> Done {
    let journal = session.backend.journal().map(|path| {
        let (lineage, serial) = snapshot.state.as_ref().map(|it| (it.lineage.clone(), it.serial)).unwrap_or_default();
        let next_lineage = if lineage.is_empty() { session.world.uuid() } else { lineage.clone() };
        Journal::open(path, &Base { lineage, serial, next_lineage })
    });
    let request = Request { mode: approved.plan.mode, parallelism, ..Request::default() };
    let queue = Queue::new(sink);
    let observer = observer(session, pool, approved, &request, &queue);
    let context = Context {
        plan: approved.plan,
        config: &session.config,
        graph: &session.graph,
        order: approved.order,
        facts: approved.facts,
        observer: &observer,
        journal: journal.as_ref(),
        sink: &queue,
        stop,
        parallelism,
        world: &session.world,
    };
    let mut done = execute(&context).await;
    if let Some(journal) = &journal {
        done.problems.extend(journal.flush().err());
    }
    match session.backend.write(&done.state) {
        Ok(_) => {
            if let Some(journal) = &journal {
                done.problems.extend(journal.remove().err());
            }
        }
        Err(problems) => {
            done.problems.extend(problems);
            done.problems.push(keep(session, &done.state));
        }
    }
    done
}

/// Where the state cannot be written, it is kept beside the configuration.
fn keep(session: &Session, state: &State) -> Diagnostic {
    let path = session.world.root.join("errored.tfstate");
    let text = crate::state::write::write(state);
    match crate::backend::files::write_private(&path, text.as_bytes()) {
        Ok(()) => Diagnostic::error("Failed to persist state to backend").detail(
            "The new state could not be written to its place. It was saved as errored.tfstate in this folder. Once the cause is mended, store it with: entail state push errored.tfstate",
        ),
        Err(error) => Diagnostic::error("Failed to persist state to backend").detail(format!(
            "The new state could not be written to its place, nor to errored.tfstate ({error}). The journal beside the state file holds every finished step; the next command recovers it."
        )),
    }
}

fn observer<'a>(session: &'a Session, pool: &'a Pool, approved: &Approved<'a>, request: &'a Request, sink: &'a dyn Sink) -> Observer<'a> {
    let mut values = Values::new(&session.config, approved.structure.clone(), approved.variables, &session.world, &session.sources);
    values.workspace = &approved.plan.workspace;
    values.plan_time = Some(approved.plan.timestamp);
    values.planning = false;
    let types: Vec<_> = values.structure.resources.iter().map(|resource| {
        let name = &resource.address.resource;
        let schema = resource.provider.as_ref().and_then(|it| pool.resource_schema(&it.provider, name.mode, &name.kind));
        schema.map_or(crate::value::Type::DYNAMIC, |it| it.block.ty())
    }).collect();
    values.types = types;
    let made: FxHashSet<_> = approved.order.step.iter().filter(|it| it.1 == Phase::Up).map(|it| it.0).collect();
    for id in 0..values.structure.resources.len() {
        let id = ResourceId(id as u32);
        for (key, node) in values.structure.resource(id).instances.clone() {
            if made.contains(&node) {
                continue;
            }
            let address = values.structure.resource(id).address.instance(key);
            if let Some(value) = stored_value(pool, &approved.plan.prior_state, &address) {
                values.settle(node, value);
            }
        }
        if let Some(pending) = values.structure.resource(id).pending {
            values.settle(pending, Value::NULL);
        }
    }
    for node in 0..values.structure.nodes.len() {
        let node = entail_rules::Node(node as u32);
        if matches!(values.structure.kind(node), NodeKind::Pending(_)) {
            values.settle(node, Value::NULL);
        }
    }
    Observer {
        values,
        pool,
        state: &approved.plan.prior_state,
        moved: NONE_MOVED.get_or_init(BTreeMap::new),
        request,
        events: Told(sink),
        imports: Default::default(),
        validated: Default::default(),
        checks: conditions::Results::default(),
        calls: tokio::sync::Semaphore::new(request.parallelism.max(1)),
    }
}

/// Decodes a stored object, marked as recorded.
pub fn stored_value(pool: &Pool, state: &State, address: &crate::address::Instance) -> Option<Value> {
    let resource = state.resources.get(&address.of())?;
    let object = state.current(address)?;
    let schema = pool.resource_schema(&resource.provider.provider, address.resource.mode, &address.resource.kind)?;
    let Attributes::Json(json) = &object.attributes else { return None };
    let value = schema::decode_stored(json.get(), &schema.block).ok()?;
    let marks: Vec<(Path, Marks)> = object.sensitive.iter().map(|it| (it.clone(), Marks::sensitive())).collect();
    Some(schema::mark_sensitive(&crate::value::path::mark_paths(&value, &marks), &schema.block))
}

/// Returns what a finished run is called to account for: the errors that make its exit code 1.
pub fn verdict(done: &Done, mode: PlanMode) -> Diagnostics {
    let mut problems = Diagnostics::new();
    if mode == PlanMode::Destroy && done.forgotten > 0 {
        problems.push(Diagnostic::error("Destroy was successful but left behind forgotten instances").detail(format!(
            "As requested, OpenTofu has not deleted {} remote object(s) that are no longer tracked in the state. Those objects can be managed only outside of OpenTofu from now on.",
            done.forgotten
        )));
    }
    problems
}
