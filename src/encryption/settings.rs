//! What the `encryption` block and `TF_ENCRYPTION` say: key providers, methods, and what is sealed by which of them.

use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::syntax::{
    AttributeSchema, Block, BlockSchema, Body, Expr, Expression, Step, parse, parse_json,
};

use super::problems;

/// The name that the text of the environment has among the sources.
const ENVIRONMENT: &str = "TF_ENCRYPTION";

/// A kind and a name: those of a key provider or a method.
pub(super) type Named = (String, String);

/// All that is said.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub keys: Vec<Part>,
    pub methods: Vec<Part>,
    pub state: Option<Target>,
    pub plan: Option<Target>,
    /// What states of others are opened with, unless they are named.
    pub remote: Option<Target>,
    /// By the address of the data source.
    pub remotes: Vec<(String, Target)>,
}

/// A `key_provider` or a `method`.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub named: Named,
    /// Its arguments; what is said later counts.
    pub bodies: Vec<Body>,
    /// What its metadata is called in an envelope, where that is no address.
    pub alias: Option<String>,
    pub declared: Span,
}

/// What something is sealed with, and what else it may have been sealed with.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub method: Option<(Named, Span)>,
    pub fallback: Option<Box<Target>>,
    pub enforced: bool,
    pub declared: Span,
}

const fn optional(name: &str) -> AttributeSchema<'_> {
    AttributeSchema { name, required: false }
}

const TOP: [BlockSchema<'static>; 5] = [
    BlockSchema { kind: "key_provider", labels: &["type", "name"] },
    BlockSchema { kind: "method", labels: &["type", "name"] },
    BlockSchema { kind: "state", labels: &[] },
    BlockSchema { kind: "plan", labels: &[] },
    BlockSchema { kind: "remote_state_data_sources", labels: &[] },
];
const FALLBACK: BlockSchema<'static> = BlockSchema { kind: "fallback", labels: &[] };

impl Settings {
    /// Reads a block.
    pub fn read(body: &Body) -> Result<Settings, Diagnostics> {
        let (content, mut found) = body.content(&[], &TOP);
        let mut settings = Settings::default();
        for block in &content.blocks {
            match &*block.kind.text {
                "key_provider" => settings.add_key(block, &mut found),
                "method" => {
                    let part = Part::read(block, block.body.clone(), None);
                    if settings.methods.iter().any(|it| it.named == part.named) {
                        found.push(problems::twice("method", &part.named, block.header));
                    }
                    settings.methods.push(part);
                }
                "state" => single(&mut settings.state, block, true, &mut found),
                "plan" => single(&mut settings.plan, block, true, &mut found),
                _ => settings.add_remotes(block, &mut found),
            }
        }
        if found.has_errors() { Err(found) } else { Ok(settings) }
    }

    /// Reads the text of the environment.
    pub fn of_environment(text: &str, sources: &Sources) -> Result<Settings, Diagnostics> {
        let file = sources.add(ENVIRONMENT, text.into());
        let (body, problems) = match text.trim_start().starts_with('{') {
            true => parse_json(file, text),
            false => parse(file, text),
        };
        if problems.has_errors() {
            return Err(problems);
        }
        let settings = Settings::read(&body)?;
        let targets = [&settings.state, &settings.plan, &settings.remote].into_iter().flatten();
        let targets = targets.chain(settings.remotes.iter().map(|it| &it.1));
        // What is laid over a target takes its place, as there.
        let without: Diagnostics = targets
            .filter(|it| it.method.is_none())
            .map(|it| problems::no_method(it.declared))
            .collect::<Vec<_>>()
            .into();
        if without.has_errors() { Err(without) } else { Ok(settings) }
    }

    fn add_key(&mut self, block: &Block, found: &mut Diagnostics) {
        let (own, rest, problems) =
            block.body.partial_content(&[optional("encrypted_metadata_alias")], &[]);
        found.extend(problems);
        let alias = own.attributes.first().map(|it| &it.value);
        let text = alias.map(|it| (it.as_literal(), it.span));
        let alias = match text {
            None => None,
            Some((Some(value), _)) if value.as_str().is_some() => {
                value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
            }
            Some((_, at)) => {
                found.push(problems::constant("encrypted_metadata_alias", at));
                None
            }
        };
        let part = Part::read(block, rest, alias);
        if self.keys.iter().any(|it| it.named == part.named) {
            found.push(problems::twice("key_provider", &part.named, block.header));
        }
        self.keys.push(part);
    }

    fn add_remotes(&mut self, block: &Block, found: &mut Diagnostics) {
        let blocks = [
            BlockSchema { kind: "default", labels: &[] },
            BlockSchema { kind: "remote_state_data_source", labels: &["name"] },
        ];
        let (content, problems) = block.body.content(&[], &blocks);
        found.extend(problems);
        for inner in &content.blocks {
            let Some(label) = inner.labels.first() else {
                single(&mut self.remote, inner, false, found);
                continue;
            };
            let name = label.text.to_string();
            if self.remotes.iter().any(|it| it.0 == name) {
                found.push(problems::remote_twice(&name, inner.header));
            }
            if let Some(target) = found.take(Target::read(inner, false)) {
                self.remotes.push((name, target));
            }
        }
    }

    /// Lays other settings over these.
    pub fn overridden(mut self, over: Settings) -> Settings {
        merge_parts(&mut self.keys, over.keys);
        merge_parts(&mut self.methods, over.methods);
        self.state = Target::merged(self.state, over.state);
        self.plan = Target::merged(self.plan, over.plan);
        self.remote = Target::merged(self.remote, over.remote);
        for (name, target) in over.remotes {
            match self.remotes.iter_mut().find(|it| it.0 == name) {
                Some(known) => known.1 = known.1.clone().with(target),
                None => self.remotes.push((name, target)),
            }
        }
        self
    }
}

fn single(place: &mut Option<Target>, block: &Block, enforceable: bool, found: &mut Diagnostics) {
    if place.is_some() {
        found.push(problems::block_twice(&block.kind.text, block.header));
    }
    *place = found.take(Target::read(block, enforceable));
}

fn merge_parts(base: &mut Vec<Part>, over: Vec<Part>) {
    for part in over {
        match base.iter_mut().find(|it| it.named == part.named) {
            Some(known) => {
                known.bodies.extend(part.bodies);
                known.alias = part.alias.or(known.alias.take());
            }
            None => base.push(part),
        }
    }
}

impl Part {
    fn read(block: &Block, body: Body, alias: Option<String>) -> Part {
        let label = |at: usize| block.labels.get(at).map_or("", |it| &it.text).to_owned();
        let named = (label(0), label(1));
        Part { named, bodies: vec![body], alias, declared: block.header }
    }
}

impl Target {
    fn read(block: &Block, enforceable: bool) -> Result<Target, Diagnostics> {
        let attributes = [optional("method"), optional("enforced")];
        let attributes = if enforceable { &attributes[..] } else { &attributes[..1] };
        let (content, mut found) = block.body.content(attributes, &[FALLBACK]);
        let method = found.take(block.body.bare("method")).flatten();
        let method = method.and_then(|it| {
            let named = reference(&it, "method");
            if named.is_none() {
                found.push(problems::no_method(it.span));
            }
            Some((named?, it.span))
        });
        let enforced = content.attributes.iter().find(|it| &*it.name.text == "enforced");
        let enforced = match enforced.map(|it| (it.value.as_literal(), it.value.span)) {
            None => false,
            Some((Some(value), _)) if value.as_bool().is_some() => value.as_bool() == Some(true),
            Some((_, at)) => {
                found.push(problems::constant("enforced", at));
                false
            }
        };
        let mut fallback = None;
        for inner in &content.blocks {
            single(&mut fallback, inner, false, &mut found);
        }
        let fallback = fallback.map(Box::new);
        let declared = block.header;
        if found.has_errors() {
            return Err(found);
        }
        Ok(Target { method, fallback, enforced, declared })
    }

    fn merged(base: Option<Target>, over: Option<Target>) -> Option<Target> {
        match (base, over) {
            (Some(base), Some(over)) => Some(base.with(over)),
            (base, over) => base.or(over),
        }
    }

    fn with(self, over: Target) -> Target {
        Target {
            method: over.method.or(self.method),
            fallback: over.fallback.or(self.fallback),
            enforced: self.enforced || over.enforced,
            declared: self.declared,
        }
    }

    /// Returns the methods in the order in which they are tried, the first of which seals.
    pub fn methods(&self) -> Result<Vec<&(Named, Span)>, Diagnostic> {
        let mut all = Vec::new();
        let mut at = Some(self);
        while let Some(target) = at {
            all.push(target.method.as_ref().ok_or_else(|| problems::no_method(target.declared))?);
            at = target.fallback.as_deref();
        }
        Ok(all)
    }
}

/// Reads `ROOT.KIND.NAME`.
pub(super) fn reference(expression: &Expression, root: &str) -> Option<Named> {
    let Expr::Traversal(it) = &expression.expr else { return None };
    match (&*it.root().text == root, it.steps()) {
        (true, [Step::Attribute(kind), Step::Attribute(name)]) => {
            Some((kind.text.to_string(), name.text.to_string()))
        }
        _ => None,
    }
}
