//! Which provider configuration serves which block: what the configuration says of it, and what the rules conclude, before
//! anything is expanded.

use std::sync::Arc;

use entail_rules::configurations::Configurations;
use entail_rules::providers::Providers;
use entail_rules::{Block, Choice, Config as ConfigAtom, Facts, Ledger, Module as ModuleAtom};
use rustc_hash::FxHashMap;

use super::{Repeated, Serving};
use crate::address::{ProviderConfig, ProviderInstance, ResourceName};
use crate::config::serving::BlocksServed;
use crate::config::{self, Config, ProviderRef, Variant, expansion};
use crate::diagnostic::Span;
use crate::expression;
use crate::lower::blocks::{BlockGraph, BlockKey, ModuleCode, VariantId};
use crate::lower::{When, leave_out};
use crate::reason::Engine;
use crate::syntax::Expression;
use crate::value::Str;

/// What a configuration says of providers, and who serves which block.
#[derive(Clone, Debug, Default)]
pub struct Configured {
    /// The base facts about the configuration alone.
    pub facts: Facts,
    /// What the numbers in them stand for.
    pub serving: Serving,
    /// What is concluded from them.
    pub concluded: Configurations,
    /// Where the rows of each block begin in `config_of`, and where the last ones end.
    starts: Vec<u32>,
}

/// What serves a block.
#[derive(Clone, Copy, Debug)]
pub struct ServedBy<'a> {
    /// The configuration. Nobody need have written it: a default configuration may be implied.
    pub config: &'a Arc<ProviderConfig>,
    /// What chooses among its instances, where it has several.
    pub choice: Option<&'a ChoiceAt>,
}

/// Where a key expression stands.
#[derive(Clone, Debug)]
pub struct ChoiceAt {
    /// The module in which it is evaluated.
    pub module: Variant,
    /// Whether the block that is served has it itself; else a module call on the way.
    pub is_own: bool,
    /// The expression.
    pub expression: Expression,
}

impl Configured {
    /// Lowers what a configuration says of providers, and concludes who serves which of the blocks.
    pub fn of(engine: &dyn Engine, config: &Config, graph: &BlockGraph) -> Configured {
        let mut configured = Configured::default();
        configured.serving.modules = graph.modules.clone();
        for (id, module) in graph.modules.iter() {
            configured.module(config, (id, module));
        }
        configured.implied();
        configured.literals();
        configured.facts.tidy();
        leave_out(&mut configured.facts, When::Always);
        configured.concluded = engine.conclude(&Ledger::of(&configured.facts));
        configured.find_rows();
        configured
    }

    fn find_rows(&mut self) {
        let rows = &self.concluded.config_of;
        for (at, row) in rows.iter().enumerate() {
            let block = row.0.0 as usize;
            self.starts.resize(self.starts.len().max(block + 1), at as u32);
        }
        self.starts.push(rows.len() as u32);
    }

    fn config_of(&self, block: usize) -> Option<(ConfigAtom, Choice)> {
        let end = *self.starts.get(block + 1)? as usize;
        let rows = &self.concluded.config_of[self.starts[block] as usize..end];
        rows.last().map(|it| (it.1, it.2))
    }

    /// Returns what serves a block; nothing where no configuration does.
    pub fn serves(&self, block: usize) -> Option<ServedBy<'_>> {
        let (config, choice) = self.config_of(block)?;
        Some(ServedBy {
            config: self.serving.config_at(config)?,
            choice: self.serving.choice_at(choice),
        })
    }

    /// Returns whether there is such a configuration, be it implied.
    pub fn has(&self, config: &ProviderConfig) -> bool {
        self.serving.number_of(config).is_some()
    }

    /// Returns the `provider` block that serves a block, where one is written.
    pub fn block_of(&self, block: usize) -> Option<(VariantId, BlockKey)> {
        let (number, _) = self.config_of(block)?;
        let config = self.serving.config_at(number)?;
        let (module, name) = self.serving.local_names.get(&number)?;
        Some((*module, BlockKey::Provider(name.clone(), config.alias.clone())))
    }

    /// Returns what the checks of a configuration need to know of it.
    pub fn blocks(&self, graph: &BlockGraph) -> BlocksServed {
        let mut blocks = BlocksServed::default();
        let by = |number: usize| match self.block_of(number)? {
            (module, BlockKey::Provider(name, alias)) => {
                let module = graph.modules[module].variant.clone();
                Some((module, config::provider::local_name(&name, alias.as_deref())))
            }
            _ => None,
        };
        let resource = |number: usize| {
            let name = graph.resource(number)?.resource;
            Some((graph.module_of(number).variant.clone(), name))
        };
        for number in self.concluded.config_of.iter().map(|it| it.0.0 as usize) {
            if let Some(by) = by(number)
                && let Some(resource) = resource(number)
            {
                blocks.by.insert(resource, by);
            }
        }
        blocks.without_key = self.without_key(graph);
        let lacking = self.concluded.unconfigured.iter();
        blocks.unconfigured.extend(lacking.filter_map(|it| resource(it.0.0 as usize)));
        blocks
    }

    /// Returns the `provider` block, which repeats, of each resource block that names no key of it.
    fn without_key(
        &self,
        graph: &BlockGraph,
    ) -> FxHashMap<(Variant, ResourceName), (Variant, String)> {
        let rows = self.concluded.lacks_key.iter();
        let found = rows.filter_map(|(block, config)| {
            let number = block.0 as usize;
            let resource = graph.resource(number)?.resource;
            let (module, name) = self.serving.local_names.get(config)?;
            let alias = self.serving.config_at(*config)?.alias.as_deref();
            let provider = config::provider::local_name(name, alias);
            let of = graph.module_of(number).variant.clone();
            Some(((of, resource), (graph.modules[*module].variant.clone(), provider)))
        });
        found.collect()
    }

    /// Writes `module_parent`, `provider_block`, `repeats_provider`, `in_module` and `asks_provider` of one module.
    fn module(&mut self, config: &Config, (id, code): (VariantId, &ModuleCode)) {
        let Configured { facts, serving, .. } = self;
        let (ModuleCode { variant, config: module, .. }, atom) = (code, ModuleAtom(id.0));
        let path = &variant.path;
        let named = config.source_text(variant).map(|_| config.variant_name(variant));
        serving.module_names.extend(named.map(|it| (atom, it)));
        if let Some((caller, _)) = code.caller {
            facts.module_parent.push((atom, ModuleAtom(caller.0)));
        }
        for block in &module.providers {
            let alias = block.alias.as_ref().map(|it| it.text.clone());
            let provider = block.source.clone();
            let config = serving.config(&ProviderConfig {
                module: path.clone(),
                provider,
                alias: alias.clone(),
            });
            let family = serving.family(&block.source);
            facts.provider_block.push((atom, family, serving.alias(alias.as_ref()), config));
            serving.blocks.insert(config, block.declared);
            let name = || (id, block.name.text.clone());
            serving.local_names.entry(config).or_insert_with(name);
            if let Some(expression) = block.repetition.expression() {
                facts.repeats_provider.push((config,));
                serving.repetitions.insert(config, expression.span);
            }
        }
        facts.in_module.reserve(module.resources.len());
        facts.asks_provider.reserve(module.resources.len());
        for (block, resource) in (code.first_resource()..).zip(module.resources.values()) {
            let block = Block(block as u32);
            facts.in_module.push((block, atom));
            let family = serving.family(&resource.provider_source);
            let reference = resource.besides.provider.as_deref();
            let alias = serving.alias(reference.and_then(alias_of));
            let choice = serving.choice(reference.and_then(|it| it.key.as_ref()), variant, true);
            facts.asks_provider.push((block, family, alias, choice));
        }
        self.passes(id, code);
    }

    /// Writes `passes`: what the call of a module gives it.
    fn passes(&mut self, id: VariantId, code: &ModuleCode) {
        let Configured { facts, serving, .. } = self;
        let modules = serving.modules.clone();
        let (Some((caller, _)), Some(call)) = (code.caller, modules.call(id)) else { return };
        let ModuleCode { variant: caller, config: above, .. } = &modules[caller];
        let (here, atom) = (&code.config, ModuleAtom(id.0));
        for (name, given) in &call.besides.providers {
            let own = serving.family(&here.provider_of(&name.name.text));
            let theirs = serving.family(&above.provider_of(&given.name.text));
            facts.passes.push((
                atom,
                own,
                serving.alias(alias_of(name)),
                theirs,
                serving.alias(alias_of(given)),
                serving.choice(given.key.as_ref(), caller, false),
            ));
        }
    }

    /// Writes `literal_key`: what key expressions give that refer to nothing.
    fn literals(&mut self) {
        let Configured { facts, serving, .. } = self;
        let value = |it: &ChoiceAt| expression::evaluate_constant(&it.expression).ok();
        let keys: Vec<_> = serving
            .choices
            .iter()
            .map(|it| value(it).and_then(|it| expansion::provider_key(&it).ok()))
            .collect();
        for (choice, key) in (1..).map(Choice).zip(keys) {
            facts.literal_key.extend(key.map(|it| (choice, serving.key(&it))));
        }
    }

    /// Returns the blocks that ask, by a key that is written out, for a provider instance that is not there; each with the
    /// instance, and where the key is written.
    pub fn missed(
        &self,
        engine: &dyn Engine,
        repeated: &[Repeated],
    ) -> Vec<(usize, ProviderInstance, Span)> {
        let (mut facts, mut serving) = (self.facts.clone(), self.serving.clone());
        for it in repeated {
            let config = serving.config(&it.config);
            facts.each_key.extend(it.keys.iter().map(|it| (config, serving.key(it))));
        }
        let concluded: Providers = engine.conclude(&Ledger::of(&facts).with(&self.concluded));
        let missed = concluded.misses.into_iter();
        let told = missed.filter_map(|(block, config, key)| {
            let block = block.0 as usize;
            let place = self.serves(block)?.choice?.expression.span;
            Some((block, serving.instance(config, key)?, place))
        });
        told.collect()
    }

    /// Writes `implied_config`: a provider that is used may have an empty configuration in the root module.
    fn implied(&mut self) {
        let Configured { facts, serving, .. } = self;
        for provider in serving.families.all().to_vec() {
            let family = serving.family(&provider);
            facts.implied_config.extend(serving.implied(&provider).map(|it| (family, it.1)));
        }
    }
}

fn alias_of(reference: &ProviderRef) -> Option<&Str> {
    reference.alias.as_ref().map(|it| &it.text)
}
