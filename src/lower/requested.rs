//! What the request names: targets, exclusions, replacements – as hits on nodes.

use std::cell::OnceCell;

use entail_rules::{End, Facts, Flag, Hit, Node};
use rustc_hash::FxHashMap;

use super::structure::{ModuleId, NodeKind, ResourceId, ResourceNode, Structure, Style};
use super::{Documents, Lowered};
use crate::address::target::Target;
use crate::address::{Instance, InstanceKey, ModuleInstance, Resource, ResourceName};
use crate::diagnostic::{Diagnostic, Sort};
use crate::request::{Replacement, Request, Selector};

mod shape;

/// Writes `hit`, `replace_hit`, `move_named`, and what policies ask for besides.
pub(super) fn lower(lowered: &mut Lowered, documents: &Documents<'_>) {
    let request = documents.request;
    let structure = std::mem::take(&mut lowered.structure);
    let index = Index::of(&structure);
    for (flag, selector, hit) in selectors(request) {
        lowered.flags.push(selector.origin.clone());
        let found = index.hits(&selector.target, hit, flag);
        let moved = moved(lowered, &structure, documents, &selector.target, hit, flag);
        if found.is_empty() && !moved {
            lowered.problems.push(matches_nothing(&structure, selector, hit));
        }
        lowered.facts.hit.extend(found);
    }
    for (flag, it) in replaced(request) {
        lowered.flags.push(it.origin.clone());
        if let Some(node) = node_of(&structure, &it.instance) {
            lowered.facts.replace_hit.push((node, flag));
        }
    }
    shape::lower(lowered, &index, request);
    drop(index);
    lowered.structure = structure;
}

/// Writes what the request names of resources whose instances have just become known.
pub(super) fn lower_more(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    resources: &[ResourceId],
) {
    let request = documents.request;
    for (flag, selector, hit) in selectors(request) {
        for id in resources {
            let resource = lowered.structure.resource(*id);
            let hits = &mut lowered.facts.hit;
            named(&lowered.structure, &selector.target, resource, hit, &mut |node, hit| {
                hits.push((node, hit, flag))
            });
        }
    }
    for (flag, asked) in replaced(request) {
        let address = asked.instance.of();
        let is_here = |it: &&ResourceId| lowered.structure.resource(**it).address == address;
        if resources.iter().any(|it| is_here(&it))
            && let Some(node) = node_of(&lowered.structure, &asked.instance)
        {
            lowered.facts.replace_hit.push((node, flag));
        }
    }
    shape::lower_more(lowered, request, resources);
}

/// The selectors of a request, numbered as flags are: targets before exclusions.
fn selectors(request: &Request) -> impl Iterator<Item = (Flag, &Selector, Hit)> {
    let targets = request.targets.iter().map(|it| (it, Hit::Target));
    let all = targets.chain(request.excludes.iter().map(|it| (it, Hit::Exclude)));
    all.enumerate().map(|(number, (selector, hit))| (Flag(number as u32), selector, hit))
}

/// The instances that are to be replaced; their numbers follow those of the selectors.
fn replaced(request: &Request) -> impl Iterator<Item = (Flag, &Replacement)> {
    let first = selector_count(request);
    let numbered = request.replaces.iter().enumerate();
    numbered.map(move |(number, it)| (Flag((first + number) as u32), it))
}

fn selector_count(request: &Request) -> usize {
    request.targets.len() + request.excludes.len()
}

fn node_of(structure: &Structure, instance: &Instance) -> Option<Node> {
    structure.resource(structure.resource_id(&instance.of())?).instance(&instance.key)
}

/// A moved object is also named by its old address.
fn moved(
    lowered: &mut Lowered,
    structure: &Structure,
    documents: &Documents<'_>,
    target: &Target,
    hit: Hit,
    flag: Flag,
) -> bool {
    let mut any = false;
    for (new, old) in documents.moved {
        let Some(node) = node_of(structure, new) else { continue };
        if covers(target, old) {
            any = true;
            lowered.facts.hit.push((node, hit, flag));
            if hit == Hit::Target {
                lowered.facts.move_named.push((node, End::Old));
            }
        }
        if covers(target, new) && hit == Hit::Target {
            lowered.facts.move_named.push((node, End::New));
        }
    }
    any
}

/// Returns whether a target names an instance: a module step without key means every instance.
pub fn covers(target: &Target, instance: &Instance) -> bool {
    match target {
        Target::Module(module) => is_prefix(module, &instance.module),
        Target::Resource(it) => {
            it.resource == instance.resource && is_same(&it.module, &instance.module)
        }
        Target::Instance(it) => {
            it.resource == instance.resource
                && it.key == instance.key
                && is_same(&it.module, &instance.module)
        }
    }
}

fn step_covers(
    pattern: &(crate::value::Str, InstanceKey),
    actual: &(crate::value::Str, InstanceKey),
) -> bool {
    pattern.0 == actual.0 && (pattern.1 == InstanceKey::None || pattern.1 == actual.1)
}

fn is_prefix(pattern: &ModuleInstance, actual: &ModuleInstance) -> bool {
    pattern.0.len() <= actual.0.len()
        && pattern.0.iter().zip(actual.0.iter()).all(|(a, b)| step_covers(a, b))
}

fn is_same(pattern: &ModuleInstance, actual: &ModuleInstance) -> bool {
    pattern.0.len() == actual.0.len() && is_prefix(pattern, actual)
}

/// Like [`is_prefix`], where the actual steps of a pending module have no key yet: it may be one of them.
fn may_be_prefix(pattern: &ModuleInstance, actual: &ModuleInstance) -> bool {
    pattern.0.len() <= actual.0.len()
        && pattern
            .0
            .iter()
            .zip(actual.0.iter())
            .all(|(a, b)| step_covers(a, b) || (a.0 == b.0 && b.1 == InstanceKey::None))
}

struct Index<'a> {
    structure: &'a Structure,
    by_name: OnceCell<FxHashMap<&'a ResourceName, Vec<ResourceId>>>,
}

impl<'a> Index<'a> {
    /// Nothing is looked at before somebody asks.
    fn of(structure: &'a Structure) -> Index<'a> {
        Index { structure, by_name: OnceCell::new() }
    }

    fn by_name(&self) -> &FxHashMap<&'a ResourceName, Vec<ResourceId>> {
        self.by_name.get_or_init(|| {
            let mut by_name: FxHashMap<&ResourceName, Vec<ResourceId>> = FxHashMap::default();
            for (id, resource) in self.structure.resources.iter().enumerate() {
                let all = by_name.entry(&resource.address.resource).or_default();
                all.push(ResourceId(id as u32));
            }
            by_name
        })
    }

    fn hits(&self, target: &Target, hit: Hit, flag: Flag) -> Vec<(Node, Hit, Flag)> {
        let structure = self.structure;
        let mut found = Vec::new();
        let mut add = |node: Node, hit: Hit| found.push((node, hit, flag));
        match target {
            Target::Module(module) => {
                structure
                    .resources
                    .iter()
                    .for_each(|it| named(structure, target, it, hit, &mut add));
                called(structure, module).for_each(|it| add(it, hit));
            }
            Target::Resource(Resource { module, resource: name })
            | Target::Instance(Instance { module, resource: name, .. }) => {
                let mut visit = |it: &ResourceNode| named(structure, target, it, hit, &mut add);
                match exactly(structure, module, name) {
                    Some(found) => visit(found),
                    None => self.each(name, visit),
                }
            }
        }
        found
    }

    fn each(&self, name: &ResourceName, mut visit: impl FnMut(&ResourceNode)) {
        for id in self.by_name().get(name).into_iter().flatten() {
            visit(self.structure.resource(*id));
        }
    }
}

/// The key sets of the calls that an address names with all their instances, and of those within.
fn called<'s>(
    structure: &'s Structure,
    module: &'s ModuleInstance,
) -> impl Iterator<Item = Node> + use<'s> {
    let repeated = structure.calls.iter().filter(|it| it.style != Style::Single);
    let named = repeated.filter(|it| {
        let above = &structure.module(it.parent).address;
        is_prefix(module, &above.child(&it.name, InstanceKey::None))
    });
    named.map(|it| it.keys)
}

/// The one resource that an address means, where no other can be meant: each module instance is named with its key, and there is
/// such a one. What the state has in a module instance that is not there may be in one whose keys are not known yet.
fn exactly<'s>(
    structure: &'s Structure,
    module: &ModuleInstance,
    name: &ResourceName,
) -> Option<&'s ResourceNode> {
    if module.0.iter().any(|it| it.1 == InstanceKey::None) {
        return None;
    }
    let address = Resource { module: module.clone(), resource: name.clone() };
    let found = structure.resource(structure.resource_id(&address)?);
    found.module.is_some_and(|it| !structure.module(it).pending).then_some(found)
}

/// What a target names of a resource: nodes, each with how it is hit.
fn named(
    structure: &Structure,
    target: &Target,
    resource: &ResourceNode,
    hit: Hit,
    add: &mut dyn FnMut(Node, Hit),
) {
    let (module, whole) = match target {
        Target::Module(it) => (it, is_prefix(it, &resource.address.module)),
        Target::Resource(Resource { module, resource: name })
        | Target::Instance(Instance { module, resource: name, .. }) => {
            if *name != resource.address.resource
                || module.0.len() != resource.address.module.0.len()
            {
                return;
            }
            (module, is_prefix(module, &resource.address.module))
        }
    };
    let key = match target {
        Target::Instance(it) => Some(&it.key),
        _ => None,
    };
    match (whole, key) {
        (true, None) => every(resource, &mut |node| add(node, hit)),
        (true, Some(key)) => one(resource, key, hit, add),
        (false, _) => {
            // A target has a stand-in of its own, where it names the key of one call.
            let has_own = hit == Hit::Target && structure.module_id(module).is_some();
            let may_be = !has_own && may_be_prefix(module, &resource.address.module);
            let pending = resource.besides.pending.filter(|_| may_be && resource.declared);
            pending.into_iter().for_each(|it| add(it, part(hit)));
        }
    }
}

/// One instance of a resource, whose key may not be known yet.
fn one(resource: &ResourceNode, key: &InstanceKey, hit: Hit, add: &mut dyn FnMut(Node, Hit)) {
    let known = resource.instance(key);
    if let Some(pending) = resource.besides.pending.filter(|_| resource.declared)
        && (hit == Hit::Exclude || known.is_none())
    {
        add(pending, part(hit));
    }
    known.into_iter().for_each(|node| add(node, hit));
    let deposed = resource.besides.deposed.iter().filter(|entry| entry.0.0 == *key);
    deposed.for_each(|entry| add(*entry.1, hit));
}

/// A flag that names what may be an instance of a pending node: an exclusion leaves that node in, a target wants it.
fn part(hit: Hit) -> Hit {
    if hit == Hit::Exclude { Hit::Part } else { Hit::Among }
}

/// A flag that names a whole resource also names its collection and key set.
fn every(resource: &ResourceNode, visit: &mut dyn FnMut(Node)) {
    let nodes = resource
        .instances
        .values()
        .chain(resource.besides.others.values())
        .chain(resource.besides.deposed.values());
    // A resource of the state may only be waiting for another's pending node: that one is not named with it.
    let pending = resource.besides.pending.filter(|_| resource.declared);
    nodes.copied().chain(pending).chain(resource.besides.repetition).for_each(&mut *visit);
    let is_several = resource.besides.repetition.or(pending).is_some();
    resource.collection.filter(|_| is_several).into_iter().for_each(visit);
}

/// Warns of what the request named as an instance that might be found in the walk, and was not.
pub fn unmatched(structure: &Structure, facts: &Facts, request: &Request) -> Vec<Diagnostic> {
    let is_there = |node: Node| match structure.kind(node) {
        NodeKind::Pending(_) => false,
        NodeKind::Object(..) => facts.object.binary_search(&(node,)).is_ok(),
        NodeKind::Repetition(id) | NodeKind::Collection(id) => {
            let module = structure.resource(*id).module;
            module.is_some_and(|it| !structure.module(it).pending)
        }
        _ => true,
    };
    let mut found: FxHashMap<Flag, bool> = FxHashMap::default();
    for (node, _, flag) in &facts.hit {
        *found.entry(*flag).or_default() |= is_there(*node);
    }
    selectors(request)
        .filter(|it| found.get(&it.0) == Some(&false))
        .map(|(_, selector, hit)| matches_nothing(structure, selector, hit))
        .collect()
}

fn matches_nothing(structure: &Structure, selector: &Selector, hit: Hit) -> Diagnostic {
    let wanted = selector.target.to_string();
    let (option, effect) = match hit {
        Hit::Target => ("target", "so it selects nothing"),
        _ => ("exclude", "so it leaves nothing out"),
    };
    let detail = match named_value(structure, &selector.target) {
        Some(kind) => format!(
            "{wanted} ({}) is {kind}, not a resource or a module, {effect}.",
            selector.origin
        ),
        None => format!(
            "The address {wanted} ({}) names nothing that is declared or exists, {effect}.{}",
            selector.origin,
            hint(structure, &wanted)
        ),
    };
    let summary = format!("No object matches -{option}");
    Diagnostic::warning(summary).sort(Sort::Unmatched).detail(detail)
}

/// Returns the kind of the declared value or check that an address names; `None` if it names none.
fn named_value(structure: &Structure, target: &Target) -> Option<&'static str> {
    let Target::Resource(resource) = target else { return None };
    let id = structure.module_id(&resource.module).filter(|it| structure.stands(*it))?;
    let (module, name) = (structure.module(id), &*resource.resource.name);
    let (is_declared, kind) = match &*resource.resource.kind {
        "var" => (module.variables.contains_key(name), "a variable"),
        "local" => (module.besides.locals.contains_key(name), "a local value"),
        "output" => (module.outputs.contains_key(name), "an output"),
        "check" => (module.besides.checks.contains_key(name), "a check"),
        _ => return None,
    };
    is_declared.then_some(kind)
}

/// What `-replace` names is neither declared nor in the state.
pub fn replaces_nothing(structure: &Structure, instance: &Instance) -> Diagnostic {
    let wanted = instance.to_string();
    Diagnostic::warning("No object matches -replace").sort(Sort::Unmatched).detail(format!(
        "The address {wanted} names nothing that is declared or exists, so it replaces nothing.{}",
        hint(structure, &wanted)
    ))
}

fn hint(structure: &Structure, wanted: &str) -> String {
    let near = nearest(structure, wanted);
    match &near[..] {
        [] => String::new(),
        [one] => format!(" The nearest address is: {one}."),
        all => format!(" The nearest addresses are: {}.", all.join(", ")),
    }
}

fn nearest(structure: &Structure, wanted: &str) -> Vec<String> {
    let mut scored: Vec<(usize, String)> = Vec::new();
    let stands = |it: ModuleId| structure.stands(it);
    for resource in structure.resources.iter().filter(|it| it.module.is_none_or(stands)) {
        let keys = resource.instances.keys().chain(resource.besides.others.keys()).take(20);
        let addresses = keys.map(|key| resource.address.instance(key.clone()).to_string());
        let whole = std::iter::once(Resource::to_string(&resource.address));
        for address in addresses.chain(whole) {
            // Lengths far apart are never near; this keeps large configurations quick.
            if address.len().abs_diff(wanted.len()) <= 8 {
                scored.push((strsim::levenshtein(&address, wanted), address));
            }
        }
    }
    let modules = structure.modules.iter().zip(0..).map(|(it, id)| (ModuleId(id), it));
    for (_, module) in modules.filter(|it| structure.stands(it.0)) {
        let address = module.address.to_string();
        if !address.is_empty() && address.len().abs_diff(wanted.len()) <= 8 {
            scored.push((strsim::levenshtein(&address, wanted), address));
        }
    }
    scored.sort();
    scored.dedup();
    // What has that very name only stands in for what may be there.
    let near = scored.into_iter().filter(|it| it.0 > 0 && it.0 <= 1 + wanted.len() / 3);
    near.take(3).map(|it| it.1).collect()
}
