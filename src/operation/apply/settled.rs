//! What a run that carries a plan out knows of every object: what it leaves as it is, from the state; the rest, as steps decide it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Approved;
use crate::address::{Instance, Mode, ProviderInstance};
use crate::event::Sink;
use crate::lower::judged_run;
use crate::observe::ephemeral::EphemeralUses;
use crate::observe::former::Former;
use crate::observe::lifetimes::ProviderLifetimes;
use crate::observe::pool::Pool;
use crate::observe::serving::{Grounds, Serving};
use crate::observe::values::Values;
use crate::observe::{Observer, Told, conditions};
use crate::operation::session::Session;
use crate::plan::Action;
use crate::planner::by_node;
use crate::request::Request;
use crate::schema;
use crate::state::{Attributes, State};
use crate::value::{MarkPaths, Type, Value};
use entail_rules::configurations::Configurations;
use entail_rules::providers::Providers;
use entail_rules::{Ledger, Node, Phase, ephemeral_uses};

/// Moves are done when a plan is carried out.
static NONE_MOVED: OnceLock<BTreeMap<Instance, Instance>> = OnceLock::new();

/// Returns what steps ask for values and providers.
pub(super) fn observer<'a>(
    session: &'a Session,
    pool: &'a Pool,
    approved: &Approved<'a>,
    request: &'a Request,
    sink: &'a dyn Sink,
) -> Observer<'a> {
    let mut values = values(session, pool, approved);
    let ledger = Ledger::of(approved.facts);
    let configurations: Configurations = session.engine().conclude(&ledger);
    let providers: Providers = session.engine().conclude(&ledger.with(&configurations));
    // The plan has every key, so that nothing is left to conclude.
    let ledger = ledger.with(&providers).with(approved.order);
    let uses: ephemeral_uses::EphemeralUses = session.engine().conclude(&ledger);
    let serving = Serving::of(by_node(&providers, &values.structure), Grounds::default());
    let lifetimes =
        ProviderLifetimes::of_steps(approved.order.step.iter().map(|it| it.0), &serving.known);
    pool.turn(|it| lifetimes.needs(it));
    settle_what_stays(&mut values, pool, approved);
    Observer {
        values,
        pool,
        graph: &session.graph,
        state: &approved.plan.prior_state,
        moved: NONE_MOVED.get_or_init(BTreeMap::new),
        request,
        events: Told(sink),
        imports: Default::default(),
        validated: Default::default(),
        serving,
        lifetimes,
        checks: conditions::Results::default(),
        ephemeral_uses: EphemeralUses::carrying(&uses),
        awaiting: Default::default(),
        former: former(session, pool, approved, &uses),
        calls: tokio::sync::Semaphore::new(request.parallelism.max(1)),
    }
}

/// Returns the values of a run that carries a plan out, before any object has one.
fn values<'a>(session: &'a Session, pool: &'a Pool, approved: &Approved<'a>) -> Values<'a> {
    let mut values = Values::new(
        &session.config,
        approved.structure.clone(),
        approved.variables,
        &session.world,
        &session.sources,
    );
    values.workspace = &approved.plan.workspace;
    values.plan_time = Some(approved.plan.timestamp);
    values.planning = false;
    values.learn_run(&judged_run(session.engine(), approved.facts));
    values.pool = Some(pool);
    let schemas = values.structure.resources.iter().map(|it| pool.schema_of(it));
    values.types = schemas.map(|it| it.map_or(Type::DYNAMIC, |it| it.block.ty())).collect();
    values
}

/// Returns what provider instances destroy with whose arguments were not known while planning: what they read changes in
/// this plan. Mostly there is none.
fn former<'a>(
    session: &'a Session,
    pool: &'a Pool,
    approved: &Approved<'a>,
    uses: &ephemeral_uses::EphemeralUses,
) -> Option<Former<'a>> {
    let (structure, facts) = (approved.structure, approved.facts);
    let unknown = facts.provider_unknown.iter();
    let unknown = unknown.filter_map(|it| Some((structure.provider(it.0)?, it.0)));
    let instances: FxHashMap<ProviderInstance, Vec<Node>> =
        unknown.map(|(instance, node)| (instance.clone(), drawn_on(uses, node))).collect();
    if instances.is_empty() {
        return None;
    }
    let mut values = values(session, pool, approved);
    let prior = &approved.plan.prior_state;
    values.all_goes = true;
    values.settled =
        Some(Box::new(move |node| stored_value(pool, prior, &structure.instance(node)?)));
    values.record_pending();
    Some(Former::new(values, instances))
}

/// Returns the ephemeral resources that a provider instance draws on, each after those that it draws on itself.
fn drawn_on(uses: &ephemeral_uses::EphemeralUses, provider: Node) -> Vec<Node> {
    let draws_on = |n: Node| uses.travels_to.iter().filter(move |it| it.1 == n).map(|it| it.0);
    let mut found: Vec<Node> = draws_on(provider).collect();
    found.sort_by_cached_key(|it| draws_on(*it).count());
    found
}

/// Gives objects that this run does not change their values, once somebody asks for them; all others are still to be decided.
fn settle_what_stays<'a>(values: &mut Values<'a>, pool: &'a Pool, approved: &Approved<'a>) {
    let (structure, prior) = (approved.structure, &approved.plan.prior_state);
    let steps = &approved.order.step;
    let made: FxHashSet<_> = steps.iter().filter(|it| it.1 == Phase::Up).map(|it| it.0).collect();
    let kept = approved.plan.changes.iter().filter(|it| it.action == Action::NoOp);
    let kept: FxHashSet<_> = kept.map(|it| &it.address).collect();
    let mut stays = vec![false; structure.nodes.len()];
    for resource in &structure.resources {
        let is_lent = resource.address.resource.mode == Mode::Ephemeral;
        for (key, &node) in &resource.instances {
            let is_kept = || kept.contains(&resource.address.instance(key.clone()));
            let is_changed = made.contains(&node) && !is_kept();
            if is_changed || (is_lent && steps.contains(&(node, Phase::Down))) {
                values.wait_for(node);
            } else {
                stays[node.0 as usize] = true;
            }
        }
    }
    values.settled = Some(Box::new(move |node| {
        let address = structure.instance(node).filter(|_| stays[node.0 as usize])?;
        stored_value(pool, prior, &address)
    }));
    values.record_pending();
}

/// Decodes a stored object, marked as recorded.
pub fn stored_value(pool: &Pool, state: &State, address: &Instance) -> Option<Value> {
    let resource = state.resources.get(&address.of())?;
    let object = state.current(address)?;
    let schema = pool.resource_schema(
        &resource.provider.provider,
        address.resource.mode,
        &address.resource.kind,
    )?;
    let Attributes::Json(json) = &object.attributes else { return None };
    let value = schema::decode_stored(json, &schema.block).ok()?;
    Some(schema::mark_object(
        &value,
        &MarkPaths::sensitive(&object.besides.sensitive),
        &schema.block,
    ))
}
