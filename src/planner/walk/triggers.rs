//! What `replace_triggered_by` names by a key, or in part: whether it is there, and whether it changes.

use entail_rules::Node;

use crate::address::InstanceKey;
use crate::diagnostic::{Diagnostic, Span};
use crate::expression::{attribute, index};
use crate::lower::structure::ResourceNode;
use crate::lower::trace::Trigger;
use crate::observe::Observer;
use crate::planner::progress::{Asked, Part, Progress};
use crate::value::{Kind, PathStep, Value};

/// Tells of instances that a trigger of an object names, and that are neither declared nor in the state. Returns whether
/// there are any: nothing can be planned of the object then.
pub(super) fn name_nothing(observer: &Observer<'_>, progress: &Progress, node: Node) -> bool {
    let Some(triggers) = progress.triggers.get(&node) else { return false };
    let asked = progress.asked.get(&node).copied().unwrap_or_default();
    // Before everything is destroyed, what is gone stops nothing.
    let is_due = progress.part(node) == Part::Selected && asked == Asked::Whole;
    if !is_due || observer.values.all_goes {
        return false;
    }
    let missing: Vec<Diagnostic> = triggers.iter().filter_map(|it| missing(observer, it)).collect();
    let is_missing = !missing.is_empty();
    observer.values.report(missing);
    is_missing
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
