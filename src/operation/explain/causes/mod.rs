//! Where values come from: what of an object differs, and through which references that leads to what began it – a flag, a file of
//! variables, an argument that was edited, a change outside, an object that is made or replaced.
//!
//! Nothing here decides what is done: a plan says what differs and what its providers force, the configuration where it is written.
//! What is known to be as it was is followed no further. Values that are secret are named and never shown.

mod happened;
mod normalised;
mod object;
pub mod origin;
mod part;
mod secret;
mod show;
mod values;
mod written;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use entail_rules::{Action, Node};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

pub use part::{Context, Owner, Part};
pub use secret::lines as secret_lines;
use show::is;
pub(in crate::operation) use show::{change_shown, look, shown, shown_path};
pub use show::{lines, to_json};

use self::origin::Given;
use self::written::{Reader, Written, in_body};
use crate::diagnostic::Span;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId};
use crate::policy::model::Model;
use crate::syntax::Expression;
use crate::value::{PathStep, Str, Value, unknown};

/// How many causes are told of one question.
const MOST: usize = 2_000;

/// How much of a value is shown, in characters.
const WIDTH: usize = 72;

/// What causes are found in.
pub struct Causes<'a> {
    /// The plan, with what it was made from.
    pub model: &'a Model<'a>,
    /// Where the root module's variables were given.
    pub given: &'a BTreeMap<Str, Given>,
    /// What the keys of a block are, as words: whoever asks of each of its instances asks for them as often.
    keys: Mutex<FxHashMap<Owner, String>>,
}

/// One step on the way to what began a change.
#[derive(Clone, Debug)]
pub struct Cause {
    /// How many steps it stands behind what is asked; at least 1.
    pub depth: usize,
    /// Which cause it is one of, by its number; nothing for the first ones.
    pub of: Option<usize>,
    /// What it is: `edited`, `drift`, `flag`, `file`, `reads`, and so on.
    pub kind: &'static str,
    /// What it is about: an address, an attribute with its object, a value.
    pub subject: String,
    /// The node that is, where there is one.
    pub node: Option<Node>,
    /// The attribute, where it is about one.
    pub attribute: Option<String>,
    /// The same as a sentence.
    pub text: String,
    /// Where that is said: `main.tf:2,38`, a flag, the state, the provider's own word.
    pub place: Option<String>,
    /// What it was and becomes, as far as it may be shown.
    pub change: Option<(String, String)>,
    /// Whether the provider cannot make the change in place.
    pub forces: bool,
}

/// What is known of one part, and what it comes from in turn.
struct Found {
    kind: &'static str,
    text: String,
    place: Option<String>,
    change: Option<(String, String)>,
    forces: bool,
    because: Vec<Step>,
}

/// What is told next.
enum Step {
    /// A part, with its own causes.
    Part(Part),
    /// Something that ends there.
    Note(Note),
}

/// A cause that has none in turn.
struct Note {
    kind: &'static str,
    subject: String,
    text: String,
    place: Option<String>,
}

impl Found {
    fn new(kind: &'static str, text: String, place: Option<String>) -> Found {
        Found { kind, text, place, change: None, forces: false, because: Vec::new() }
    }
}

impl<'a> Causes<'a> {
    /// Returns what a plan comes from.
    ///
    /// - `given`: where the root module's variables were given.
    pub fn new(model: &'a Model<'a>, given: &'a BTreeMap<Str, Given>) -> Causes<'a> {
        Causes { model, given, keys: Mutex::default() }
    }
}

impl Causes<'_> {
    /// Tells what a part comes from: itself first, each step before those behind it.
    pub fn of(&self, part: Part) -> Vec<Cause> {
        self.told(vec![(Step::Part(part), 1, None)])
    }

    /// Tells why an object is changed, without naming the change itself: what differs, and what that comes from.
    pub fn of_object(&self, node: Node) -> Vec<Cause> {
        let steps = self.object(node, true).because;
        self.told(steps.into_iter().map(|it| (it, 1, None)).collect())
    }

    fn told(&self, mut todo: Vec<(Step, usize, Option<usize>)>) -> Vec<Cause> {
        let (mut told, mut seen): (Vec<Cause>, HashSet<String>) = Default::default();
        todo.reverse();
        while let Some((step, depth, of)) = todo.pop() {
            if told.len() >= MOST {
                break;
            }
            let (part, found) = match step {
                Step::Note(it) => {
                    let found = Found::new(it.kind, it.text, it.place);
                    told.push(cause((depth, of), it.subject, None, None, found));
                    continue;
                }
                Step::Part(part) => (part.clone(), self.found(&part)),
            };
            let subject = part.name(self.model.structure);
            let is_new = seen.insert(format!("{}{subject}", matches!(part, Part::Object(_))));
            let attribute = match &part {
                Part::Attribute(_, path) if !path.is_empty() => Some(shown_path(path)),
                _ => None,
            };
            let mut found = found;
            let because = std::mem::take(&mut found.because);
            if !is_new && !because.is_empty() {
                found.text.push_str(" (see above)");
            }
            told.push(cause((depth, of), subject, part.node(), attribute, found));
            if is_new {
                let own = told.len() - 1;
                todo.extend(because.into_iter().rev().map(|it| (it, depth + 1, Some(own))));
            }
        }
        told
    }

    fn found(&self, part: &Part) -> Found {
        match part {
            Part::Object(node) => self.object(*node, false),
            Part::Attribute(node, path) => self.attribute(*node, path),
            Part::Value(node, path) => self.value(*node, path),
            Part::Keys(owner, at) => self.keys(*owner, at.as_ref()),
            Part::Check(node) => self.check(*node),
        }
    }

    fn plainly(&self, module: ModuleId) -> Context {
        Context { module, owner: None }
    }

    /// What expressions refer to, without what is known to be as it was.
    fn read(&self, written: &[Written], context: &Context) -> Vec<Step> {
        let reader = Reader { model: self.model, context };
        let parts = written.iter().flat_map(|it| reader.parts(it)).map(|it| it.0);
        parts.filter(|it| !self.is_as_it_was(it)).map(Step::Part).collect()
    }

    fn is_as_it_was(&self, part: &Part) -> bool {
        // What only hands on another value is as it was where that is.
        let mut part = part.clone();
        while let Part::Value(node, path) = &part {
            let Some(next) = self.handed_on(*node, path) else { return false };
            part = next;
        }
        // The values behind keys may differ where these do not.
        if let Part::Keys(owner, None) = &part {
            return self.has_same_keys(*owner);
        }
        let Part::Attribute(node, path) = &part else { return false };
        match self.model.plan.as_ref().and_then(|it| it.change(*node)) {
            Some(change) if change.action == Action::NoOp => true,
            Some(change) => {
                let (before, after) = (look(&change.before, path), look(&change.after, path));
                before
                    .zip(after)
                    .is_some_and(|(before, after)| agree(&before, &after) == Some(true))
            }
            None => {
                let (was, is) = self.recorded(*node);
                let (was, is) =
                    (was.and_then(|it| look(&it, path)), is.and_then(|it| look(&it, path)));
                was.zip(is).is_some_and(|(was, is)| agree(&was, &is) == Some(true))
            }
        }
    }

    /// Whether a block has the instances that it had before the plan.
    fn has_same_keys(&self, owner: Owner) -> bool {
        let structure = self.model.structure;
        let Some(state) = self.model.state else { return false };
        match owner {
            Owner::Resource(id) => {
                let resource = structure.resource(id);
                let recorded = state.resources.get(&resource.address);
                resource.besides.others.is_empty()
                    && recorded.is_some_and(|it| {
                        resource.instances.keys().all(|key| it.instances.contains_key(key))
                    })
            }
            Owner::Call(id) => {
                let call = structure.call(id);
                let around = &structure.module(call.parent).address.0;
                let keys = state.resources.keys().filter_map(|it| {
                    let path = &it.module.0;
                    let step = path.get(around.len()).filter(|it| it.0 == call.name)?;
                    path.starts_with(around).then(|| step.1.clone())
                });
                let recorded: BTreeSet<_> = keys.collect();
                call.instances.keys().cloned().collect::<BTreeSet<_>>() == recorded
            }
        }
    }

    /// The expression that a variable of a called module, a local value or an output has its value from, with what it is read in.
    fn assigned(&self, node: Node) -> Option<(&Expression, Context)> {
        let structure = self.model.structure;
        match structure.kind(node) {
            NodeKind::Variable(module, name) => {
                let module = structure.module(*module);
                let (parent, call) = module.parent?;
                let block = structure.call_block(call)?;
                let owner = Some((Owner::Call(call), module.key.clone()));
                Some((&block.inputs.get(name)?.value, Context { module: parent, owner }))
            }
            NodeKind::Local(module, name) => {
                let config = &structure.module(*module).config;
                Some((&config.locals.get(name)?.value, self.plainly(*module)))
            }
            NodeKind::Output(module, name) => {
                let config = &structure.module(*module).config;
                Some((&config.outputs.get(name)?.value, self.plainly(*module)))
            }
            _ => None,
        }
    }

    /// What the state file held of an object, and what is known of it now.
    fn recorded(&self, node: Node) -> (Option<Value>, Option<Value>) {
        let was = self.model.state.and_then(|it| self.model.recorded(node, it));
        let plan = self.model.plan.as_ref();
        (was, plan.and_then(|it| self.model.recorded(node, &it.plan.prior_state)))
    }

    fn place(&self, span: Span) -> Option<String> {
        (span.file().0 != 0).then(|| self.model.sources.place(span)).filter(|it| !it.is_empty())
    }

    /// Where the arguments of an object stand: the block, and what its names mean.
    fn block(&self, node: Node) -> Option<(ResourceId, Context)> {
        let NodeKind::Object(id, key) = self.model.structure.kind(node) else { return None };
        let module = self.model.structure.resource(*id).module?;
        self.model.structure.block(*id)?;
        let owner = Some((Owner::Resource(*id), key.clone()));
        Some((*id, Context { module, owner }))
    }

    fn arguments(&self, node: Node, path: &[PathStep]) -> Vec<Written> {
        let block = self.block(node).and_then(|it| self.model.structure.block(it.0));
        block.map_or_else(Vec::new, |it| in_body(&it.body, path))
    }
}

fn cause(
    (depth, of): (usize, Option<usize>),
    subject: String,
    node: Option<Node>,
    attribute: Option<String>,
    found: Found,
) -> Cause {
    let Found { kind, text, place, change, forces, .. } = found;
    Cause { depth, of, kind, subject, node, attribute, text, place, change, forces }
}

/// Whether two values are the same, marks aside; nothing where that is not known yet.
fn agree(one: &Value, other: &Value) -> Option<bool> {
    unknown::known_equality(&one.to_plain(), &other.to_plain())
}
