//! The base relations: everything the rules are told, grouped by who writes it.
//!
//! A row is a sentence about ids. Reading order of arguments: subject first. `n`, `m`, `i`, `o`, `v`: nodes; `p`: a
//! pending node or a provider instance; `b`, `c`: blocks.

use crate::atom::*;

tables! {
    /// What the rules are told. Rows may be pushed in any order and more than once.
    pub struct Facts {
        "configuration" {
            /// `object(n)`: `n` is something that a run selects or leaves out: a managed object, deposed ones included, a data source, an ephemeral resource, or a pending node.
            object(Node);
            /// `managed(n)`: `n` is a managed object, current or deposed.
            managed(Node);
            /// `data(n)`: `n` is an instance of a data source.
            data(Node);
            /// `value(n)`: `n` is looked through: a variable, a local, an output (root ones too), or a collection.
            value(Node);
            /// `collection(n)`: `n` stands for all instances of one resource in one module instance.
            collection(Node);
            /// `repetition(n)`: `n` stands for the key set of one managed resource in one module instance.
            repetition(Node);
            /// `output(n)`: `n` is an output of the root module, declared now or only in the state.
            output(Node);
            /// `of(n, b)`: `n` belongs to block `b`. A pending node belongs to its block.
            of(Node, Block);
            /// `declared(n)`: the configuration declares instance `n` now.
            declared(Node);
            /// `pending(p)`: `p` stands for the instances of a block whose keys are not known before the walk.
            pending(Node);
            /// `late(n, p)`: instance `n` is one of those that pending node `p` stands for.
            late(Node, Node);
            /// `reads(n, m)`: what `n` says is computed from what `m` says.
            reads(Node, Node);
            /// `member(n, c)`: object `n`, orphan or not, belongs to collection `c`.
            member(Node, Node);
            /// `block_reads(b, c)`: block `b` refers to block `c` somewhere.
            block_reads(Block, Block);
            /// `value_block(b)`: block `b` is a variable, a local, an output or a module call.
            value_block(Block);
            /// `knot(b)`: block `b` remains when blocks that read nothing, or that nothing reads, are taken away over and over.
            knot(Block);
            /// `repeats(b, r)`: block `b` repeats by `r`.
            repeats(Block, Repetition);
            /// `asks_cbd(b)`: block `b` sets `create_before_destroy`.
            asks_cbd(Block);
            /// `prevents_destroy(n)`: the block of `n` sets `prevent_destroy`.
            prevents_destroy(Node);
            /// `keeps_object(n)`: the configuration sets `lifecycle { destroy = false }` for `n`.
            keeps_object(Node);
            /// `removed_says(n, f)`: a `removed` block covers `n` and wants `f`; the last such block where there are several.
            removed_says(Node, Fate);
            /// `triggers(n, m)`: `replace_triggered_by` of `n` names `m`, an object or a collection, as a whole.
            triggers(Node, Node);
            /// `triggers_by_part(n, m)`: `replace_triggered_by` of `n` names an attribute of `m`.
            triggers_by_part(Node, Node);
            /// `data_waits(n, m)`: data source `n` is read only when managed object or collection `m` is settled.
            data_waits(Node, Node);
            /// `has_conditions(n)`: data source `n` has preconditions or postconditions of its own.
            has_conditions(Node);
            /// `in_check(n)`: data source `n` stands inside a `check` block.
            in_check(Node);
        }
        "providers" {
            /// `module_parent(c, p)`: module `c` is called by module `p`.
            module_parent(Module, Module);
            /// `in_module(b, m)`: resource block `b` stands in module `m`.
            in_module(Block, Module);
            /// `provider_block(m, f, a, g)`: module `m` configures provider `f` under alias `a` in block `g`.
            provider_block(Module, Family, Alias, Config);
            /// `implied_config(f, g)`: `g` is the empty configuration of provider `f` in the root module, should nobody write one.
            implied_config(Family, Config);
            /// `passes(c, f, a, g, e, k)`: the call of module `c` passes its caller's configuration `g`, alias `e`, as `f`, alias `a`.
            passes(Module, Family, Alias, Family, Alias, Keying);
            /// `asks_provider(b, f, a, k)`: resource block `b` names the configuration of provider `f` under alias `a`.
            asks_provider(Block, Family, Alias, Keying);
            /// `provider_instance(p, g, k)`: `p` is the instance of configuration `g` under key `k`.
            provider_instance(Node, Config, Key);
            /// `provider_key(n, k)`: the key expression that chooses the provider instance of `n` gives `k`.
            provider_key(Node, Key);
            /// `recorded_provider(n, g, k)`: the state says that instance `k` of configuration `g` made `n`, and that configuration still is there.
            recorded_provider(Node, Config, Key);
        }
        "moves" {
            /// `statement(s)`: `s` is a move statement, written or implied.
            statement(Statement);
            /// `chains(s, t)`: where `t` ends, `s` begins.
            chains(Statement, Statement);
            /// `nests(s, t)`: an address of `s` lies within the end of `t`, or the start of `s` around it.
            nests(Statement, Statement);
        }
        "state" {
            /// `in_state(n)`: `n` exists, as far as the state knows: an object, current or deposed, or the recorded result of a data source.
            in_state(Node);
            /// `deposed_of(o, i)`: `o` is a deposed object of instance `i`.
            deposed_of(Node, Node);
            /// `block_gone(n)`: no resource block declares `n` or its siblings any more.
            block_gone(Node);
            /// `module_gone(n)`: the module instance that held `n` is not declared any more.
            module_gone(Node);
            /// `key_kind(n, k)`: the key of existing instance `n` is of kind `k`.
            key_kind(Node, KeyKind);
            /// `moved(n)`: a move brought `n` to where it is now.
            moved(Node);
            /// `needs(n, m)`: the object that exists as `n` was made from, or waits for, what exists as `m`.
            needs(Node, Node);
            /// `state_cbd(n)`: the state says that `n` is replaced by making the new object first.
            state_cbd(Node);
            /// `state_keeps_object(n)`: the state says that the object of `n` is not to be destroyed.
            state_keeps_object(Node);
            /// `tainted(n)`: the object of `n` is half made, or was marked so.
            tainted(Node);
            /// `recorded_result(n)`: the state holds what data source `n` gave for the same arguments.
            recorded_result(Node);
        }
        "request" {
            /// `mode(m)`: this is the kind of plan that is asked for. Exactly one row.
            mode(Mode);
            /// `filtered()`: the request targets or excludes something.
            filtered();
            /// `targeting()`: the request has targets.
            targeting();
            /// `excluding()`: the request has exclusions.
            excluding();
            /// `hit(n, h, f)`: flag `f` names `n`, by its address now or before a move.
            hit(Node, Hit, Flag);
            /// `replace_hit(n, f)`: flag `f` asks for `n` to be replaced.
            replace_hit(Node, Flag);
            /// `move_named(n, e)`: some target names this end of the move of `n`.
            move_named(Node, End);
            /// `outputs_need_all()`: outputs and data sources are treated as OpenTofu treats them.
            outputs_need_all();
            /// `before_asked(n, m)`: a user's rule wants `n` done before `m`.
            before_asked(Node, Node);
            /// `step_asked(n, f)`: `n` has something to carry out in phase `f` besides its action, such as configuring a provider.
            step_asked(Node, Phase);
        }
        "answers" {
            /// `expanded(p)`: the keys of pending node `p` are known now, and its instances are judged.
            expanded(Node);
            /// `prior(n)`: after refresh an object exists as `n`.
            prior(Node);
            /// `differs(n)`: what is planned for `n` is not known to equal what exists.
            differs(Node);
            /// `must_replace(n)`: the provider names a difference of `n` that it cannot make in place.
            must_replace(Node);
            /// `marks_differ(n)`: only what is sensitive about `n` changes.
            marks_differ(Node);
            /// `config_unknown(n)`: the arguments of `n` are not wholly known before apply.
            config_unknown(Node);
            /// `trigger_differs(n, m)`: an attribute of `m` that `replace_triggered_by` of `n` names changes.
            trigger_differs(Node, Node);
            /// `failed(n)`: a question about `n` ended in an error.
            failed(Node);
            /// `seen(n, w)`: what was concluded earlier of `n`, which something in this batch reads.
            seen(Node, Seen);
        }
        "handed on" {
            /// `orphan(n, r)`: concluded by `instances`, for the nodes of this batch.
            orphan(Node, Reason);
            /// `doomed(n)`: concluded by `instances`.
            doomed(Node);
            /// `kept(n)`: concluded by `selection`, for the nodes of this batch.
            kept(Node);
            /// `cbd(n)`: concluded by `spread`, for the nodes of this batch.
            cbd(Node);
        }
    }
}
