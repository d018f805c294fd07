//! Who serves an object: as concluded before the walk, else as the rules conclude once its key has a value.

use std::sync::Arc;

use entail_rules::configurations::Configurations;
use entail_rules::providers::Providers;
use entail_rules::{Block, Choice, Config, Facts, Key, Ledger, Node, rows_of};

use crate::address::{InstanceKey, ProviderInstance};
use crate::lower::structure::ResourceId;
use crate::observe::serving::{Asked, Grounds};
use crate::observe::{Observer, problems};

/// Returns the provider instance that serves an object. `None` where there is none, which has been told.
pub(super) fn serve(observer: &Observer<'_>, node: Node) -> Option<Arc<ProviderInstance>> {
    if let Some(known) = observer.serving.known.get(node) {
        return Some(known.clone());
    }
    if let Some(asked) = observer.serving.answer(node) {
        return asked.instance;
    }
    let asked = match Question::of(observer, node) {
        Some(question) => question.answer(),
        None => {
            let address = observer.values.structure.instance(node);
            observer.values.report(address.iter().map(problems::no_provider));
            Asked::default()
        }
    };
    observer.serving.keep(node, asked.clone());
    asked.instance
}

/// Returns the node of the provider instance that serves an object which nothing declares. Nothing is reported if there is none.
pub(in crate::planner) fn serving_undeclared(observer: &Observer<'_>, node: Node) -> Option<Node> {
    let Some(known) = observer.serving.known.get(node) else {
        let question = Question::of(observer, node)?;
        return question.conclude(None).serves.first().map(|it| it.0);
    };
    let structure = &observer.values.structure;
    let id = structure.provider_ids.get(&**known)?;
    Some(structure.providers[id.index()].1)
}

/// One object, and the few facts that its provider instance rests on.
struct Question<'o, 'a> {
    observer: &'o Observer<'a>,
    grounds: &'o Grounds,
    node: Node,
    resource: ResourceId,
    key: InstanceKey,
    is_declared: bool,
    configurations: Configurations,
    served_by: Option<(Config, Choice)>,
}

impl<'o, 'a> Question<'o, 'a> {
    fn of(observer: &'o Observer<'a>, node: Node) -> Option<Question<'o, 'a>> {
        let structure = &observer.values.structure;
        let (resource, key, deposed) = structure.kind(node).object()?;
        let (key, is_current) = (key.clone(), deposed.is_none());
        let of = structure.resource(resource);
        let is_declared = is_current && of.instances.contains_key(&key);
        let config = observer.values.config;
        let block = observer.graph.block_of(config, of)?;
        let block = Block(block as u32);
        let grounds = &observer.serving.grounds;
        let all = &observer.graph.configured.concluded;
        let configurations = Configurations {
            config_of: rows_of(&all.config_of, |it| it.0.cmp(&block)).to_vec(),
            keyed: rows_of(&all.keyed, |it| it.0.cmp(&block)).to_vec(),
            lacks_key: Vec::new(),
            unconfigured: rows_of(&all.unconfigured, |it| it.0.cmp(&block)).to_vec(),
        };
        let served_by = configurations.config_of.first().map(|it| (it.1, it.2));
        Some(Question {
            observer,
            grounds,
            node,
            resource,
            key,
            is_declared,
            configurations,
            served_by,
        })
    }

    /// The key is evaluated only where the rules cannot do without.
    fn answer(&self) -> Asked {
        let concluded = self.conclude(None);
        let choice =
            self.served_by.and_then(|it| self.observer.graph.configured.serving.choice_at(it.1));
        let (key, concluded) = match choice
            .filter(|_| concluded.serves.is_empty() && self.is_declared)
        {
            None => (None, concluded),
            Some(choice) => {
                let Some(key) = self.observer.provider_key(self.resource, &self.key, choice) else {
                    return Asked::default();
                };
                let concluded = self.conclude(Some(&key));
                (Some(key), concluded)
            }
        };
        let structure = &self.observer.values.structure;
        let instance = concluded
            .serves
            .first()
            .and_then(|it| structure.provider(it.0))
            .map(|it| Arc::new(it.clone()));
        if instance.is_none() {
            self.tell(&concluded, key.as_ref());
        }
        Asked { key, instance }
    }

    /// Runs the stratum over this object alone.
    fn conclude(&self, key: Option<&InstanceKey>) -> Providers {
        let node = self.node;
        let key = key.map(|it| self.grounds.names.key_at(it));
        let mut facts = Facts {
            mode: self.grounds.facts.mode.clone(),
            precedes_destroy: self.grounds.facts.precedes_destroy.clone(),
            object: vec![(node,)],
            of: self.configurations.config_of.iter().map(|it| (node, it.0)).collect(),
            declared: self.is_declared.then_some((node,)).into_iter().collect(),
            provider_key: key.map(|it| (node, it)).into_iter().collect(),
            ..Facts::default()
        };
        let mut keys: Vec<Key> = key.into_iter().chain([Key::NONE]).collect();
        self.recorded(&mut facts, &mut keys);
        self.instances(&mut facts, keys);
        self.observer.engine().conclude(&Ledger::of(&facts).with(&self.configurations))
    }

    /// Adds who made the object, and the configurations that the state may mean by it.
    fn recorded(&self, facts: &mut Facts, keys: &mut Vec<Key>) {
        let said = &self.grounds.facts;
        let recorded = rows_of(&said.recorded_provider, |it| it.0.cmp(&self.node));
        facts.recorded_provider.extend(recorded);
        keys.extend(recorded.iter().map(|it| it.4));
        for (_, module, family, alias, key) in recorded {
            let blocks = rows_of(&said.provider_block, |it| (it.0, it.1).cmp(&(*module, *family)));
            facts.provider_block.extend(blocks);
            facts.implied_config.extend(rows_of(&said.implied_config, |it| it.0.cmp(family)));
            let names = said.key_names.iter().filter(|it| it.0 == *key || it.1 == *alias);
            facts.key_names.extend(names.inspect(|it| keys.push(it.0)));
        }
    }

    /// Adds the instances that may be meant: under these keys, of the configurations that may serve it.
    fn instances(&self, facts: &mut Facts, mut keys: Vec<Key>) {
        let said = &self.grounds.facts;
        let blocks = facts.provider_block.iter().map(|it| it.3);
        let implied = facts.implied_config.iter().map(|it| it.1);
        let mut configs: Vec<Config> =
            self.served_by.iter().map(|it| it.0).chain(blocks).chain(implied).collect();
        configs.sort_unstable();
        configs.dedup();
        keys.sort_unstable();
        keys.dedup();
        let known = &self.observer.values.structure;
        for config in configs {
            facts.repeats_provider.extend(rows_of(&said.repeats_provider, |it| it.0.cmp(&config)));
            for &key in &keys {
                let row = (config, key);
                facts.each_key.extend(said.each_key.binary_search(&row).ok().map(|_| row));
                facts.key_suffices.extend(said.key_suffices.binary_search(&row).ok().map(|_| row));
                let instance = self.grounds.names.instance(config, key);
                let id = instance.and_then(|it| known.provider_ids.get(&it));
                let node = id.map(|it| known.providers[it.index()].1);
                facts.provider_node.extend(node.map(|it| (it, config, key)));
            }
        }
    }

    /// Says what is missing.
    fn tell(&self, concluded: &Providers, key: Option<&InstanceKey>) {
        let structure = &self.observer.values.structure;
        let address = structure.resource(self.resource).address.instance(self.key.clone());
        let chosen = concluded.chosen.first().and_then(|it| {
            let key = key.cloned();
            let named =
                self.grounds.names.instance(it.1, if key.is_some() { Key::NONE } else { it.2 })?;
            Some(ProviderInstance { key: key.unwrap_or(named.key), ..named })
        });
        let problem = match chosen {
            Some(instance) => {
                let block = self.observer.block_of(&instance.config).map(|it| it.0);
                problems::no_provider_instance(&address, &instance, block)
            }
            None => problems::no_provider(&address),
        };
        self.observer.values.report([problem]);
    }
}
