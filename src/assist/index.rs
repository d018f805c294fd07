//! What a text declares, and what it refers to: names and their places, found in its tree.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::document::{Language, range, whole};
use crate::address::{Mode, ResourceName};
use crate::config::uses::{Role, Use as Used, of_body, of_value};
use crate::diagnostic::Span;
use crate::expression::{Reference, Subject};
use crate::syntax::{Attribute, Block, BlockSchema, Body, Expression, Name, Root, Step};
use crate::value::Str;

/// What has a name in a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entity {
    /// `variable "NAME"`
    Variable(Str),
    /// A local value.
    Local(Str),
    /// `output "NAME"`
    Output(Str),
    /// `resource`, `data`, `ephemeral`
    Resource(ResourceName),
    /// `module "NAME"`
    Call(Str),
    /// `provider "NAME"`, with its alias.
    Provider(Str, Option<Str>),
    /// `check "NAME"`
    Check(Str),
    /// `run "NAME"` of a test.
    Run(Str),
}

impl Entity {
    /// Returns its name.
    pub fn name(&self) -> &Str {
        match self {
            Entity::Variable(it) | Entity::Local(it) | Entity::Output(it) => it,
            Entity::Call(it) | Entity::Check(it) | Entity::Run(it) => it,
            Entity::Resource(it) => &it.name,
            Entity::Provider(name, alias) => alias.as_ref().unwrap_or(name),
        }
    }

    /// Returns the same with another name.
    pub fn renamed(&self, to: &str) -> Entity {
        let to = Str::from(to);
        match self {
            Entity::Variable(_) => Entity::Variable(to),
            Entity::Local(_) => Entity::Local(to),
            Entity::Output(_) => Entity::Output(to),
            Entity::Call(_) => Entity::Call(to),
            Entity::Check(_) => Entity::Check(to),
            Entity::Run(_) => Entity::Run(to),
            Entity::Resource(it) => Entity::Resource(ResourceName { name: to, ..it.clone() }),
            Entity::Provider(name, Some(_)) => Entity::Provider(name.clone(), Some(to)),
            Entity::Provider(_, None) => Entity::Provider(to, None),
        }
    }

    /// Returns how it is referred to, or named where nothing refers to it.
    pub fn address(&self) -> String {
        match self {
            Entity::Variable(it) => format!("var.{it}"),
            Entity::Local(it) => format!("local.{it}"),
            Entity::Output(it) => format!("output.{it}"),
            Entity::Call(it) => format!("module.{it}"),
            Entity::Check(it) => format!("check.{it}"),
            Entity::Run(it) => format!("run.{it}"),
            Entity::Resource(it) => it.to_string(),
            Entity::Provider(name, Some(alias)) => format!("{name}.{alias}"),
            Entity::Provider(name, None) => name.to_string(),
        }
    }
}

/// The place at which something gets its name.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What it is.
    pub entity: Entity,
    /// Where its name stands, without quotes.
    pub name: Range<usize>,
    /// Where its header stands.
    pub header: Range<usize>,
    /// The whole block, or the whole argument.
    pub whole: Range<usize>,
}

/// What a use does with what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It reads it.
    Reads,
    /// It gives it a value: an argument of a call, a line of a file of values.
    Gives,
    /// It says what it was called before, or where it went: `moved`, `removed`.
    Records,
}

/// A place that names something.
#[derive(Clone, Debug)]
pub struct Use {
    /// What is named.
    pub entity: Entity,
    /// The call in whose module it is; nothing for what is in the module at hand.
    pub call: Option<Str>,
    /// Where the name stands.
    pub name: Range<usize>,
    /// The whole reference.
    pub whole: Range<usize>,
    /// What the use is for.
    pub manner: Manner,
}

/// What a text declares, and what it refers to.
#[derive(Debug, Default)]
pub struct Index {
    /// In the order of the text.
    pub declarations: Vec<Declaration>,
    /// In the order of the text.
    pub uses: Vec<Use>,
}

const LABELLED: [BlockSchema<'static>; 14] = [
    BlockSchema { kind: "provider", labels: &["name"] },
    BlockSchema { kind: "variable", labels: &["name"] },
    BlockSchema { kind: "locals", labels: &[] },
    BlockSchema { kind: "output", labels: &["name"] },
    BlockSchema { kind: "module", labels: &["name"] },
    BlockSchema { kind: "resource", labels: &["type", "name"] },
    BlockSchema { kind: "data", labels: &["type", "name"] },
    BlockSchema { kind: "ephemeral", labels: &["type", "name"] },
    BlockSchema { kind: "moved", labels: &[] },
    BlockSchema { kind: "import", labels: &[] },
    BlockSchema { kind: "check", labels: &["name"] },
    BlockSchema { kind: "removed", labels: &[] },
    BlockSchema { kind: "terraform", labels: &[] },
    BlockSchema { kind: "language", labels: &[] },
];

/// Returns a file in JSON syntax with its blocks where those of native syntax are.
pub(super) fn unpacked(body: Body) -> Body {
    let span = body.span;
    let (content, _, _) = body.into_partial_content(&[], &LABELLED);
    Body { span, ..content }
}

impl Index {
    /// Finds out what a text declares and refers to.
    pub(super) fn of(language: Language, body: &Body, text: &str) -> Index {
        let mut reader =
            Reader { text, index: Index::default(), in_test: language == Language::Test };
        match language {
            Language::Values | Language::JsonValues => {
                body.literal_attributes().0.iter().for_each(|it| reader.given(it, None));
            }
            Language::Rules => {}
            _ => body.blocks.iter().for_each(|it| reader.block(it)),
        }
        // The data source of a check stands in two blocks.
        let uses = &mut reader.index.uses;
        uses.sort_by(|a, b| (a.name.start, &a.entity).cmp(&(b.name.start, &b.entity)));
        uses.dedup_by(|a, b| a.name == b.name && a.entity == b.entity);
        reader.index
    }
}

struct Reader<'a> {
    text: &'a str,
    index: Index,
    in_test: bool,
}

impl Reader<'_> {
    fn block(&mut self, block: &Block) {
        let label = |at: usize| block.labels.get(at).map(|it| (it.text.clone(), self.bare(it)));
        let resource = |mode| {
            let (kind, (name, place)) = (label(0)?.0, label(1)?);
            Some((Entity::Resource(ResourceName { mode, kind, name }), place))
        };
        let named = |make: fn(Str) -> Entity| label(0).map(|(name, place)| (make(name), place));
        let declared = match &*block.kind.text {
            "variable" => named(Entity::Variable),
            "output" => named(Entity::Output),
            "module" => named(Entity::Call),
            "check" => named(Entity::Check),
            "run" if self.in_test => named(Entity::Run),
            "provider" => self.provider(block),
            "resource" => resource(Mode::Managed),
            "data" => resource(Mode::Data),
            "ephemeral" => resource(Mode::Ephemeral),
            _ => None,
        };
        if let Some((entity, name)) = declared {
            let (header, whole) = (range(block.header), whole(block));
            self.index.declarations.push(Declaration { entity, name, header, whole });
        }
        match &*block.kind.text {
            "locals" => self.locals(block),
            "variables" if self.in_test => self.inputs(block),
            "variable" => {
                for it in block.body.blocks_of("validation") {
                    self.expressions(&it.body, &[]);
                }
            }
            "module" => self.call(block),
            "moved" | "removed" => self.recorded(block),
            "import" => {
                if let Some(to) = value(&block.body, "to") {
                    self.address(&to, Manner::Reads);
                }
                self.expressions(&block.body, &["to", "provider"]);
            }
            "resource" | "data" | "ephemeral" => {
                self.provider_of(&block.body);
                self.expressions(&block.body, &["provider"]);
            }
            "check" => {
                block
                    .body
                    .blocks
                    .iter()
                    .filter(|it| &*it.kind.text == "data")
                    .for_each(|it| self.block(it));
                self.expressions(&block.body, &[]);
            }
            "terraform" | "language" => {}
            _ => self.expressions(&block.body, &["alias"]),
        }
        if self.in_test && &*block.kind.text == "run" {
            block.body.blocks_of("variables").for_each(|it| self.inputs(it));
        }
    }

    /// The bytes of a label without its quotes.
    fn bare(&self, name: &Name) -> Range<usize> {
        let all = range(name.span);
        match self.text.get(all.clone()) {
            Some(text) if text.len() >= 2 && text.starts_with('"') => all.start + 1..all.end - 1,
            _ => all,
        }
    }

    fn provider(&self, block: &Block) -> Option<(Entity, Range<usize>)> {
        let name = block.labels.first()?;
        let alias = value(&block.body, "alias");
        let alias = alias.as_ref().and_then(|it| Some((it.as_static_string()?.clone(), it.span)));
        Some(match alias {
            Some((alias, span)) => {
                let place = self.bare(&Name::new(alias.clone(), span));
                (Entity::Provider(name.text.clone(), Some(alias)), place)
            }
            None => (Entity::Provider(name.text.clone(), None), self.bare(name)),
        })
    }

    fn locals(&mut self, block: &Block) {
        for it in block.body.just_attributes().0 {
            let place = self.bare(&it.name);
            self.index.declarations.push(Declaration {
                entity: Entity::Local(it.name.text.clone()),
                name: place.clone(),
                header: place,
                whole: range(it.span()),
            });
            self.used(&of_value(&it.value));
        }
    }

    /// Values for variables, by name; the values are expressions.
    fn inputs(&mut self, block: &Block) {
        for it in block.body.just_attributes().0 {
            self.given(&it, None);
            self.used(&of_value(&it.value));
        }
    }

    fn given(&mut self, it: &Attribute, call: Option<Str>) {
        let (name, whole) = (self.bare(&it.name), range(it.span()));
        let entity = Entity::Variable(it.name.text.clone());
        self.index.uses.push(Use { entity, call, name, whole, manner: Manner::Gives });
    }

    fn call(&mut self, block: &Block) {
        let Some(name) = block.labels.first().map(|it| it.text.clone()) else { return };
        for it in block.body.just_attributes().0 {
            if it.name.text == "providers" {
                for item in it.value.as_object().unwrap_or_default() {
                    self.provider_named(&item.value);
                }
            } else if !META.contains(&&*it.name.text) {
                self.given(&it, Some(name.clone()));
            }
        }
        self.expressions(&block.body, &["providers"]);
    }

    fn provider_of(&mut self, body: &Body) {
        if let Some(it) = value(body, "provider") {
            self.provider_named(&it);
        }
    }

    fn provider_named(&mut self, value: &Expression) {
        let Some((root, steps)) = value.as_traversal() else { return };
        let (alias, at) = match steps.first() {
            Some(Step::Attribute(it)) => (Some(it.text.clone()), it.span),
            _ => (None, root.span),
        };
        let entity = Entity::Provider(root.text.clone(), alias);
        self.use_of(entity, (at, value.span), Manner::Reads);
    }

    fn use_of(&mut self, entity: Entity, (name, whole): (Span, Span), manner: Manner) {
        let (name, whole) = (range(name), range(whole));
        self.index.uses.push(Use { entity, call: None, name, whole, manner });
    }

    fn recorded(&mut self, block: &Block) {
        for name in ["from", "to"] {
            if let Some(it) = value(&block.body, name) {
                self.address(&it, Manner::Records);
            }
        }
    }

    /// What an address names: a resource or a call of the module at hand, or a resource of a called module.
    fn address(&mut self, value: &Expression, manner: Manner) {
        let Some((root, steps)) = value.as_traversal() else { return };
        let Ok(found) = crate::expression::parse_reference(root, steps) else { return };
        if let Some(entity) = entity_of(found.subject) {
            let name = last_name(root, steps, found.rest.len());
            self.use_of(entity, (name, value.span), manner);
        }
        let Subject::Module(call) = found.subject else { return };
        let rest = match found.rest {
            [Step::Index(..) | Step::LegacyIndex(..), rest @ ..] | rest => rest,
        };
        if let [Step::Attribute(kind), Step::Attribute(name), ..] = rest
            && kind.text != "module"
        {
            let name_of = ResourceName::managed(&kind.text, &name.text);
            self.index.uses.push(Use {
                entity: Entity::Resource(name_of),
                call: Some(Str::clone(call)),
                name: range(name.span),
                whole: range(value.span),
                manner,
            });
        }
    }

    /// What the expressions of a body refer to, but for some arguments of it.
    fn expressions(&mut self, body: &Body, but: &[&str]) {
        let left_out: FxHashSet<Span> =
            but.iter().filter_map(|it| value(body, it)).map(|it| it.span).collect();
        for it in of_body(body, Role::Value) {
            let is_out = left_out.iter().any(|out| out.contains(it.expression.span));
            if !is_out {
                self.used(&it);
            }
        }
    }

    fn used(&mut self, it: &Used<'_>) {
        for reference in it.references().0 {
            self.reference(&reference);
        }
    }

    fn reference(&mut self, it: &Reference<'_>) {
        let entity = match it.subject {
            Subject::Resource(named) if self.in_test && named.mode == Mode::Managed => {
                match &**named.kind {
                    "output" => Some(Entity::Output(named.name.clone())),
                    "run" => Some(Entity::Run(named.name.clone())),
                    _ => entity_of(it.subject),
                }
            }
            other => entity_of(other),
        };
        let Some(entity) = entity else { return };
        let end = it.subject_span.end();
        let name = it.subject_span.starting_at(end.saturating_sub(entity.name().len() as u32));
        // In JSON an escape may stand between: such a name is found, but not changed.
        let is_plain = self.text.get(range(name)) == Some(&**entity.name());
        let name = if is_plain { name } else { it.subject_span };
        let call = match &entity {
            Entity::Call(name) => Some(name.clone()),
            _ => None,
        };
        self.use_of(entity, (name, it.span), Manner::Reads);
        let rest = match it.rest {
            [Step::Index(..) | Step::LegacyIndex(..), rest @ ..] | rest => rest,
        };
        if let (Some(call), Some(Step::Attribute(output))) = (call, rest.first()) {
            self.index.uses.push(Use {
                entity: Entity::Output(output.text.clone()),
                call: Some(call),
                name: range(output.span),
                whole: range(it.span),
                manner: Manner::Reads,
            });
        }
    }
}

/// The arguments of a call that are no inputs of its module.
const META: [&str; 8] =
    ["source", "version", "count", "for_each", "enabled", "depends_on", "providers", "lifecycle"];

fn entity_of(subject: Subject<'_>) -> Option<Entity> {
    Some(match subject {
        Subject::Variable(it) => Entity::Variable(it.clone()),
        Subject::Local(it) => Entity::Local(it.clone()),
        Subject::Module(it) => Entity::Call(it.clone()),
        Subject::Resource(it) => Entity::Resource(it.to_owned()),
        _ => return None,
    })
}

/// The place of the last name before the rest of a traversal.
fn last_name(root: &Root, steps: &[Step], rest: usize) -> Span {
    match steps.len().checked_sub(rest + 1).map(|it| &steps[it]) {
        Some(Step::Attribute(name)) => name.span,
        _ => root.span,
    }
}

/// The value of an argument whose form counts.
pub(super) fn value(body: &Body, name: &str) -> Option<Expression> {
    body.bare(name).ok().flatten()
}
