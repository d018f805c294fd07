//! Which provider configuration serves which block: local names and aliases, followed through module calls.
//!
//! It rests on the configuration alone, so that it can be concluded before anything is expanded. Where a key expression
//! chooses among instances, the conclusion names the expression; what it gives is for `providers` to judge.
//!
//! holds   a block is served by at most one configuration, or is unconfigured

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation module_parent(Module, Module);
    relation in_module(Block, Module);
    relation provider_block(Module, Family, Alias, Config);
    relation implied_config(Family, Config);
    relation passes(Module, Family, Alias, Family, Alias, Choice);
    relation asks_provider(Block, Family, Alias, Choice);

    /// `passed(c, f, a)`: the call of `c` passes a configuration of provider `f`; under alias `a`.
    relation passed(Module, Family, Alias);

    /// `own(m, f, a, g)`: `m` itself has `g` for provider `f`; under alias `a`.
    relation own(Module, Family, Alias, Config);

    /// `has_own(m, f, a)`: `m` has a configuration of provider `f` of its own, or one passed to it; under alias `a`.
    relation has_own(Module, Family, Alias);

    /// `visible(m, f, a, g, x)`: in `m`, provider `f` is `g`; under alias `a`, its instance chosen by key expression `x`.
    relation visible(Module, Family, Alias, Config, Choice);

    /// `repeats_in(m, f, g)`: without an alias, provider `f` is `g` in `m`, and `g` repeats.
    relation repeats_in(Module, Family, Config);

    /// `config_of(b, g, x)`: `b` is served by `g`; by the instance that key expression `x` chooses.
    relation config_of(Block, Config, Choice);

    /// `configured(b)`: there is a configuration for `b`.
    relation configured(Block);

    /// `lacks_key(b, g)`: `b` uses `g`, which repeats, and names no key.
    relation lacks_key(Block, Config);

    /// `unconfigured(b)`: there is no configuration for `b`.
    relation unconfigured(Block);

    /// `keyed(b)`: a key expression chooses the instance that serves `b`.
    relation keyed(Block);

    // @rule configurations.passed: the call of `c` passes one
    passed(c, f, a) <-- passes(c, f, a, _, _, _);
    // @rule configurations.own: `m` configures it
    own(m, f, a, g) <-- provider_block(m, f, a, g), !passed(m, f, a);
    // @rule configurations.has-own: `m` configures it
    has_own(m, f, a) <-- provider_block(m, f, a, _);
    // @rule configurations.has-passed: (the call of `c` passes it)
    has_own(c, f, a) <-- passed(c, f, a);

    // @rule configurations.visible-own: (`m` configures it)
    visible(m, f, a, g, Choice::NONE) <-- own(m, f, a, g);
    // @rule configurations.visible-implied: the root module uses provider `f` without configuring it
    visible(Module::ROOT, f, Alias::DEFAULT, g, Choice::NONE)
        <-- implied_config(f, g), !has_own(Module::ROOT, f, Alias::DEFAULT);
    // @rule configurations.visible-passed: the call of `c` passes what its caller sees
    visible(c, f, a, g, x)
        <-- passes(c, f, a, h, e, Choice::NONE), module_parent(c, p), visible(p, h, e, g, x);
    // @rule configurations.visible-keyed: the call of `c` passes one instance of what its caller sees
    visible(c, f, a, g, x)
        <-- passes(c, f, a, h, e, x), if *x != Choice::NONE, module_parent(c, p), visible(p, h, e, g, y), if *y == Choice::NONE;
    // @rule configurations.visible-inherited: `c` has no configuration of provider `f` of its own, and inherits that of `p`
    visible(c, f, Alias::DEFAULT, g, x)
        <-- module_parent(c, p), visible(p, f, Alias::DEFAULT, g, x), !has_own(c, f, Alias::DEFAULT),
            !has_own(c, f, Alias::KEYS);

    // @rule configurations.repeats-own: `m` configures provider `f` once, without an alias, and repeats it
    repeats_in(m, f, g) <-- provider_block(m, f, Alias::KEYS, g), !has_own(m, f, Alias::DEFAULT);
    // @rule configurations.repeats-inherited: `c` has no configuration of provider `f` of its own, and inherits that of `p`
    repeats_in(c, f, g)
        <-- module_parent(c, p), repeats_in(p, f, g), !has_own(c, f, Alias::DEFAULT), !has_own(c, f, Alias::KEYS);

    // @rule configurations.config: `b` stands in `m` and uses provider `f`
    config_of(b, g, x) <-- asks_provider(b, f, a, Choice::NONE), in_module(b, m), visible(m, f, a, g, x);
    // @rule configurations.config-keyed: `b` stands in `m` and uses one instance of provider `f`
    config_of(b, g, x)
        <-- asks_provider(b, f, a, x), if *x != Choice::NONE, in_module(b, m), visible(m, f, a, g, _);
    // @rule configurations.configured: (`b` has a provider configuration)
    configured(b) <-- config_of(b, _, _);
    // @rule configurations.unconfigured: none of that name is visible in its module
    unconfigured(b) <-- asks_provider(b, _, _, _), !configured(b);
    // @rule configurations.lacks-key: `b` stands in `m` and uses provider `f`, without a key
    lacks_key(b, g) <-- asks_provider(b, f, Alias::DEFAULT, Choice::NONE), in_module(b, m), repeats_in(m, f, g);
    // @rule configurations.keyed-here: `b` itself has a key expression
    keyed(b) <-- asks_provider(b, _, _, x), if *x != Choice::NONE;
    // @rule configurations.keyed-above: a call on the way passes one instance
    keyed(b) <-- asks_provider(b, _, _, Choice::NONE), config_of(b, _, x), if *x != Choice::NONE;
}

tables! {
    /// Which configuration serves which block. All sorted.
    pub struct Configurations {
        "configurations" {
            /// `config_of(b, g, x)`: block `b` is served by configuration `g`, by the instance that key expression `x` chooses; none where one serves all.
            config_of(Block, Config, Choice);
            /// `keyed(b)`: a key expression chooses the instance that serves an instance of block `b`.
            keyed(Block);
            /// `lacks_key(b, g)`: block `b` uses configuration `g`, which repeats, and names no key of it.
            lacks_key(Block, Config) since "1.1";
            /// `unconfigured(b)`: there is no provider configuration for block `b`.
            unconfigured(Block);
        }
    }
}

/// Finds the provider configuration of every block.
pub(crate) fn configure(ledger: &Ledger<'_>) -> Configurations {
    conclude!(ledger: Program {
        facts: module_parent, in_module, provider_block, implied_config, passes, asks_provider;
    } => Configurations { config_of, keyed, lacks_key, unconfigured })
}

#[cfg(test)]
mod tests;
