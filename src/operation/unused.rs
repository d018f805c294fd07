//! `unused`: what a configuration declares and nothing reads: variables, local values, outputs of modules, provider configurations, data.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::session::Session;
use crate::address::Mode;
use crate::diagnostic::Span;
use crate::lower::blocks::{BlockGraph, BlockKey, VariantId};
use crate::world::falsifies;

/// A block that nothing reads, or only what is itself read by nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// `variable`, `local`, `output`, `provider` or `data`.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// `file:line,column`
    pub place: String,
    /// What reads it, all of which is unused as well.
    pub read_by: Vec<String>,
}

/// Finds what nothing reads, by place. A block of a module that is called several times is unused where no call uses it.
pub fn unused(session: &Session) -> Vec<Unused> {
    let graph = &session.graph;
    let mut users: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); graph.count()];
    for user in 0..graph.count() {
        for used in graph.edges(user).iter().map(|it| it.0 as usize).filter(|it| *it != user) {
            users[used].insert(user);
        }
    }
    let found: Vec<Option<(&'static str, Span)>> =
        (0..graph.count()).map(|it| candidate(graph, it)).collect();
    // The same place may be a block of several modules: it counts once.
    let mut places: BTreeMap<(usize, Span), Vec<usize>> = BTreeMap::new();
    for (block, it) in found.iter().enumerate() {
        if let Some((_, span)) = it {
            places.entry((span.file().0 as usize, *span)).or_default().push(block);
        }
    }
    // Everything inside of a module is used by whom depends on it.
    let wholes = (0..graph.count()).filter(|it| is_inside(graph, *it)).map(|it| vec![it]);
    let groups: Vec<Vec<usize>> = places.values().cloned().chain(wholes).collect();
    let mut dead: BTreeSet<usize> = BTreeSet::new();
    loop {
        let before = dead.len();
        for blocks in &groups {
            let is_dead = |it: &usize| users[*it].iter().all(|user| dead.contains(user));
            if blocks.iter().all(is_dead) {
                dead.extend(blocks);
            }
        }
        if dead.len() == before {
            break;
        }
    }
    let first = places.values().filter_map(|it| it.first());
    let first = first.filter(|it| dead.contains(it) && !falsifies("unused"));
    let mut all: Vec<(Span, Unused)> = first
        .filter_map(|&block| {
            let (kind, span) = found[block]?;
            let read_by = readers(graph, &users, block);
            let read_by = read_by.into_iter().map(|it| name(graph, it)).collect();
            let place = session.sources.place(span);
            Some((span, Unused { kind, name: name(graph, block), place, read_by }))
        })
        .collect();
    all.sort_by_key(|it| session.sources.rank(it.0));
    all.into_iter().map(|it| it.1).collect()
}

fn is_inside(graph: &BlockGraph, block: usize) -> bool {
    matches!(graph.block(block).key, BlockKey::Inside(_))
}

/// What reads a block, be it that it depends on everything around it.
fn readers(graph: &BlockGraph, users: &[BTreeSet<usize>], block: usize) -> BTreeSet<usize> {
    let (wholes, mut all): (BTreeSet<usize>, BTreeSet<usize>) =
        users[block].iter().partition(|it| is_inside(graph, **it));
    all.extend(wholes.into_iter().flat_map(|it| &users[it]));
    all
}

/// What may be unused: its kind, and where it stands.
fn candidate(graph: &BlockGraph, block: usize) -> Option<(&'static str, Span)> {
    let node = graph.block(block);
    let module = &graph.module_of(block).config;
    match node.key {
        BlockKey::Variable(name) => Some(("variable", module.variables.get(name)?.declared)),
        BlockKey::Local(name) => Some(("local", module.locals.get(name)?.name.span)),
        BlockKey::Output(name) if node.module != VariantId::ROOT => {
            let output = module.outputs.get(name)?;
            // One that checks something is there for that.
            output.preconditions.is_empty().then_some(("output", output.declared))
        }
        BlockKey::Resource(name) if name.mode == Mode::Data => {
            let data = module.resources.get(name)?;
            let is_for_itself =
                data.besides.check.is_some() || data.besides.lifecycle.has_conditions();
            (!is_for_itself).then_some(("data", data.declared))
        }
        BlockKey::Provider(name, alias) => {
            let found = module.provider_block(name, alias.as_deref())?;
            Some(("provider", found.declared))
        }
        _ => None,
    }
}

fn name(graph: &BlockGraph, block: usize) -> String {
    graph.name(block).replace(" (expand)", "").replace(" (expand, ", " (")
}

/// Returns them as text, each on a line.
pub fn text(all: &[Unused]) -> String {
    if all.is_empty() {
        return "Everything that is declared is read.\n".to_owned();
    }
    let width =
        |of: fn(&Unused) -> &str| all.iter().map(|it| of(it).chars().count()).max().unwrap_or(0);
    let (places, names) = (width(|it| &it.place), width(|it| &it.name));
    let mut out = String::new();
    for it in all {
        let why = match it.read_by.as_slice() {
            [] => "nothing reads it".to_owned(),
            [one] => format!("only {one} reads it, which is unused"),
            many => format!("only {} read it, which are unused", many.join(", ")),
        };
        out.push_str(&format!("  {:places$}  {:names$}  {why}\n", it.place, it.name));
    }
    out
}

/// Returns them as JSON.
pub fn to_json(all: &[Unused]) -> Json {
    let one = |it: &Unused| {
        let (file, at) = it.place.rsplit_once(':').unwrap_or((&it.place, ""));
        let line = at.split(',').next().and_then(|it| it.parse::<u64>().ok());
        json!({"kind": it.kind, "name": it.name, "file": file, "line": line, "read_by": it.read_by})
    };
    json!({"format_version": "1.0", "unused": all.iter().map(one).collect::<Vec<_>>()})
}
