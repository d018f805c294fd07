//! What rules over values look at: the nodes of a configuration or a plan, and what each of them is, was and is written as.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::elsewhere::Elsewhere;
use super::places::RecordedModules;
use entail_rules::atom::word_text;
use entail_rules::instances::Instances;
use entail_rules::{Atom, Node};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::value::RawValue;

use crate::address::{Instance, Mode, ResourceName};
use crate::config::{Config, Variant};
use crate::datalog::{Domain, Tense, Values};
use crate::diagnostic::Sources;
use crate::lower::blocks::{BlockGraph, BlockKey};
use crate::lower::structure::NodeKind;
use crate::lower::{ReadPlaces, Structure};
use crate::plan::{Action, Change, EvaluatedValues, Plan};
use crate::state::{Attributes, Object, State};
use crate::value::path::get as path_get;
use crate::value::{MarkPaths, Marks, Path, PathStep, Str, Type, Value, json};
use crate::world::{World, falsifies};

/// A configuration, or a plan, as policies see it.
pub struct Model<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// What its nodes stand for.
    pub structure: &'a Structure,
    /// The source files.
    pub sources: &'a Sources,
    /// Clock and environment.
    pub world: &'a World,
    /// `terraform.workspace`
    pub workspace: &'a str,
    /// The root module's variables.
    pub variables: &'a BTreeMap<Str, Value>,
    /// Where reads stand.
    pub places: &'a ReadPlaces,
    /// The plan, where there is one.
    pub plan: Option<Planned<'a>>,
    /// What the state file holds, moves applied; nothing where only a configuration is looked at.
    pub state: Option<&'a State>,
    /// Nodes of other runs, where it is they that are looked at.
    pub elsewhere: Option<&'a dyn Elsewhere>,
    /// What schemas call sensitive.
    pub secrets: Secrets,
    /// The values with their numbers.
    pub values: Arc<Values>,
    /// What has been evaluated.
    pub memo: Memo,
}

/// The attributes in which schemas call anything sensitive, by type: `local_sensitive_file`, `data.local_sensitive_file`. Known where
/// providers were asked; a state alone says only what it marks itself.
pub type Secrets = BTreeMap<String, Vec<Str>>;

/// What a model has evaluated: variables, locals, outputs, and objects as they are written.
#[derive(Default)]
pub struct Memo {
    pub(super) known: Mutex<FxHashMap<u32, Value>>,
    /// What is being evaluated: where one comes back to it, there is a circle.
    pub(super) open: Mutex<FxHashSet<u32>>,
    /// What objects have become while the plan is carried out.
    pub(super) learned: Mutex<FxHashMap<u32, Value>>,
    /// The circle that a block is in, where blocks wait for each other.
    pub(super) circles: FxHashMap<(Variant, BlockKey), u32>,
    /// Whether values say which objects they were made of.
    pub(super) is_tracing: bool,
    pub(super) modules: OnceLock<RecordedModules>,
}

impl Memo {
    /// Returns a memory for a configuration whose circles of blocks were opened.
    pub fn around(graph: &BlockGraph) -> Memo {
        Memo { circles: graph.circles.of.clone(), ..Memo::default() }
    }

    /// The same, of values that say which objects they were made of.
    pub fn tracing(graph: &BlockGraph) -> Memo {
        Memo { is_tracing: true, ..Memo::around(graph) }
    }
}

/// What a plan says of the nodes.
pub struct Planned<'a> {
    /// The plan.
    pub plan: &'a Plan,
    changes: FxHashMap<Node, &'a Change>,
    /// What was evaluated while planning; nothing where nothing was planned.
    evaluated: Option<&'a EvaluatedValues>,
    /// Whether instances count only where they exist.
    pub(super) only_existing: bool,
}

impl<'a> Planned<'a> {
    /// Returns a plan with its changes by node.
    ///
    /// - `evaluated`: what was evaluated while planning, where anything was.
    pub fn new(
        plan: &'a Plan,
        structure: &Structure,
        evaluated: Option<&'a EvaluatedValues>,
    ) -> Planned<'a> {
        let node = |address: &Instance| {
            let resource = structure.resource(structure.resource_id(&address.of())?);
            resource.instance(&address.key)
        };
        let current = plan.changes.iter().filter(|it| it.deposed.is_none());
        let changes = current.filter_map(|it| Some((node(&it.address)?, it)));
        Planned { plan, changes: changes.collect(), evaluated, only_existing: false }
    }

    /// Takes in what was concluded of the run as a whole.
    pub fn of_run(self, judged: &Instances) -> Planned<'a> {
        Planned { only_existing: !judged.only_existing.is_empty(), ..self }
    }

    /// Returns whether nothing was planned: the question is about a state alone.
    pub(super) fn is_of_state(&self) -> bool {
        self.evaluated.is_none()
    }

    /// Returns the value that a node was planned with, if it was evaluated.
    pub(super) fn evaluated(&self, node: Node) -> Option<&'a Value> {
        self.evaluated.filter(|_| !falsifies("values"))?.get(node)
    }

    /// Returns what is done with a node.
    pub fn change(&self, node: Node) -> Option<&'a Change> {
        self.changes.get(&node).copied()
    }
}

impl<'a> Model<'a> {
    /// The node of the plan as a whole.
    pub fn whole(&self) -> Node {
        Node(self.structure.nodes.len() as u32)
    }

    /// Returns what will be: planned, or as the configuration says.
    fn planned(&self, node: Node) -> Option<Value> {
        match self.structure.kind(node) {
            NodeKind::Object(..) => match &self.plan {
                Some(_) if let Some(value) = self.memo.learned.lock().get(&node.0) => {
                    Some(value.clone())
                }
                None => Some(self.written(node)),
                Some(plan) => match plan.change(node) {
                    Some(change) => Some(change.after.clone()).filter(|it| !it.is_null()),
                    // What is left out stays as it is.
                    None => self.recorded(node, &plan.plan.prior_state),
                },
            },
            NodeKind::Pending(_) => Some(self.written(node)),
            NodeKind::Variable(..)
            | NodeKind::Local(..)
            | NodeKind::Output(..)
            | NodeKind::Recorded(_) => {
                Some(Value::object([(Str::from("value"), self.value(node)?)]))
            }
            _ => None,
        }
    }

    /// Returns the value that a variable, a local value or an output has: in the plan, or as it is written where there is none.
    /// `None` of a root output that the plan removes or leaves without a value.
    pub fn value(&self, node: Node) -> Option<Value> {
        let Some(plan) = self.plan.as_ref().filter(|_| !falsifies("values")) else {
            return Some(self.written(node));
        };
        match self.structure.kind(node) {
            NodeKind::Recorded(name) => recorded_output(name, &plan.plan.prior_state),
            NodeKind::Output(_, name) if self.keeps(node) => {
                recorded_output(name, &plan.plan.prior_state)
            }
            NodeKind::Output(Structure::ROOT, name) => match plan.plan.outputs.get(name) {
                Some(change) if change.action == Action::Delete => None,
                Some(change) if !self.has_learned(&change.after) => Some(change.after.clone()),
                _ => Some(self.written(node)),
            },
            _ => Some(self.written(node)),
        }
    }

    /// Returns whether a value may be known better than when the plan was made.
    pub(super) fn has_learned(&self, value: &Value) -> bool {
        !value.is_wholly_known() && !self.memo.learned.lock().is_empty()
    }

    /// Returns whether a plan leaves a root output as the state has it, without evaluating it.
    pub fn keeps(&self, node: Node) -> bool {
        let (Some(plan), NodeKind::Output(Structure::ROOT, name)) =
            (&self.plan, self.structure.kind(node))
        else {
            return false;
        };
        !plan.plan.errored && !plan.plan.outputs.contains_key(name)
    }

    /// Returns what is, after refresh.
    fn old(&self, node: Node) -> Option<Value> {
        let plan = self.plan.as_ref()?;
        match plan.change(node) {
            Some(change) => Some(change.before.clone()).filter(|it| !it.is_null()),
            None => self.recorded(node, &plan.plan.prior_state),
        }
    }

    /// Returns the provider that the state names for an object.
    pub(super) fn recorded_provider(&self, node: Node) -> Option<String> {
        let resources = &self.plan.as_ref()?.plan.prior_state.resources;
        let resource = resources.get(&self.structure.instance(node)?.of())?;
        Some(resource.provider.provider.to_string())
    }

    /// Returns what a state holds of an object.
    pub fn recorded(&self, node: Node, state: &State) -> Option<Value> {
        let address = self.structure.instance(node)?;
        let resource = state.resources.get(&address.of())?;
        let object = resource.instances.get(&address.key)?.current.as_ref()?;
        let value = of_stored(object)?;
        let secrets = self.secrets.get(&secrets_key(&address.resource)).into_iter().flatten();
        let there = secrets.filter(|it| value.get(it).is_some());
        let paths: Vec<Path> = there.map(|it| vec![PathStep::Attribute(it.clone())]).collect();
        Some(value.mark_at(&MarkPaths::sensitive(&paths)))
    }
}

/// Returns the value of an output in a state.
fn recorded_output(name: &Str, state: &State) -> Option<Value> {
    let output = state.outputs.get(name)?;
    let value = output.value.clone();
    // The state says it beside the value, not in it.
    Some(if output.sensitive { value.mark(&Marks::sensitive()) } else { value })
}

/// Returns by what [`Secrets`] name a type.
pub fn secrets_key(name: &ResourceName) -> String {
    match name.mode {
        Mode::Managed => name.kind.to_string(),
        Mode::Data => format!("data.{}", name.kind),
        Mode::Ephemeral => format!("ephemeral.{}", name.kind),
    }
}

/// Returns the value of a stored object, by the looks of it: no schema says more.
fn of_stored(object: &Object) -> Option<Value> {
    let Attributes::Json(text) = &object.attributes else { return None };
    let stored: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let parts = stored.iter().map(|(name, it)| Some((Str::from(name.as_str()), attribute(it)?)));
    let value = Value::object(parts.collect::<Option<Vec<_>>>()?);
    let sensitive: Vec<Path> =
        object.besides.sensitive.iter().map(|it| within(&value, it)).collect();
    Some(value.mark_at(&MarkPaths::sensitive(&sensitive)))
}

/// One whose type its schema leaves open is stored with its type.
fn attribute(text: &RawValue) -> Option<Value> {
    // Most are no objects, and a failure costs more than all else here.
    let parts = text.get().starts_with('{').then(|| serde_json::from_str(text.get()).ok());
    let parts: BTreeMap<String, &RawValue> = parts.flatten().unwrap_or_default();
    if parts.keys().eq(["type", "value"])
        && let Ok(value) = json::from_json(text.get(), Type::DYNAMIC)
    {
        return Some(value);
    }
    json::from_json_implied(text.get()).ok()
}

/// Returns a path as far as it leads: without a schema, a map is an object, and a set a tuple. What is around a secret that is not
/// found is a secret then.
fn within(value: &Value, path: &[PathStep]) -> Path {
    let (mut reached, mut at) = (Path::new(), value.clone());
    for step in path {
        let step = match (&at, step) {
            (Value::Object(_), PathStep::Index(key)) => match key.as_str() {
                Some(name) => PathStep::attribute(name),
                None => return reached,
            },
            _ => step.clone(),
        };
        let Some(next) = path_get(&at, std::slice::from_ref(&step)) else { return reached };
        reached.push(step);
        at = next;
    }
    reached
}

impl Domain for Model<'_> {
    fn value_of(&self, node: u64) -> Option<Value> {
        let (tense, word) = Tense::split(node);
        let node = Node::from_word(word)?;
        if node.0 as usize >= self.structure.nodes.len() {
            return self.elsewhere?.value(node).filter(|_| tense != Tense::Config);
        }
        match tense {
            Tense::Planned => self.planned(node),
            Tense::Old => self.old(node),
            Tense::State => self.recorded(node, self.state?),
            Tense::Config => match self.structure.kind(node) {
                NodeKind::Object(id, _) if self.structure.block(*id).is_none() => None,
                NodeKind::Object(id, _) | NodeKind::Pending(id) => {
                    Some(self.whole_block(node, *id))
                }
                _ => self.planned(node),
            },
        }
    }

    fn is_as_written(&self, node: u64) -> bool {
        let (tense, word) = Tense::split(node);
        let node = Node::from_word(word).filter(|it| (it.0 as usize) < self.structure.nodes.len());
        let (None, Tense::Planned, Some(node)) = (&self.plan, tense, node) else { return false };
        match self.structure.kind(node) {
            NodeKind::Object(id, _) | NodeKind::Pending(id) => {
                // What those of the program itself take is known: any value, as it is.
                self.structure.block(*id).is_some_and(|it| !it.provider_source.is_builtin())
            }
            _ => false,
        }
    }

    fn is_several(&self, node: u64) -> bool {
        let Some(node) = Node::from_word(Tense::split(node).1) else { return false };
        if let Some(module) = self.module_of_node(node) {
            return self.structure.module(module).pending;
        }
        match self.structure.nodes.get(node.0 as usize) {
            Some(NodeKind::Pending(_)) => true,
            Some(
                NodeKind::Object(..)
                | NodeKind::Variable(..)
                | NodeKind::Local(..)
                | NodeKind::Output(..),
            ) => self.module_id(node).is_some_and(|it| self.structure.module(it).pending),
            _ => false,
        }
    }

    fn show(&self, kind: &str, word: u64) -> Str {
        if kind == Node::KIND || kind.is_empty() {
            let node = Node::from_word(Tense::split(word).1);
            return node.map_or(Str::default(), |it| Str::from(self.address(it)));
        }
        word_text(kind, word).map_or_else(|| Str::from(word.to_string()), Str::from)
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn world(&self) -> &World {
        self.world
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{attribute, within};
    use crate::expression::print::format_value;
    use crate::value::{MarkPaths, PathStep, Value};

    fn of(text: &str) -> Value {
        let raw: Box<RawValue> = serde_json::from_str(text).expect("JSON");
        attribute(&raw).expect("a value")
    }

    #[test]
    fn what_is_stored_with_its_type_is_the_value() {
        let with = r#"{"value":{"a":"x"},"type":["object",{"a":"string"}]}"#;
        assert_eq!(format_value(&of(with)), format_value(&of(r#"{"a":"x"}"#)));
        let own = r#"{"type":"ingress","value":"x"}"#;
        assert!(of(own).get("type").is_some(), "an object of that looks stays");
    }

    #[test]
    fn a_secret_whose_path_leads_nowhere_hides_what_is_around_it() {
        let value = of(r#"{"tags":{"key":"x","other":"y"},"set":["x"]}"#);
        let hidden = |path: &[PathStep]| {
            let value = value.clone().mark_at(&MarkPaths::sensitive([&within(&value, path)]));
            let is_hidden = |name: &str| value.get(name).is_some_and(Value::contains_sensitive);
            (is_hidden("tags"), is_hidden("set"))
        };
        let tags = PathStep::attribute("tags");
        assert_eq!(hidden(&[tags.clone(), PathStep::key("key")]), (true, false));
        assert_eq!(hidden(&[tags, PathStep::key("gone")]), (true, false));
        let element = PathStep::Index(Value::string("x"));
        assert_eq!(hidden(&[PathStep::attribute("set"), element]), (false, true));
    }
}
