//! What the body of a block takes: arguments and blocks, of the language, of providers, of modules and of backends.

use super::expected::{Argument, Expected, Nested};
use super::language::{self, ArgumentWords, BlockWords};
use super::module::{Module, value_text};
use super::schemas::Schemas;
use super::workspace::Workspace;
use super::{Entity, Language};
use crate::address::Mode;
use crate::backend::registry;
use crate::backend::shape::Setting;
use crate::schema::{AttributeSchema, BlockSchema, NestedBlock};
use crate::syntax::Block;

/// A block around a place: its type and its labels.
pub(super) type Header<'a> = (&'a str, Vec<&'a str>);

/// Where bodies are looked at.
pub(super) struct Bodies<'a> {
    pub workspace: &'a Workspace,
    pub module: &'a Module,
    pub schemas: &'a Schemas,
    pub language: Language,
}

impl Bodies<'_> {
    /// Returns what the innermost of some blocks takes, outermost first; of none, what a file takes.
    pub fn expected(&self, blocks: &[Header<'_>], outermost: Option<&Block>) -> Expected {
        let top = match self.language {
            Language::Test => language::TEST,
            _ => language::CONFIG,
        };
        let Some(((kind, labels), inner)) = blocks.split_first() else {
            return Expected { arguments: Vec::new(), blocks: top.iter().map(nested).collect() };
        };
        let Some(words) = top.iter().find(|it| it.kind == *kind) else {
            return Expected::default();
        };
        let mode = match *kind {
            "resource" => Some(Mode::Managed),
            "data" => Some(Mode::Data),
            "ephemeral" => Some(Mode::Ephemeral),
            _ => None,
        };
        let schema = match (mode, labels.first()) {
            (Some(mode), Some(kind)) => self.schemas.resource(self.module, (mode, kind), outermost),
            _ => None,
        };
        let block = match (*kind, labels.first()) {
            ("provider", Some(name)) => {
                self.schemas.provider(&self.module.provider(name)).map(|it| &it.provider.block)
            }
            _ => schema.map(|it| &it.block),
        };
        let mut found = within(words, block, inner);
        match (*kind, inner) {
            ("module", []) => {
                found.arguments.extend(self.inputs(labels.first().copied(), outermost))
            }
            ("variables", []) => found.arguments.extend(inputs_of(self.module)),
            ("run", [("variables", _)]) => found.arguments.extend(inputs_of(self.module)),
            ("terraform", [("backend", labels)]) => found.arguments.extend(settings(labels)),
            _ => {}
        }
        found
    }

    /// The inputs of the module that a call leads to.
    fn inputs(&self, call: Option<&str>, block: Option<&Block>) -> Vec<Argument> {
        let called = call.and_then(|it| self.workspace.called(self.module, it));
        let called = called.or_else(|| {
            // A call that cannot be read yet may have a source already.
            let source = block.and_then(|it| value_text(it, "source"))?;
            let folder = self.module.folder.join(source.strip_prefix("./").unwrap_or(&source));
            source
                .starts_with('.')
                .then(|| self.workspace.module(&crate::world::files::by_name(&folder)))
        });
        called.map(|it| inputs_of(&it)).unwrap_or_default()
    }
}

/// The variables of a module, as arguments.
pub(super) fn inputs_of(module: &Module) -> Vec<Argument> {
    let mut found = Vec::new();
    for entity in module.entities() {
        let (Entity::Variable(name), Some((document, block))) = (entity, module.block(entity))
        else {
            continue;
        };
        let ty = super::index::value(&block.body, "type");
        found.push(Argument {
            name: name.to_string(),
            required: block.body.literal("default").is_none(),
            ty: ty.map_or("any", |it| document.text_of(it.span)).to_owned(),
            about: value_text(block, "description").map(|it| it.to_string()).unwrap_or_default(),
            ..Argument::default()
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The settings of a kind of backend.
fn settings(labels: &[&str]) -> Vec<Argument> {
    let kind = labels.first().and_then(|it| registry::kind(it));
    let settings = kind.map(|it| it.settings).unwrap_or_default();
    let argument = |it: &Setting| Argument {
        name: it.name.to_owned(),
        required: it.is_required,
        is_sensitive: it.is_sensitive,
        ty: it.shape.ty().friendly_constraint(),
        value: Some(it.shape.ty()),
        ..Argument::default()
    };
    settings.iter().map(argument).collect()
}

fn within(words: &BlockWords, schema: Option<&BlockSchema>, inner: &[Header<'_>]) -> Expected {
    let Some(((kind, labels), rest)) = inner.split_first() else {
        let mut found = Expected {
            arguments: words.arguments.iter().map(argument).collect(),
            blocks: words.blocks.iter().map(nested).collect(),
        };
        if let Some(schema) = schema {
            found.add(schema);
        }
        if schema.is_none_or(|it| it.blocks.is_empty()) {
            found.blocks.retain(|it| it.name != "dynamic");
        }
        return found;
    };
    if *kind == "dynamic" {
        let block = labels.first().and_then(|it| schema?.blocks.get(*it)).map(|it| &it.block);
        return match rest.split_first() {
            Some((("content", _), rest)) => in_schema(block, rest),
            _ => words
                .blocks
                .iter()
                .find(|it| it.kind == "dynamic")
                .map_or_else(Expected::default, |it| within(it, None, rest)),
        };
    }
    if let Some(words) = words.blocks.iter().find(|it| it.kind == *kind) {
        let is_data = words.kind == "data";
        return within(words, None, if is_data { &[] } else { rest });
    }
    in_schema(schema.and_then(|it| it.blocks.get(*kind)).map(|it| &it.block), rest)
}

/// What a block of a schema takes, or a block in it.
fn in_schema(schema: Option<&BlockSchema>, inner: &[Header<'_>]) -> Expected {
    let Some(schema) = schema else { return Expected::default() };
    match inner.split_first() {
        Some((("dynamic", labels), rest)) => {
            let block = labels.first().and_then(|it| schema.blocks.get(*it)).map(|it| &it.block);
            in_schema(block, rest.split_first().map_or(&[], |it| it.1))
        }
        Some(((kind, _), rest)) => in_schema(schema.blocks.get(*kind).map(|it| &it.block), rest),
        None => {
            let mut found = Expected::default();
            found.add(schema);
            found
        }
    }
}

impl Expected {
    /// Adds what a schema takes.
    fn add(&mut self, schema: &BlockSchema) {
        self.arguments.extend(arguments(schema));
        let blocks = schema.blocks.iter();
        self.blocks.extend(blocks.map(|(name, it)| nested_block(name, it)));
    }
}

/// The attributes of a schema, those that cannot be set among them.
pub(super) fn arguments(schema: &BlockSchema) -> Vec<Argument> {
    schema.attributes.iter().map(|(name, it)| attribute(name, it)).collect()
}

pub(super) fn attribute(name: &str, it: &AttributeSchema) -> Argument {
    Argument {
        name: name.to_owned(),
        required: it.required,
        is_read_only: !it.required && !it.optional,
        is_computed: it.computed,
        is_sensitive: it.sensitive,
        is_deprecated: it.deprecated || it.documentation.deprecation.is_some(),
        ty: it.ty.friendly_constraint(),
        value: Some(it.ty),
        about: it.documentation.text.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

fn nested_block(name: &str, it: &NestedBlock) -> Nested {
    Nested {
        name: name.to_owned(),
        labels: Vec::new(),
        required: it.min_items > 0,
        is_single: it.max_items == 1,
        about: it.block.documentation.text.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

fn argument(it: &ArgumentWords) -> Argument {
    Argument {
        name: it.name.to_owned(),
        required: it.required,
        ty: it.ty.to_owned(),
        about: it.about.to_owned(),
        ..Argument::default()
    }
}

fn nested(it: &BlockWords) -> Nested {
    Nested {
        name: it.kind.to_owned(),
        labels: it.labels.iter().map(ToString::to_string).collect(),
        required: false,
        is_single: false,
        about: it.about.to_owned(),
    }
}
