//! What `replace_triggered_by` names by a key, or in part: whether it is there, and whether it changes.

use entail_rules::instances::Instances;
use entail_rules::selection::Selection;
use entail_rules::violations::Violations;
use entail_rules::{Facts, Ledger, Node};

use crate::address::InstanceKey;
use crate::diagnostic::{Diagnostic, Span};
use crate::expression::{attribute, index};
use crate::lower::structure::ResourceNode;
use crate::lower::trace::Trigger;
use crate::lower::{When, leave_out};
use crate::observe::Observer;
use crate::planner::progress::{Asked, Part, Progress};
use crate::value::{Kind, PathStep, Value};

/// Lets the rules say whether it forbids the plan of an object that a trigger of it names an instance which is neither
/// declared nor in the state, and tells of such instances then.
pub(super) fn forbid(observer: &Observer<'_>, progress: &mut Progress, node: Node) -> bool {
    let Some(triggers) = progress.triggers.get(&node) else { return false };
    let missing: Vec<Diagnostic> = triggers.iter().filter_map(|it| missing(observer, it)).collect();
    if missing.is_empty() {
        return false;
    }
    let row = || vec![(node,)];
    let mut facts = Facts { trigger_missing: row(), ..Facts::default() };
    leave_out(&mut facts, When::Always);
    let mut selection = Selection::default();
    if progress.part(node) == Part::Selected {
        selection.selected = row();
    }
    let mut judged = Instances::default();
    if progress.asked.get(&node) == Some(&Asked::Existing) {
        judged.only_refreshed = row();
    }
    judged.all_goes.extend(observer.values.all_goes.then_some(()));
    let ledger = Ledger::of(&facts).with(&judged).with(&selection);
    let found: Violations = observer.engine().conclude(&ledger);
    progress.facts.trigger_missing.append(&mut facts.trigger_missing);
    if found.violation.is_empty() {
        return false;
    }
    observer.values.report(missing);
    true
}

fn missing(observer: &Observer<'_>, trigger: &Trigger) -> Option<Diagnostic> {
    let (id, key) = trigger.named.as_ref()?;
    let resource = observer.values.structure.resource(*id);
    let address = resource.address.instance(key.clone());
    let is_there =
        resource.instances.contains_key(key) || observer.state.instance(&address).is_some();
    (!is_there).then(|| no_change(resource, key).at(trigger.place))
}

fn no_change(resource: &ResourceNode, key: &InstanceKey) -> Diagnostic {
    let (module, name) = (&resource.address.module, &resource.address.resource);
    let place = if module.is_root() { "the root module".to_owned() } else { module.to_string() };
    let lacks = match resource.instances.values().next() {
        None => "no instances",
        Some(_) => "no instance with that key",
    };
    Diagnostic::error(format!("no change found for {name}{key} in {place}")).detail(format!(
        "{name} has {lacks}, neither declared nor in the state, so that nothing can trigger the replacement. Name an \
         instance that exists, or the resource as a whole."
    ))
}

/// Returns the objects of which an attribute changes that a trigger of a node names.
pub(super) fn differing(progress: &Progress, node: Node) -> impl Iterator<Item = Node> {
    let triggers = progress.triggers.get(&node).into_iter().flatten();
    let by_part = triggers.filter(|it| !it.path.is_empty());
    by_part.filter(|it| differs(progress, it)).map(|it| it.target)
}

fn differs(progress: &Progress, trigger: &Trigger) -> bool {
    let Some(found) = progress.found.get(trigger.target) else { return false };
    let reach = |value: &Value| trigger.path.iter().try_fold(value.to_plain().into(), follow);
    let before = found.prior.as_ref().and_then(|it| reach(&it.value));
    let after = reach(&found.after);
    before != after
}

/// One step into a value, as OpenTofu goes it here: names lead into objects, texts into maps, numbers into lists, and
/// nothing stands for another. What they do not lead into is as if it were not there, before and after.
fn follow(value: Value, step: &PathStep) -> Option<Value> {
    let nowhere = Span::default();
    match (step, value.ty().kind()) {
        (PathStep::Attribute(name), Kind::Object(_)) => attribute(&value, name, nowhere).ok(),
        (PathStep::Index(key @ Value::String(_)), Kind::Map(_))
        | (PathStep::Index(key @ Value::Number(_)), Kind::List(_) | Kind::Tuple(_)) => {
            index(&value, key, nowhere).ok()
        }
        _ => None,
    }
}
