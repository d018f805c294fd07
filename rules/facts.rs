//! The base relations: everything the rules are told, grouped by who writes it.
//!
//! A row is a sentence about ids. Reading order of arguments: subject first. `n`, `m`, `i`, `o`, `v`: nodes; `p`: a
//! pending node or a provider instance; `b`, `c`: blocks; of lint rules, `s`, `m`: sites; `d`, `e`: definitions.

use crate::atom::*;

/// The files that write each group of base relations, from the root of the project. A test looks for every relation there.
pub const WRITERS: &[(&str, &[&str])] = &[
    (
        "configuration",
        &[
            "src/lower/mod.rs",
            "src/lower/configuration.rs",
            "src/lower/existing.rs",
            "src/lower/key_sets.rs",
            "src/lower/waiting.rs",
            "src/planner/expand.rs",
            "src/planner/late.rs",
        ],
    ),
    (
        "providers",
        &[
            "src/lower/serving.rs",
            "src/lower/serving/configured.rs",
            "src/lower/serving/recorded.rs",
            "src/planner/serving.rs",
            "src/planner/walk/serve.rs",
        ],
    ),
    ("moves", &["src/lower/moves.rs"]),
    ("state", &["src/lower/existing.rs", "src/lower/existing/needs.rs", "src/planner/said.rs"]),
    (
        "request",
        &["src/lower/configuration.rs", "src/lower/requested.rs", "src/lower/requested/shape.rs"],
    ),
    (
        "answers",
        &[
            "src/planner/outputs.rs",
            "src/planner/walk.rs",
            "src/planner/walk/triggers.rs",
            "src/planner/answers.rs",
            "src/planner/said.rs",
            "src/planner/expand.rs",
            "src/planner/late.rs",
            "src/execute/finish.rs",
        ],
    ),
    (
        "lint",
        &[
            "src/operation/validate/lint/mod.rs",
            "src/operation/validate/lint/dependencies.rs",
            "src/operation/validate/lint/equality.rs",
            "src/operation/validate/lint/impurity.rs",
            "src/operation/validate/lint/quoted.rs",
        ],
    ),
];

tables! {
    /// What the rules are told. Rows may be pushed in any order and more than once.
    pub struct Facts {
        "configuration" {
            /// `object(n)`: `n` is something that a run selects or leaves out; a managed object, deposed ones included, a data source, an ephemeral resource, or a pending node.
            object(Node);
            /// `managed(n)`: `n` is a managed object; current or deposed.
            managed(Node);
            /// `data(n)`: `n` is a data source; one instance of it.
            data(Node);
            /// `ephemeral(n)`: `n` is an ephemeral resource; one instance of it.
            ephemeral(Node);
            /// `value(n)`: `n` is looked through; a variable, a local, an output (root ones too), a collection, all of a module call, or an instance of one that has `depends_on`.
            value(Node);
            /// `collection(n)`: `n` stands for all instances of one resource in one module instance.
            collection(Node);
            /// `repetition(n)`: `n` stands for the key set of one managed resource, or of a call of a module with such, in one module instance.
            repetition(Node);
            /// `keyed_by(n, r)`: `n` exists because of a key in `r`: its own key set, or that of a call around its module; of key sets that a value reads, in a run that leaves something out.
            keyed_by(Node, Node) since "1.1";
            /// `output(n)`: `n` is a root output; declared now, or only in the state.
            output(Node);
            /// `evaluated_last(n)`: `n` is evaluated when everything else is done; a root output, or a check.
            evaluated_last(Node);
            /// `check_block(n)`: `n` is a check block; of a module instance that is there.
            check_block(Node);
            /// `ephemeral_resource(n)`: `n` is an ephemeral resource; one instance, all of them, or those whose keys are not known.
            ephemeral_resource(Node);
            /// `of(n, b)`: `n` belongs to `b`. A pending node belongs to its block.
            of(Node, Block);
            /// `declared(n)`: the configuration declares `n`.
            declared(Node);
            /// `pending(p)`: `p` stands for instances whose keys are not known before the walk.
            pending(Node);
            /// `late(n, p)`: `n` is one of the instances that `p` stands for, or may be one.
            late(Node, Node);
            /// `keys_from(p, g)`: the keys of `p` are known once `g` is expanded; `p` itself, or a module call around it.
            keys_from(Node, Node);
            /// `call_keys(g)`: `g` stands for the keys of a module call, which are not known before the walk.
            call_keys(Node);
            /// `may_read(n, m)`: `n` may read `m`; what of it an instance reads is known once the keys are. `n` is pending, or late.
            may_read(Node, Node);
            /// `reads_open(n, m)`: `n` reads `m`, of which it is not known yet what it is; `m` is pending, or late.
            reads_open(Node, Node);
            /// `reads(n, m)`: `n` reads `m`; what one says is computed from what the other says.
            reads(Node, Node);
            /// `waits_for(n, m)`: `n` is evaluated after `m`; it reads only what a part of `m` was made of.
            waits_for(Node, Node);
            /// `member(n, c)`: `n` belongs to `c`; an object to a collection, orphans too.
            member(Node, Node);
            /// `block_reads(b, c)`: `b` refers to `c`; somewhere in its block.
            block_reads(Block, Block);
            /// `repeats(b, r)`: `b` repeats by `r`.
            repeats(Block, Repetition);
            /// `asks_cbd(b)`: `b` sets create_before_destroy.
            asks_cbd(Block);
            /// `keeps_object(n)`: the configuration of `n` says `destroy = false`.
            keeps_object(Node);
            /// `protects(n)`: the block of `n` has prevent_destroy.
            protects(Node);
            /// `removed_says(n, f)`: a `removed` block wants `n` to be treated so: `f`; the last such block where there are several.
            removed_says(Node, Fate);
            /// `triggers(n, m)`: replace_triggered_by of `n` names `m`; an object or a collection, as a whole.
            triggers(Node, Node);
            /// `triggers_by_part(n, m)`: replace_triggered_by of `n` names an attribute of `m`.
            triggers_by_part(Node, Node);
            /// `data_waits(n, m)`: `n` is read, or opened, only when `m` is settled; a managed object or a collection.
            data_waits(Node, Node);
            /// `data_waits_behind(n, m)`: `n` is read, or opened, only when everything behind `m` is settled, too; a collection, a module call or a value.
            data_waits_behind(Node, Node);
            /// `has_conditions(n)`: `n` has preconditions or postconditions of its own; an instance, or a root output.
            has_conditions(Node);
            /// `module_output(o)`: `o` is an output with preconditions; of a module instance other than the root.
            module_output(Node);
            /// `in_check(n)`: `n` stands in a check block.
            in_check(Node);
            /// `check_gate(h)`: `h` stands for the data sources in checks where all of them wait for the same things.
            check_gate(Node);
        }
        "providers" {
            /// `module_parent(c, p)`: `p` calls `c`.
            module_parent(Module, Module);
            /// `in_module(b, m)`: `b` stands in `m`.
            in_module(Block, Module);
            /// `provider_block(m, f, a, g)`: `m` configures provider `f` in `g`; under alias `a`.
            provider_block(Module, Family, Alias, Config);
            /// `implied_config(f, g)`: `g` is the empty configuration of provider `f` in the root module, for want of a block; no row if a block there repeats without an alias.
            implied_config(Family, Config);
            /// `passes(c, f, a, h, e, x)`: the call of `c` passes a configuration of provider `h` as `f`; under alias `a`, with the caller's alias `e`, its instance chosen by key expression `x`.
            passes(Module, Family, Alias, Family, Alias, Choice);
            /// `asks_provider(b, f, a, x)`: `b` uses provider `f`; under alias `a`, its instance chosen by key expression `x`.
            asks_provider(Block, Family, Alias, Choice);
            /// `literal_key(x, k)`: key expression `x` is written out, and gives `k`.
            literal_key(Choice, Key);
            /// `repeats_provider(g)`: `g` repeats, by for_each or count.
            repeats_provider(Config);
            /// `each_key(g, k)`: the repetition of `g` gives key `k`.
            each_key(Config, Key);
            /// `key_names(k, a)`: key `k` and alias `a` are the same word; where each key of a configuration is an alias.
            key_names(Key, Alias);
            /// `provider_node(p, g, k)`: `p` stands for `g`; for its instance under key `k`, should there be one.
            provider_node(Node, Config, Key);
            /// `provider_key(n, k)`: the key expression for `n` gives `k`.
            provider_key(Node, Key);
            /// `key_suffices(g, k)`: the arguments of `g` have values with no more of an instance than its key `k`.
            key_suffices(Config, Key);
            /// `recorded_provider(n, m, f, a, k)`: the state says that a configuration of provider `f` in `m` made `n`; under alias `a`, its instance under key `k`.
            recorded_provider(Node, Module, Family, Alias, Key);
        }
        "moves" {
            /// `statement(s)`: `s` is a move statement; written or implied.
            statement(Statement);
            /// `chains(s, t)`: `s` begins where `t` ends.
            chains(Statement, Statement);
            /// `nests(s, t)`: an address of `s` lies within the end of `t`; or the start of `s` around it.
            nests(Statement, Statement);
        }
        "state" {
            /// `in_state(n)`: `n` is in the state; an object, current or deposed, or the recorded result of a data source.
            in_state(Node);
            /// `deposed_of(o, i)`: `o` is a deposed object of `i`.
            deposed_of(Node, Node);
            /// `block_gone(n)`: no block declares `n` or its siblings any more.
            block_gone(Node);
            /// `module_gone(n)`: the module instance that held `n` is not declared any more.
            module_gone(Node);
            /// `key_kind(n, k)`: the key of `n` is `k`.
            key_kind(Node, KeyKind);
            /// `moved(n)`: a move brought `n` to where it is.
            moved(Node);
            /// `retyped(n)`: a move gave `n` another type, which its provider has to make of the old one.
            retyped(Node);
            /// `needs(n, m)`: `n` rests on `m`; the object that exists was made from, or waits for, the other that exists.
            needs(Node, Node);
            /// `state_cbd(n)`: the state says that the successor of `n` is made first.
            state_cbd(Node);
            /// `state_keeps_object(n)`: the state of `n` says `destroy = false`.
            state_keeps_object(Node);
            /// `tainted(n)`: what exists as `n` is half made; or was marked so.
            tainted(Node);
            /// `recorded_output(o)`: the state has a value of `o`.
            recorded_output(Node);
            /// `recorded_result(n)`: the state holds what `n` gave for the same arguments.
            recorded_result(Node);
        }
        "request" {
            /// `mode(m)`: this is a `m` run; exactly one row.
            mode(Mode);
            /// `filtered()`: the request targets or excludes something.
            filtered();
            /// `targeting()`: the request has targets.
            targeting();
            /// `excluding()`: the request has exclusions.
            excluding();
            /// `hit(n, h, f)`: `f` names `n`, to `h` it; by its address now or before a move.
            hit(Node, Hit, Flag);
            /// `replace_hit(n, f)`: `f` asks for `n` to be replaced.
            replace_hit(Node, Flag);
            /// `first_hit(n, f)`: `f` asks for the successor of `n` to be made before `n` is destroyed.
            first_hit(Node, Flag);
            /// `ordered(n, m, f)`: `f` asks for what is done with `n` to be done before what is done with `m`.
            ordered(Node, Node, Flag);
            /// `one_at_a_time(n, f)`: steps of `n` overlap with no other steps of the group that `f` asks for.
            one_at_a_time(Node, Flag);
            /// `move_named(n, e)`: some target names the `e` address of `n`.
            move_named(Node, End);
            /// `skips_refresh()`: the request wants nothing looked at that exists.
            skips_refresh();
            /// `precedes_destroy()`: this run only looks at what is there; then everything is destroyed.
            precedes_destroy();
            /// `adopts()`: the run records an object that is not in the state yet; `import`.
            adopts() since "1.1";
            /// `outputs_need_all()`: outputs and data sources are treated as OpenTofu treats them.
            outputs_need_all();
        }
        "answers" {
            /// `expanded(p)`: the keys of `p` are known now, and its instances are judged.
            expanded(Node);
            /// `skipped(p)`: the keys of `p` are not asked for in this run; its instances are those of the state.
            skipped(Node);
            /// `prior(n)`: after refresh an object exists as `n`.
            prior(Node);
            /// `changed_outside(n)`: what exists as `n` after refresh is another than the state says.
            changed_outside(Node);
            /// `gone_outside(n)`: the state has `n`, and after refresh nothing exists as it.
            gone_outside(Node);
            /// `differs(n)`: what is planned for `n` is not known to equal what exists.
            differs(Node);
            /// `must_replace(n)`: the provider names a difference of `n` that it cannot make in place.
            must_replace(Node);
            /// `marks_differ(n)`: only what is sensitive about `n` changes.
            marks_differ(Node);
            /// `config_unknown(n)`: the arguments of `n` are not wholly known before apply; of an output, its value.
            config_unknown(Node);
            /// `configuration_settled(p)`: the arguments of provider instance `p` were evaluated; all that they read was settled then.
            configuration_settled(Node) since "1.1";
            /// `provider_unknown(p)`: the arguments of provider instance `p` are not wholly known before apply.
            provider_unknown(Node) since "1.1";
            /// `trigger_differs(n, m)`: an attribute of `m` that replace_triggered_by of `n` names changes.
            trigger_differs(Node, Node);
            /// `trigger_missing(n)`: replace_triggered_by of `n` names an instance that is neither declared nor in the state.
            trigger_missing(Node) since "1.1";
            /// `protection(n, p)`: prevent_destroy of `n` is `p`.
            protection(Node, Protection);
            /// `lacks_value(o)`: `o` cannot be evaluated; or a precondition of it cannot.
            lacks_value(Node);
            /// `failed(n)`: a question about `n` ended in an error.
            failed(Node);
            /// `step_failed(n, f)`: phase `f` of `n` failed; when the plan was carried out.
            step_failed(Node, Phase);
            /// `stopped()`: the run was stopped before the end.
            stopped();
            /// `seen(n, w)`: `n` is `w`; as an earlier batch concluded, and something in this batch reads it.
            seen(Node, Seen);
        }
        "lint" {
            /// `lint_includes(i)`: `-lint` includes identifier `i`.
            lint_includes(LintName) since "2.0";
            /// `lint_excludes(i)`: `-lint` excludes identifier `i`.
            lint_excludes(LintName) since "2.0";
            /// `lint_covers(i, r)`: identifier `i` stands for lint rule `r`; `r` itself, or a group that it belongs to.
            lint_covers(LintName, LintName) since "2.0";
            /// `names_dependency(s, b, t)`: item `s` of the `depends_on` of `b` names `t`; a resource with all its instances, a value, or an output of a module call.
            names_dependency(Site, Block, Block) since "2.0";
            /// `names_module(s, b, c)`: item `s` of the `depends_on` of `b` names everything inside module call `c`.
            names_module(Site, Block, Block) since "2.0";
            /// `mentions_block(b, m, t)`: `b` refers at `m` to all of `t`, for all values; a module call stands for all its outputs.
            mentions_block(Block, Site, Block) since "2.0";
            /// `output_of_call(o, c)`: `o` is an output of the module that `c` calls.
            output_of_call(Block, Block) since "2.0";
            /// `input_of_call(v, c)`: `c` gives variable `v` of the module that it calls a value.
            input_of_call(Block, Block) since "2.0";
            /// `inside_call(b, c)`: `b` is a resource in a module that `c` calls, at any depth; or an output that it gives.
            inside_call(Block, Block) since "2.0";
            /// `deferrable(b)`: `b` is a data source or an ephemeral resource; what it waits for may defer it to apply.
            deferrable(Block) since "2.0";
            /// `resource_block(b)`: `b` declares a resource, a data source or an ephemeral resource.
            resource_block(Block) since "2.0";
            /// `spells_block(s, t)`: the text of string `s` is the address of `t`; perhaps with further steps.
            spells_block(Site, Block) since "2.0";
            /// `spelled_in(s, b)`: string `s` is in `b`.
            spelled_in(Site, Block) since "2.0";
            /// `compares_types(s, x, y)`: comparison `s` asks whether a value of type `x` and one of type `y` are equal.
            compares_types(Site, ValueType, ValueType) since "2.0";
            /// `type_kind(x, k)`: type `x` is a `k`; no row if it is not known.
            type_kind(ValueType, TypeKind) since "2.0";
            /// `wholly_typed(x)`: type `x` is known in all its parts.
            wholly_typed(ValueType) since "2.0";
            /// `calls_impure(d, s)`: the expression of `d` calls an impure function at `s`.
            calls_impure(Definition, Site) since "2.0";
            /// `computed_from(d, e)`: the expression of `d` refers to the value of `e`.
            computed_from(Definition, Definition) since "2.0";
            /// `item_of(d, e)`: `d` is one item of object `e`.
            item_of(Definition, Definition) since "2.0";
            /// `managed_argument(d)`: `d` is an argument of a managed resource; at the top level.
            managed_argument(Definition) since "2.0";
            /// `ignored_argument(d)`: changes of `d` change no object; `ignore_changes` names it, or it is write-only.
            ignored_argument(Definition) since "2.0";
        }
    }
}
