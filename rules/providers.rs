//! Which provider configuration, and which instance of it, serves which object.
//!
//! Concluded per block first: visible configurations, then the one that a block names. Where a key expression chooses
//! the instance (`keyed`), the key is asked for, and a second run with `provider_key` names the instance.
//!
//! holds   an object is served by at most one instance, or lacks something

use ascent::ascent;

use crate::atom::*;
use crate::facts::Facts;

ascent! {
    struct Program;

    relation module_parent(Module, Module);
    relation in_module(Block, Module);
    relation provider_block(Module, Family, Alias, Config);
    relation implied_config(Family, Config);
    relation passes(Module, Family, Alias, Family, Alias, Keying);
    relation asks_provider(Block, Family, Alias, Keying);
    relation repeats_provider(Config);
    relation each_key(Config, Key);
    relation key_names(Key, Alias);
    relation provider_node(Node, Config, Key);
    relation provider_key(Node, Key);
    relation recorded_provider(Node, Config, Key);
    relation object(Node);
    relation of(Node, Block);
    relation declared(Node);
    relation block_gone(Node);
    relation late(Node, Node);
    relation expanded(Node);
    relation mode(Mode);

    /// `provider_instance(p, g, k)`: `p` is the instance of `g` under key `k`.
    relation provider_instance(Node, Config, Key);

    /// `provider_alias(m, f, a, g, k)`: in `m`, alias `a` of provider `f` is `g`; its instance under key `k`.
    relation provider_alias(Module, Family, Alias, Config, Key);

    /// `passed(c, f, a)`: the call of `c` passes a configuration of provider `f`; under alias `a`.
    relation passed(Module, Family, Alias);

    /// `own(m, f, a, g)`: `m` itself has `g` for provider `f`; under alias `a`.
    relation own(Module, Family, Alias, Config);

    /// `has_own(m, f, a)`: `m` has a configuration of provider `f` of its own, or one passed to it; under alias `a`.
    relation has_own(Module, Family, Alias);

    /// `visible(m, f, a, g, k)`: in `m`, provider `f` is `g`; under alias `a`, where the call of `k` carries the key, none where that is the root.
    relation visible(Module, Family, Alias, Config, Module);

    /// `config_of(b, g, k)`: `b` is served by `g`; where the call of `k` carries the key, none where that is the root.
    relation config_of(Block, Config, Module);

    /// `configured(b)`: there is a configuration for `b`.
    relation configured(Block);

    /// `keyed(b)`: a key expression chooses the instance that serves `b`.
    relation keyed(Block);

    /// `has_key(n)`: the key that chooses the provider instance of `n` is known.
    relation has_key(Node);

    /// `undecided(n)`: whether `n` is declared is not known yet.
    relation undecided(Node);

    /// `destroyed(n)`: `n` goes with everything else, by the configuration that made it.
    relation destroyed(Node);

    /// `chosen(n, g, k)`: `n` is to be served by `g`; its instance under key `k`.
    relation chosen(Node, Config, Key);

    /// `is_chosen(n)`: an instance is chosen for `n`.
    relation is_chosen(Node);

    /// `serves(p, n)`: `p` serves `n`.
    relation serves(Node, Node);

    /// `served(n)`: some provider instance serves `n`.
    relation served(Node);

    /// `lacks(n, l)`: `n` cannot be served for lack of a `l`.
    relation lacks(Node, Lack);

    // @rule providers.single: `g` does not repeat
    provider_instance(p, g, Key::NONE) <-- provider_node(p, g, Key::NONE), !repeats_provider(g);
    // @rule providers.instance: the repetition of `g` gives key `k`
    provider_instance(p, g, k) <-- each_key(g, k), provider_node(p, g, k);

    // @rule providers.alias: `m` configures it under that alias
    provider_alias(m, f, a, g, Key::NONE) <-- provider_block(m, f, a, g), !repeats_provider(g);
    // @rule providers.alias-keyed: `m` configures it under that alias, and the repetition of `g` gives key `k`
    provider_alias(m, f, a, g, k) <-- provider_block(m, f, a, g), each_key(g, k), if *a != Alias::KEYS;
    // @rule providers.alias-by-key: `m` configures it without an alias, and each key is one
    provider_alias(m, f, a, g, k) <-- provider_block(m, f, Alias::KEYS, g), each_key(g, k), key_names(k, a);

    // @rule providers.passed: the call of `c` passes one
    passed(c, f, a) <-- passes(c, f, a, _, _, _);
    // @rule providers.own: `m` configures it
    own(m, f, a, g) <-- provider_block(m, f, a, g), !passed(m, f, a);
    // @rule providers.has-own: `m` configures it
    has_own(m, f, a) <-- provider_block(m, f, a, _);
    // @rule providers.has-passed: (the call of `c` passes it)
    has_own(c, f, a) <-- passed(c, f, a);

    // @rule providers.visible-own: (`m` configures it)
    visible(m, f, a, g, Module::ROOT) <-- own(m, f, a, g);
    // @rule providers.visible-implied: the root module uses provider `f` without configuring it
    visible(Module::ROOT, f, Alias::DEFAULT, g, Module::ROOT)
        <-- implied_config(f, g), !has_own(Module::ROOT, f, Alias::DEFAULT);
    // @rule providers.visible-passed: the call of `c` passes what its caller sees
    visible(c, f, a, g, k)
        <-- passes(c, f, a, h, e, Keying::Plain), module_parent(c, p), visible(p, h, e, g, k);
    // @rule providers.visible-keyed: the call of `c` passes one instance of what its caller sees
    visible(c, f, a, g, c)
        <-- passes(c, f, a, h, e, Keying::Keyed), module_parent(c, p), visible(p, h, e, g, Module::ROOT);
    // @rule providers.visible-inherited: `c` has no configuration of provider `f` of its own, and inherits that of `p`
    visible(c, f, Alias::DEFAULT, g, k)
        <-- module_parent(c, p), visible(p, f, Alias::DEFAULT, g, k), !has_own(c, f, Alias::DEFAULT);

    // @rule providers.config: `b` stands in `m` and uses provider `f`
    config_of(b, g, k) <-- asks_provider(b, f, a, _), in_module(b, m), visible(m, f, a, g, k);
    // @rule providers.configured: (`b` has a provider configuration)
    configured(b) <-- config_of(b, _, _);
    // @rule providers.keyed-here: `b` itself has a key expression
    keyed(b) <-- asks_provider(b, _, _, Keying::Keyed);
    // @rule providers.keyed-above: the call of `k` has a key expression
    keyed(b) <-- config_of(b, _, k), if *k != Module::ROOT;

    // @rule providers.has-key: the key expression has a value
    has_key(n) <-- provider_key(n, _);
    // @rule providers.chosen: `n` belongs to `b`
    chosen(n, g, Key::NONE) <-- object(n), of(n, b), config_of(b, g, _), !keyed(b);
    // @rule providers.undecided: the keys of its block are not known yet
    undecided(n) <-- late(n, p), !expanded(p);
    // @rule providers.destroyed: everything goes, and the state names the configuration that made `n`
    destroyed(n) <-- mode(Mode::Destroy), recorded_provider(n, g, _), of(n, b), keyed(b), config_of(b, g, _);
    // @rule providers.chosen-by-key: a key expression chooses the instance for `n`
    chosen(n, g, k) <-- object(n), of(n, b), keyed(b), config_of(b, g, _), provider_key(n, k), !destroyed(n);
    // @rule providers.chosen-destroyed: everything goes, and the state names the instance that made `n`
    chosen(n, g, k) <-- destroyed(n), object(n), recorded_provider(n, g, k);
    // @rule providers.chosen-recorded: `n` is declared no more, and the state names the instance that made it
    chosen(n, g, k)
        <-- object(n), of(n, b), keyed(b), config_of(b, g, _), !has_key(n), !declared(n), !undecided(n), recorded_provider(n, g, k);
    // @rule providers.chosen-state: the block of `n` is gone, and the state names the instance that made it
    chosen(n, g, k) <-- object(n), block_gone(n), recorded_provider(n, g, k);
    // @rule providers.is-chosen: (an instance is chosen for `n`)
    is_chosen(n) <-- chosen(n, _, _);

    // @rule providers.serves: `p` is the chosen instance
    serves(p, n) <-- chosen(n, g, k), provider_instance(p, g, k);
    // @rule providers.served: (a provider instance serves `n`)
    served(n) <-- serves(_, n);

    // @rule providers.no-configuration: no configuration of that name is visible to `b`
    lacks(n, Lack::Configuration) <-- object(n), of(n, b), asks_provider(b, _, _, _), !configured(b), !block_gone(n);
    // @rule providers.configuration-gone: the block of `n` is gone, and so is the configuration that made it
    lacks(n, Lack::Configuration) <-- object(n), block_gone(n), !is_chosen(n);
    // @rule providers.no-instance: the chosen configuration has no such instance
    lacks(n, Lack::Instance) <-- is_chosen(n), !served(n);
    // @rule providers.no-fallback: `n` is declared no more, and the state names another configuration than `b` does
    lacks(n, Lack::Fallback) <-- object(n), of(n, b), keyed(b), configured(b), !declared(n), !undecided(n), !is_chosen(n);
}

tables! {
    /// Who serves whom. All sorted.
    pub struct Providers {
        "providers" {
            /// `config_of(b, g, k)`: block `b` is served by configuration `g`; the call of module `k` carries the key, none where `k` is the root.
            config_of(Block, Config, Module);
            /// `provider_instance(p, g, k)`: provider instance `p` is that of configuration `g` under key `k`; none where it does not repeat.
            provider_instance(Node, Config, Key);
            /// `provider_alias(m, f, a, g, k)`: in module `m`, alias `a` of provider `f` is configuration `g`, its instance under key `k`; none where it does not repeat.
            provider_alias(Module, Family, Alias, Config, Key);
            /// `keyed(b)`: a key expression chooses the instance that serves an instance of block `b`.
            keyed(Block);
            /// `chosen(n, g, k)`: object `n` is to be served by instance `k` of configuration `g`.
            chosen(Node, Config, Key);
            /// `serves(p, n)`: provider instance `p` serves object `n`.
            serves(Node, Node);
            /// `lacks(n, l)`: object `n` cannot be served for lack of `l`.
            lacks(Node, Lack);
        }
    }
}

/// Finds the provider instance of every object.
pub fn serve(facts: &Facts) -> Providers {
    conclude!(Program {
        facts: module_parent, in_module, provider_block, implied_config, passes, asks_provider, repeats_provider, each_key,
            key_names, provider_node, provider_key, recorded_provider, object, of, declared, block_gone, late, expanded, mode;
    } => Providers { config_of, provider_instance, provider_alias, keyed, chosen, serves, lacks })
}

#[cfg(test)]
mod tests;
