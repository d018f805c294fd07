//! Nodes that stand in no structure of this run: what a fleet keeps of its stacks, told as rows.

use entail_rules::{Node, Relation};

use crate::datalog::{Database, Program};
use crate::reason::{ENGINES, Engine};
use crate::value::Value;

/// Whoever knows nodes that no configuration and no state of this run has.
///
/// Its nodes begin at [`FIRST`]. What they are, it tells in rows of the vocabulary itself: no rule of the vocabulary concludes it again.
pub trait Elsewhere: Sync {
    /// Gives the rows that some rule of a program reads.
    fn tell(&self, program: &Program, into: &mut Database);

    /// Returns the engine that concludes from so many rows what rules say of them.
    fn engine(&self) -> &dyn Engine {
        ENGINES[0]
    }

    /// Returns whether it knows saved plans, and so what is done with nodes.
    fn has_plans(&self) -> bool {
        false
    }

    /// Returns what a node is called.
    fn address(&self, node: Node) -> String;

    /// Returns the node of an address.
    fn find(&self, address: &str) -> Option<Node>;

    /// Returns the value of a node; nothing where it has none.
    fn value(&self, node: Node) -> Option<Value>;

    /// Returns where a node stands: a file, a line, a column; 0 where only the file is known.
    fn place(&self, node: Node) -> Option<(String, usize, usize)>;
}

/// The first number of a node that stands elsewhere: those before it are of the run.
pub const FIRST: u32 = 1 << 10;

/// What is said of stacks, beside the vocabulary. One that shares its name with another of fewer columns has their number behind it.
pub const RELATIONS: &[Relation] = &[
    relation("stack", &["Node", "Value"], &["`stack(n, s)`: `n` stands in stack `s`."]),
    relation(
        "label",
        &["Value", "Value", "Value"],
        &["`label(s, k, v)`: the label `k` of stack `s` is `v`."],
    ),
    relation(
        "reads_stack",
        &["Value", "Value"],
        &["`reads_stack(s, t)`: stack `s` reads the outputs of stack `t`."],
    ),
    relation(
        "calls_module",
        &["Value", "Value", "Value"],
        &["`calls_module(s, m, v)`: stack `s` calls a module of source `m`, version `v`."],
    ),
    relation(
        "provider_version/3",
        &["Value", "Value", "Value"],
        &["`provider_version(s, p, v)`: stack `s` uses version `v` of provider `p`."],
    ),
    relation(
        "planned",
        &["Node", "Value"],
        &["`planned(n, t)`: a saved plan is about the object `n` of type `t`."],
    ),
    relation(
        "uses",
        &["Node", "Node"],
        &["`uses(n, m)`: an argument of `n` is the identity of `m`."],
    ),
];

const fn relation(
    name: &'static str,
    columns: &'static [&'static str],
    doc: &'static [&'static str],
) -> Relation {
    Relation { name, doc, columns, group: "fleet", since: "1.0" }
}
