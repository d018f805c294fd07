//! Which instance of its provider configuration serves which object.
//!
//! Where a key expression chooses the instance (`keyed`), the key is asked for, and a run with `provider_key` names the
//! instance. An object that is declared no more has no such expression: the state names the instance that made it.
//!
//! reads   `config_of`, `keyed`, `unconfigured`
//! holds   an object is served by one instance, or lacks something, or needs none, or awaits an answer

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation provider_block(Module, Family, Alias, Config);
    relation implied_config(Family, Config);
    relation repeats_provider(Config);
    relation each_key(Config, Key);
    relation literal_key(Choice, Key);
    relation key_names(Key, Alias);
    relation key_suffices(Config, Key);
    relation provider_node(Node, Config, Key);
    relation provider_key(Node, Key);
    relation recorded_provider(Node, Module, Family, Alias, Key);
    relation object(Node);
    relation data(Node);
    relation of(Node, Block);
    relation declared(Node);
    relation pending(Node);
    relation block_gone(Node);
    relation late(Node, Node);
    relation expanded(Node);
    relation mode(Mode);
    relation removed_says(Node, Fate);
    relation in_state(Node);
    relation ephemeral(Node);
    relation waits_for(Node, Node);
    relation precedes_destroy();
    relation config_of(Block, Config, Choice);
    relation keyed(Block);
    relation unconfigured(Block);

    /// `provider_instance(p, g, k)`: `p` is the instance of `g` under key `k`.
    relation provider_instance(Node, Config, Key);

    /// `provider_alias(m, f, a, g, k)`: in `m`, alias `a` of provider `f` is `g`; its instance under key `k`.
    relation provider_alias(Module, Family, Alias, Config, Key);

    /// `written(m, f, a)`: `m` configures provider `f`; under alias `a`.
    relation written(Module, Family, Alias);

    /// `made_by(n, g, k)`: what exists as `n` was made by `g`; by its instance under key `k`.
    relation made_by(Node, Config, Key);

    /// `former_instance(p, g, k)`: `p` was the instance of `g` under key `k`; it can still be configured.
    relation former_instance(Node, Config, Key);

    /// `only_looks()`: this run records what is there, and makes nothing.
    relation only_looks();

    /// `misses(b, g, k)`: `b` asks for the instance of `g` under key `k`, and there is none.
    relation misses(Block, Config, Key);

    /// `has_key(n)`: the key that chooses the provider instance of `n` is known.
    relation has_key(Node);

    /// `undecided(n)`: whether `n` is declared is not known yet.
    relation undecided(Node);

    /// `destroyed(n)`: `n` goes with everything else, by the configuration that made it.
    relation destroyed(Node);

    /// `chosen(n, g, k)`: `n` is to be served by `g`; its instance under key `k`.
    relation chosen(Node, Config, Key);

    /// `inherits(n, g, k)`: `n` stays with the instance of `g` under key `k`; nothing but the state names it.
    relation inherits(Node, Config, Key);

    /// `is_chosen(n)`: an instance is chosen for `n`.
    relation is_chosen(Node);

    /// `serves(p, n)`: `p` serves `n`.
    relation serves(Node, Node);

    /// `served(n)`: some provider instance serves `n`.
    relation served(Node);

    /// `has_ephemeral()`: there are ephemeral resources.
    relation has_ephemeral();

    /// `read_by_provider(m)`: in a destroy run with ephemeral resources, the arguments of a provider instance that serves an object depend on `m`.
    relation read_by_provider(Node);

    /// `awaits(n)`: which instance serves `n` is known only when something is answered.
    relation awaits(Node);

    /// `needs_none(n)`: nothing is asked of a provider for `n`.
    relation needs_none(Node);

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

    // @rule providers.written: (`m` configures it)
    written(m, f, a) <-- provider_block(m, f, a, _);
    // @rule providers.made-by: the state names `g`
    made_by(n, g, k) <-- recorded_provider(n, m, f, a, k), provider_block(m, f, a, g);
    // @rule providers.made-by-implied: the state names the configuration of provider `f` that nobody writes
    made_by(n, g, k)
        <-- recorded_provider(n, Module::ROOT, f, Alias::DEFAULT, k), implied_config(f, g), !written(Module::ROOT, f, Alias::DEFAULT);
    // @rule providers.made-by-alias: the state names alias `a`, which is a key of `g` now
    made_by(n, g, k)
        <-- recorded_provider(n, m, f, a, Key::NONE), !written(m, f, a), if *a != Alias::DEFAULT,
            provider_block(m, f, Alias::KEYS, g), key_names(k, a);
    // @rule providers.made-by-former-key: the state names key `k`, which is the alias `a` of `g` now
    made_by(n, g, Key::NONE)
        <-- recorded_provider(n, m, f, Alias::KEYS, k), !written(m, f, Alias::KEYS), key_names(k, a),
            provider_block(m, f, a, g);
    // @rule providers.former: the repetition of `g` gives key `k` no more, and the arguments of `g` need no more than the key
    former_instance(p, g, k)
        <-- made_by(_, g, k), repeats_provider(g), if *k != Key::NONE, !each_key(g, k), key_suffices(g, k), provider_node(p, g, k);

    // @rule providers.misses: the key is written out, and the repetition of `g` does not give it
    misses(b, g, k) <-- config_of(b, g, x), literal_key(x, k), repeats_provider(g), !each_key(g, k);

    // @rule providers.has-key: the key expression has a value
    has_key(n) <-- provider_key(n, _);
    // @rule providers.undecided: the keys of its block are not known yet
    undecided(n) <-- late(n, p), !expanded(p);
    // @rule providers.destroyed: everything goes, and the state names the configuration that made `n`
    destroyed(n) <-- mode(Mode::Destroy), made_by(n, g, _), of(n, b), keyed(b), config_of(b, g, _);

    // @rule providers.chosen: `n` belongs to `b`
    chosen(n, g, Key::NONE) <-- object(n), of(n, b), config_of(b, g, _), !keyed(b);
    // @rule providers.chosen-by-key: a key expression chooses the instance for `n`
    chosen(n, g, k) <-- object(n), of(n, b), keyed(b), config_of(b, g, _), provider_key(n, k), !destroyed(n);
    // @rule providers.chosen-recorded: (`n` stays with what made it)
    chosen(n, g, k) <-- inherits(n, g, k);
    // @rule providers.inherits-destroyed: everything goes, and the state names the instance that made `n`
    inherits(n, g, k) <-- destroyed(n), object(n), made_by(n, g, k);
    // @rule providers.inherits-undeclared: `n` is declared no more, and the state names the instance that made it
    inherits(n, g, k)
        <-- object(n), of(n, b), keyed(b), config_of(b, g, _), !has_key(n), !declared(n), !undecided(n), made_by(n, g, k);
    // @rule providers.inherits-gone: the block of `n` is gone, and the state names the instance that made it
    inherits(n, g, k) <-- object(n), block_gone(n), made_by(n, g, k);
    // @rule providers.only-looks: (this run makes nothing)
    only_looks() <-- mode(Mode::RefreshOnly);
    // @rule providers.only-looks-first: everything is destroyed next
    only_looks() <-- precedes_destroy();
    // @rule providers.inherits-read: nothing is made in this run, and the instance that made `n` can still be configured
    inherits(n, g, k)
        <-- only_looks(), object(n), provider_key(n, k), made_by(n, g, k), former_instance(_, g, k);
    // @rule providers.is-chosen: (an instance is chosen for `n`)
    is_chosen(n) <-- chosen(n, _, _);

    // @rule providers.serves: `p` is the chosen instance
    serves(p, n) <-- chosen(n, g, k), provider_instance(p, g, k);
    // @rule providers.serves-former: `p` made it, and can still be configured
    serves(p, n) <-- inherits(n, g, k), former_instance(p, g, k);
    // @rule providers.served: (a provider instance serves `n`)
    served(n) <-- serves(_, n);

    // @rule providers.has-ephemeral: (there are ephemeral resources)
    has_ephemeral() <-- ephemeral(_);
    // @rule providers.read: the arguments of `p`, which serves what exists as `n`, read `m`
    read_by_provider(m) <-- mode(Mode::Destroy), has_ephemeral(), waits_for(p, m), serves(p, n), in_state(n);
    // @rule providers.read-behind: `m` reads `l`
    read_by_provider(l) <-- read_by_provider(m), waits_for(m, l);

    // @rule providers.awaits-instances: the instances that `n` stands for are not known yet
    awaits(n) <-- object(n), pending(n), !expanded(n);
    // @rule providers.awaits-declaration: (whether `n` is declared is not known yet)
    awaits(n) <-- object(n), undecided(n), of(n, b), keyed(b);
    // @rule providers.awaits-key: `n` is declared, and its key is not known yet
    awaits(n) <-- object(n), of(n, b), keyed(b), declared(n), !is_chosen(n);

    // @rule providers.needs-none-undeclared: `n` is a data source that is declared no more
    needs_none(n) <-- data(n), !declared(n), !pending(n);
    // @rule providers.needs-none-destroyed: `n` is a data source, and everything goes
    needs_none(n) <-- data(n), mode(Mode::Destroy);

    // @rule providers.needs-none-forgotten: a `removed` block says that `n` leaves the state and lives on
    needs_none(n) <-- mode(Mode::Normal), block_gone(n), removed_says(n, Fate::Forget);

    // @rule providers.no-configuration: no configuration of that name is visible to `b`
    lacks(n, Lack::Configuration) <-- object(n), of(n, b), unconfigured(b), !block_gone(n), !needs_none(n);
    // @rule providers.configuration-gone: the block of `n` is gone, and so is the configuration that made it
    lacks(n, Lack::Configuration) <-- object(n), block_gone(n), !is_chosen(n), !needs_none(n);
    // @rule providers.no-instance: the chosen configuration has no such instance
    lacks(n, Lack::Instance) <-- is_chosen(n), !served(n), !needs_none(n);
    // @rule providers.no-fallback: `n` is declared no more, and the state names another configuration than `b` does
    lacks(n, Lack::Fallback)
        <-- object(n), of(n, b), keyed(b), !declared(n), !pending(n), !undecided(n), !is_chosen(n), !needs_none(n);
}

tables! {
    /// Who serves whom. All sorted.
    pub struct Providers {
        "providers" {
            /// `provider_instance(p, g, k)`: provider instance `p` is that of configuration `g` under key `k`; none where it does not repeat.
            provider_instance(Node, Config, Key);
            /// `former_instance(p, g, k)`: provider instance `p` was that of configuration `g` under key `k`, and still can be configured.
            former_instance(Node, Config, Key);
            /// `provider_alias(m, f, a, g, k)`: in module `m`, alias `a` of provider `f` is configuration `g`, its instance under key `k`; none where it does not repeat.
            provider_alias(Module, Family, Alias, Config, Key);
            /// `chosen(n, g, k)`: object `n` is to be served by instance `k` of configuration `g`.
            chosen(Node, Config, Key);
            /// `serves(p, n)`: provider instance `p` serves object `n`.
            serves(Node, Node);
            /// `read_by_provider(m)`: in a destroy run with ephemeral resources, a provider instance that serves an object depends on `m`, directly or through values.
            read_by_provider(Node) since "1.1";
            /// `awaits(n)`: which provider instance serves object `n` is known only in the walk.
            awaits(Node);
            /// `misses(b, g, k)`: block `b` asks, by a key that is written out, for an instance of configuration `g` that is not there.
            misses(Block, Config, Key);
            /// `lacks(n, l)`: object `n` cannot be served for lack of `l`.
            lacks(Node, Lack);
        }
    }
}

/// Finds the provider instance of every object of which there are facts: all of them, or one.
pub(crate) fn serve(ledger: &Ledger<'_>) -> Providers {
    conclude!(ledger: Program {
        facts: provider_block, implied_config, repeats_provider, each_key, literal_key, key_names, key_suffices, provider_node, provider_key,
            recorded_provider, object, data, of, declared, pending, block_gone, late, expanded, mode, precedes_destroy, removed_says, ephemeral, in_state if facts.ephemeral,
            waits_for if facts.ephemeral;
        configurations: config_of, keyed, unconfigured;
    } => Providers { provider_instance, former_instance, provider_alias, chosen, serves, read_by_provider, awaits, misses, lacks })
}

#[cfg(test)]
mod tests;
