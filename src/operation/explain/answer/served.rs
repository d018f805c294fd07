//! Which provider instance serves an object, and how its configuration and its key came about.

use entail_rules::{Key, Node};

use super::Teller;
use super::reasons::{Because, reason};
use crate::config::ProviderRef;
use crate::diagnostic::Span;
use crate::explain::proof::{By, Proof};
use crate::explain::render::{Line, short};
use crate::explain::{Known, Leaves};
use crate::lower::structure::{NodeKind, ResourceId};
use crate::operation::explain::causes::{Context, Owner};

/// How many objects of a provider instance are named.
const NAMED: usize = 5;

impl Teller<'_> {
    /// Answers which objects a provider instance serves.
    pub fn serves(&self, provider: Node, mut objects: Vec<Node>) -> Because {
        objects.sort_by_key(|it| self.context.structure.instance(*it));
        let names: Vec<String> = objects.iter().take(NAMED).map(|it| self.name(*it)).collect();
        let more = objects.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = match objects.len() {
            0 => "nothing".to_owned(),
            1 => names.join(""),
            many => format!("{many} objects: {}{more}", names.join(", ")),
        };
        let text = format!("{} serves {names}", self.name(provider));
        Because::new(text, self.place_of_provider(provider))
    }

    /// Answers which provider instance serves an object; nothing where only the proof says it.
    ///
    /// - `proof`: that it does.
    pub fn served(&self, node: Node, provider: Node, proof: &Proof) -> Option<Because> {
        let head = format!("{} is served by {}", self.name(node), self.instance_called(provider));
        let state = "and the state names this instance";
        let kept = rules(proof).find_map(|rule| {
            Some(match rule {
                "providers.inherits-destroyed" => "this plan destroys everything",
                "providers.inherits-undeclared" => "it is no longer declared",
                "providers.inherits-gone" => "its block is gone",
                "providers.inherits-read" => "nothing is created in this plan",
                _ => return None,
            })
        });
        if let Some(why) = kept {
            return Some(Because::new(format!("{head}: {why}, {state}."), Some("state".into())));
        }
        let NodeKind::Object(id, key) = self.context.structure.kind(node) else { return None };
        let (clauses, below) = self.route(*id, key)?;
        let text = match clauses.as_slice() {
            [one] => one.clone(),
            [one, other] => format!("{one} and {other}"),
            [all @ .., last] => format!("{}, and {last}", all.join(", ")),
            [] => return None,
        };
        Some(Because { text: format!("{head}: {text}."), place: None, below })
    }

    /// Answers why no provider instance serves an object.
    ///
    /// - `proof`: that something is lacking.
    pub fn unserved(&self, node: Node, proof: &Proof, known: &Known) -> Option<Because> {
        let name = self.name(node);
        let rule = rules(proof).last()?;
        let text = match rule {
            "providers.no-instance" => {
                let mut chosen = known.rows("chosen");
                let row = chosen.find(|it| it.first() == Some(&entail_rules::Atom::word(node)))?;
                let (config, key) = (self.context.word("Config", row[1]), row[2]);
                let place = self.context.origin("repeats_provider", &row[1..2]);
                let key = match key == entail_rules::Atom::word(Key::NONE) {
                    true => "no instance without a key".to_owned(),
                    false => format!("no key {}", self.context.word("Key", key)),
                };
                let text = format!("{name} has no provider instance: {config} has {key}.");
                return Some(Because::new(text, place));
            }
            "providers.no-configuration" => {
                format!("{name} has no provider: its module sees no configuration of that name.")
            }
            "providers.configuration-gone" => format!(
                "{name} has no provider: its block is gone, and so is the configuration that made it."
            ),
            "providers.no-fallback" => format!(
                "{name} has no provider: it is no longer declared, and the state names another configuration than its block."
            ),
            _ => return None,
        };
        Some(Because::new(text, self.declared(node)))
    }

    /// How a block comes to its configuration, as parts of a sentence, and what the keys on the way come from.
    fn route(
        &self,
        id: ResourceId,
        key: &crate::address::InstanceKey,
    ) -> Option<(Vec<String>, Vec<Line>)> {
        let structure = &self.context.structure;
        let (resource, block) = (structure.resource(id), structure.block(id)?);
        let mut module = resource.module?;
        let (mut clauses, mut below) = (Vec::new(), Vec::new());
        let mut own = block.besides.provider.as_deref().cloned();
        let mut name = own.as_ref().map_or_else(
            || block.name.kind.split('_').next().unwrap_or_default().to_owned(),
            |it| it.name.text.to_string(),
        );
        match &own {
            Some(asked) => {
                let text = self.text(asked.span)?;
                clauses.push(format!("its provider argument is {text}{}", self.at(asked.span)));
                let owner = Some((Owner::Resource(id), key.clone()));
                self.keys_known(asked, Context { module, owner }, &mut clauses, &mut below);
            }
            None => clauses.push("it has no provider argument".to_owned()),
        }
        loop {
            let node = structure.module(module);
            let alias = own.as_ref().and_then(|it| it.alias.as_ref()).map(|it| it.text.clone());
            if let Some(found) = node.config.provider_block(&name, alias.as_deref()) {
                if own.is_none() {
                    let place = self.at(found.declared);
                    clauses.push(format!("{name} is the default configuration{place}"));
                }
                break;
            }
            let Some((parent, call)) = node.parent else {
                if alias.is_none() {
                    clauses.push(format!("no provider block configures {name}"));
                }
                break;
            };
            let is_own = |it: &ProviderRef| {
                *it.name.text == *name && it.alias.as_ref().map(|it| &it.text) == alias.as_ref()
            };
            let block = structure.call_block(call);
            let passed = block.and_then(|it| it.besides.providers.iter().find(|it| is_own(&it.0)));
            if let Some((_, passed)) = passed {
                let text = self.text(passed.span)?;
                let address = structure.module(module).address.to_string();
                clauses
                    .push(format!("providers of {address} passes {text}{}", self.at(passed.span)));
                let owner = Some((Owner::Call(call), node.key.clone()));
                let context = Context { module: parent, owner };
                self.keys_known(passed, context, &mut clauses, &mut below);
                name = passed.name.text.to_string();
                own = Some(passed.clone());
            } else if alias.is_some() {
                break;
            }
            module = parent;
        }
        Some((clauses, below))
    }

    /// What the references in a key expression are.
    fn keys_known(
        &self,
        asked: &ProviderRef,
        context: Context,
        clauses: &mut Vec<String>,
        below: &mut Vec<Line>,
    ) {
        let (Some(causes), Some(key)) = (self.causes, &asked.key) else { return };
        for (text, part) in causes.references(key, &context) {
            let mut found = part.map_or_else(Vec::new, |it| causes.of(it)).into_iter();
            let place = found.next().filter(|it| it.node.is_some()).and_then(|it| it.place);
            // The provider's word has no place in a file.
            let place = place.filter(|it| it.contains(':'));
            let at = place.map(|it| format!(" ({})", short(&it))).unwrap_or_default();
            clauses.push(format!("{text}{at}"));
            below.extend(found.map(|it| reason(it.depth - 1, it.text, it.place)));
        }
    }

    /// What a provider instance is called where it is configured: `aws.west["eu"]`.
    fn instance_called(&self, provider: Node) -> String {
        let NodeKind::Provider(id) = self.context.structure.kind(provider) else {
            return self.name(provider);
        };
        let (instance, _) = &self.context.structure.providers[id.index()];
        let config = &instance.config;
        let module = self.causes.and_then(|it| it.model.config.module(&config.module));
        let local = module.and_then(|it| {
            let block = it.providers.iter().find(|it| it.source == config.provider);
            block.map(|it| it.name.text.to_string())
        });
        let local = local.unwrap_or_else(|| config.provider.kind.to_string());
        let alias = config.alias.as_ref().filter(|it| !it.is_empty());
        let alias = alias.map(|it| format!(".{it}")).unwrap_or_default();
        let within = match config.module.is_root() {
            true => String::new(),
            false => format!(" of {}", config.module),
        };
        format!("{local}{alias}{}{within}", instance.key)
    }

    fn place_of_provider(&self, provider: Node) -> Option<String> {
        let NodeKind::Provider(id) = self.context.structure.kind(provider) else { return None };
        let (instance, _) = &self.context.structure.providers[id.index()];
        let module = self.causes?.model.config.module(&instance.config.module)?;
        let block = module.providers.iter().find(|it| {
            it.source == instance.config.provider
                && it.alias.as_ref().map(|it| &it.text) == instance.config.alias.as_ref()
        });
        self.place(block?.declared)
    }

    /// The text at a place, in one line.
    fn text(&self, span: Span) -> Option<String> {
        let text = self.causes?.model.sources.text(span)?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// A place in parentheses, after a blank.
    fn at(&self, span: Span) -> String {
        self.place(span).map(|it| format!(" ({})", short(&it))).unwrap_or_default()
    }
}

/// The rules that a proof uses.
fn rules(proof: &Proof) -> impl Iterator<Item = &str> {
    proof.steps.iter().filter_map(|it| match &it.by {
        By::Rule(application) => Some(application.rule.as_str()),
        _ => None,
    })
}
