//! Saved plans are read from their files: what must hold of a file, and its parts side by side.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use entail_rules::order::Order;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Node};

use super::Loaded;
use super::rows::read_rows;
use crate::backend::seal::{NOT_OPENED, Seals};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::lower::Structure;
use crate::operation::session;
use crate::plan::file::{PlanExtras, Unpacked};
use crate::plan::{EvaluatedValues, Plan};
use crate::world::{World, side_by_side};

/// Loads a saved plan. Enough to show and explain it; [`Loaded::open`] gets the configuration as well.
pub fn load(world: &Arc<World>, sources: &Sources, path: &Path) -> Result<Loaded, Diagnostics> {
    Ok(load_and(world, sources, path, |_| (), |_| ())?.0)
}

/// Loads a saved plan, and computes something from its facts while the rest is read.
///
/// - `go_on`: what is done with the rest once it is read, while that may still be computed. It has no facts yet.
///
/// # Errors
///
/// As for [`load`].
pub fn load_and<T: Send, U>(
    world: &Arc<World>,
    sources: &Sources,
    path: &Path,
    compute: impl FnOnce(&Facts) -> T + Send,
    go_on: impl FnOnce(&mut Loaded) -> U,
) -> Result<(Loaded, T, U), Diagnostics> {
    // A plan needs no configuration to be shown, unless that says how to open it.
    let sealing = session::unseal(world, sources);
    loaded(world, path, sealing, compute, go_on)
}

/// Loads a saved plan to carry it out: the configuration has to say how the state is encrypted that is written then.
///
/// # Errors
///
/// As for [`load`], and if what the configuration says of encryption cannot be read.
pub fn load_to_apply(
    world: &Arc<World>,
    sources: &Sources,
    path: &Path,
) -> Result<Loaded, Diagnostics> {
    let sealing = session::unseal(world, sources);
    let unread = sealing.as_ref().err().cloned();
    let (loaded, ..) = loaded(world, path, sealing, |_| (), |_| ())?;
    unread.map_or(Ok(loaded), Err)
}

fn loaded<S, T: Send, U>(
    world: &Arc<World>,
    path: &Path,
    sealing: Result<S, Diagnostics>,
    compute: impl FnOnce(&Facts) -> T + Send,
    go_on: impl FnOnce(&mut Loaded) -> U,
) -> Result<(Loaded, T, U), Diagnostics> {
    let mut unpacked = match (Plan::unpack(path, &Seals::of(world)), sealing) {
        (Ok(it), _) => it,
        (Err(problem), Err(others)) if problem.summary == NOT_OPENED => return Err(others),
        (Err(problem), _) => return Err(problem.into()),
    };
    let rows = unpacked.take_fact("facts");
    let facts = || {
        let mut facts = Facts::default();
        read_rows(&rows, &mut facts)?;
        let computed = compute(&facts);
        Some((facts, computed))
    };
    let others = || -> Result<_, Diagnostic> {
        let (loaded, settings) = all_but_facts(&unpacked, path)?;
        let mut loaded = Loaded { extras: unpacked.into_extras(settings), ..loaded };
        let done = go_on(&mut loaded);
        Ok((loaded, done))
    };
    let (facts, others) = side_by_side(facts, others);
    let (loaded, done) = others?;
    let (facts, computed) = facts.ok_or_else(|| damaged(path))?;
    Ok((Loaded { facts: Arc::new(facts), ..loaded }, computed, done))
}

fn damaged(path: &Path) -> Diagnostic {
    Diagnostic::error("Invalid plan file").detail(format!(
        "The plan file {} is damaged: what the plan rests on cannot be read.",
        path.display()
    ))
}

/// Reads everything but the facts, and what the plan's own entry has beside the plan.
fn all_but_facts(
    unpacked: &Unpacked,
    path: &Path,
) -> Result<(Loaded, BTreeMap<String, String>), Diagnostic> {
    let damaged = || damaged(path);
    let (plan, settings) = unpacked.plan(path)?;
    let entry = |name: &str| unpacked.fact(name);
    let (mut order, mut spread) = (Order::default(), Spread::default());
    read_rows(entry("order"), &mut order).ok_or_else(damaged)?;
    read_rows(entry("spread"), &mut spread).ok_or_else(damaged)?;
    let text = std::str::from_utf8(entry("structure")).map_err(|_| damaged())?;
    let structure = Structure::load(text).map_err(|_| damaged())?;
    let evaluated = EvaluatedValues::decode(entry("values")).map_err(|_| damaged())?;
    let places: Vec<(u32, u32, String)> =
        serde_json::from_slice(entry("places")).unwrap_or_default();
    let places = places.into_iter().map(|it| ((Node(it.0), Node(it.1)), it.2));
    let by_node = |name: &str| -> BTreeMap<Node, String> {
        let all: Vec<(u32, String)> = serde_json::from_slice(entry(name)).unwrap_or_default();
        all.into_iter().map(|it| (Node(it.0), it.1)).collect()
    };
    let loaded = Loaded {
        plan,
        evaluated,
        structure: Arc::new(structure),
        order,
        facts: Arc::default(),
        spread,
        places: Arc::new(places.collect()),
        flags: serde_json::from_slice(entry("flags")).unwrap_or_default(),
        declared: Arc::new(by_node("declared")),
        protected: Arc::new(by_node("protected")),
        blocks: serde_json::from_slice(entry("blocks")).unwrap_or_default(),
        words: serde_json::from_slice(entry("words")).unwrap_or_default(),
        given: serde_json::from_slice(entry("given")).unwrap_or_default(),
        secrets: serde_json::from_slice(entry("secrets")).unwrap_or_default(),
        extras: PlanExtras::default(),
    };
    Ok((loaded, settings))
}
