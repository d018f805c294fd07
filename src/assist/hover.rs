//! What stands at a place, in words: its type, what it is for, where it comes from.

use std::ops::Range;
use std::path::Path;

use super::bodies::{Bodies, Header};
use super::definition::target_at;
use super::document::{Document, Language, range};
use super::index::{Entity, value};
use super::module::{Module, value_text};
use super::schemas::{Schemas, resource_of};
use super::workspace::Workspace;
use super::{rules, signature};
use crate::address::ResourceName;
use crate::config::implied_provider;
use crate::schema::{BlockSchema, Documentation};
use crate::syntax::{At, Block, cursor};

/// Words about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// Markdown.
    pub text: String,
    /// The bytes that it is about.
    pub range: Range<usize>,
}

/// How many characters of an expression are shown.
const SHOWN: usize = 400;

/// Returns what is known of what stands at a byte of a file.
pub fn hover(workspace: &Workspace, path: &Path, at: usize) -> Option<Hover> {
    let document = workspace.document(path)?;
    if document.language == Language::Rules {
        return rules::hover(workspace, &document, at);
    }
    let module = workspace.module_of(path);
    let schemas = workspace.schemas(&module.folder);
    let look = Look { workspace, document: &document, module: &module, schemas: &schemas };
    look.function(at)
        .or_else(|| look.attribute(at))
        .or_else(|| look.entity(path, at))
        .or_else(|| look.header(at))
        .or_else(|| look.argument(at))
}

struct Look<'a> {
    workspace: &'a Workspace,
    document: &'a Document,
    module: &'a Module,
    schemas: &'a Schemas,
}

/// The bytes of the name around a byte.
pub(super) fn word(text: &str, at: usize) -> Range<usize> {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let is_part = |it: &char| it.is_alphanumeric() || *it == '_' || *it == '-';
    let before: usize = text[..at].chars().rev().take_while(is_part).map(char::len_utf8).sum();
    let after: usize = text[at..].chars().take_while(is_part).map(char::len_utf8).sum();
    at - before..at + after
}

impl Look<'_> {
    fn function(&self, at: usize) -> Option<Hover> {
        let mut found = None;
        let block = self.document.blocks_at(at).last().copied();
        let body = block.map_or(&self.document.body, |it| &it.body);
        for it in &body.attributes {
            crate::syntax::calls(&it.value, &mut |name, _, _| {
                if range(name.span).contains(&at) {
                    found = Some((name.text.to_string(), range(name.span)));
                }
            });
        }
        let (name, range) = found?;
        let known = signature::of(self.workspace, self.module, &name)?;
        Some(Hover { text: format!("```\n{}\n```\n\n{}", known.label, known.about), range })
    }

    /// What is asked of an object, behind its address.
    fn attribute(&self, at: usize) -> Option<Hover> {
        let word = word(&self.document.text, at);
        let At::Value(written) = cursor(&self.document.text, word.end).at else { return None };
        if written.text.is_some() {
            return None;
        }
        let name = &self.document.text[word.clone()];
        let steps: Vec<&str> = written.steps.iter().map(String::as_str).collect();
        let (mode, kind, label, rest) = match &*steps {
            ["data", kind, label, rest @ ..] => (crate::address::Mode::Data, *kind, *label, rest),
            ["ephemeral", kind, label, rest @ ..] => {
                (crate::address::Mode::Ephemeral, *kind, *label, rest)
            }
            [kind, label, rest @ ..]
                if !["module", "var", "local", "each", "data", "ephemeral"].contains(kind) =>
            {
                (crate::address::Mode::Managed, *kind, *label, rest)
            }
            _ => return None,
        };
        let entity = Entity::Resource(ResourceName { mode, kind: kind.into(), name: label.into() });
        let (_, block) = self.module.block(&entity)?;
        let schema = self.schemas.resource(self.module, (mode, kind), Some(block))?;
        let path: Vec<&str> = rest.iter().copied().filter(|it| *it != "[]").collect();
        let text = described(&schema.block, &path, name)?;
        Some(Hover { text, range: word })
    }

    fn entity(&self, path: &Path, at: usize) -> Option<Hover> {
        let target = target_at(self.workspace, path, at)?;
        if !(target.name.start <= at && at <= target.name.end) {
            return None;
        }
        let text = about(self.workspace, &target.module, &target.entity)?;
        Some(Hover { text, range: target.name })
    }

    /// The type of a block, or a label of it.
    fn header(&self, at: usize) -> Option<Hover> {
        let blocks = self.document.blocks_at(at);
        let (block, outer) = blocks.split_last()?;
        let is_at = |it: &crate::syntax::Name| {
            (it.span.start() as usize..=it.span.end() as usize).contains(&at)
        };
        if let Some(label) = block.labels.first().filter(|it| is_at(it)) {
            let (mode, kind) = resource_of(block)?;
            let schema = self.schemas.resource(self.module, (mode, &kind), Some(block))?;
            let provider = self.module.provider(&implied_provider(&kind));
            let text =
                format!("**{kind}** of {provider}\n\n{}", documented(&schema.block.documentation));
            return Some(Hover { text, range: range(label.span) });
        }
        if !is_at(&block.kind) {
            return None;
        }
        let expected = self.bodies().expected(&headers(outer), blocks.first().copied());
        let nested = expected.blocks.into_iter().find(|it| *it.name == *block.kind.text)?;
        Some(Hover {
            text: format!("**{}**\n\n{}", nested.name, nested.about),
            range: range(block.kind.span),
        })
    }

    fn argument(&self, at: usize) -> Option<Hover> {
        let blocks = self.document.blocks_at(at);
        let body = blocks.last().map_or(&self.document.body, |it| &it.body);
        let attribute = body.attributes.iter().find(|it| range(it.name.span).contains(&at))?;
        let name = &attribute.name;
        let expected = self.bodies().expected(&headers(&blocks), blocks.first().copied());
        let argument = expected.arguments.into_iter().find(|it| *it.name == *name.text)?;
        let text = format!("**{}**: {}\n\n{}", argument.name, argument.words(), argument.about);
        Some(Hover { text, range: range(name.span) })
    }

    fn bodies(&self) -> Bodies<'_> {
        let Look { workspace, module, schemas, .. } = *self;
        Bodies { workspace, module, schemas, language: self.document.language }
    }
}

pub(super) fn headers<'a>(blocks: &[&'a Block]) -> Vec<Header<'a>> {
    let labels = |it: &'a Block| it.labels.iter().map(|it| it.text.as_str()).collect();
    blocks.iter().map(|it| (it.kind.text.as_str(), labels(it))).collect()
}

/// Says what an attribute is, along the names before it.
fn described(schema: &BlockSchema, path: &[&str], name: &str) -> Option<String> {
    if let Some((first, rest)) = path.split_first() {
        if let Some(inner) = schema.blocks.get(*first) {
            return described(&inner.block, rest, name);
        }
        let mut ty = schema.attributes.get(*first)?.ty;
        for step in rest {
            ty = ty.element().unwrap_or(ty).attribute(step)?;
        }
        let ty = ty.element().unwrap_or(ty).attribute(name)?;
        return Some(format!("**{name}**: {}", ty.friendly_constraint()));
    }
    if let Some(inner) = schema.blocks.get(name) {
        return Some(format!("**{name}**: blocks\n\n{}", documented(&inner.block.documentation)));
    }
    let it = super::bodies::attribute(name, schema.attributes.get(name)?);
    Some(format!("**{name}**: {}\n\n{}", it.words(), it.about))
}

fn documented(it: &Documentation) -> String {
    let text = it.text.as_ref().map(ToString::to_string).unwrap_or_default();
    match &it.deprecation {
        Some(advice) => format!("{text}\n\nDeprecated. {advice}"),
        None => text,
    }
}

/// Says what something is that has a name.
pub(super) fn about(workspace: &Workspace, module: &Module, entity: &Entity) -> Option<String> {
    let (document, block) = module.block(entity)?;
    let written = |name: &str| {
        let value = value(&block.body, name);
        value.map(|it| shortened(document.text_of(it.span)))
    };
    let description =
        value_text(block, "description").map(|it| format!("\n\n{it}")).unwrap_or_default();
    let is_secret = block
        .body
        .attribute("sensitive")
        .is_some_and(|it| matches!(it.value.expr, crate::syntax::Expr::Bool(true)));
    let secret = if is_secret { ", sensitive" } else { "" };
    let code = |text: &str| format!("```terraform\n{text}\n```");
    Some(match entity {
        Entity::Variable(name) => {
            let ty = written("type").unwrap_or_else(|| "any".to_owned());
            let default = match written("default") {
                Some(_) if is_secret => "\n\nIt has a default.".to_owned(),
                Some(it) => format!("\n\nDefault: `{it}`"),
                None => "\n\nRequired.".to_owned(),
            };
            format!("{}{description}{default}", code(&format!("variable \"{name}\": {ty}{secret}")))
        }
        Entity::Local(name) => {
            let text = written(name).unwrap_or_default();
            code(&format!("{name} = {text}"))
        }
        Entity::Output(name) => {
            let text = written("value").filter(|_| !is_secret).unwrap_or_default();
            format!("{}{description}", code(&format!("output \"{name}\"{secret}\n{text}")))
        }
        Entity::Resource(it) => {
            let schemas = workspace.schemas(&module.folder);
            let schema = schemas.resource(module, (it.mode, &it.kind), Some(block));
            let about = schema.map(|it| documented(&it.block.documentation)).unwrap_or_default();
            let keys = ["count", "for_each"]
                .into_iter()
                .find_map(|name| Some(format!("\n{name} = {}", written(name)?)));
            format!("{}\n\n{about}", code(&format!("{it}{}", keys.unwrap_or_default())))
        }
        Entity::Call(name) => {
            let source = super::schemas::source_of(block).unwrap_or_default();
            let called = workspace.called(module, name);
            let outputs = called
                .iter()
                .flat_map(|it| it.entities().filter(|it| matches!(it, Entity::Output(_))))
                .count();
            format!("{}\n\n{outputs} outputs", code(&format!("module \"{name}\" from {source:?}")))
        }
        Entity::Provider(..) => code(&format!("provider {}", entity.address())),
        Entity::Check(name) => code(&format!("check \"{name}\"")),
        Entity::Run(name) => code(&format!("run \"{name}\"")),
    })
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
