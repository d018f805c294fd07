//! `why` and `whatif`: questions about decisions, answered from facts.

mod answer;
mod asked;
pub mod causes;
mod context;
mod declared;
mod documents;
mod every;
mod failures;
mod links;
mod missed;
mod parts;
mod question;
mod waiting;
mod whole;
pub(super) mod words;

use std::collections::BTreeMap;

use entail_rules::{Atom, Node};
use serde_json::Value as Json;

use crate::diagnostic::Diagnostic;
use crate::explain::Known;
use crate::explain::render::align;

use self::answer::shortened;
pub use self::asked::Asked;
use self::causes::Causes;

pub use context::{ExplainContext, Relation};
pub(super) use declared::{blocks, declared, protected};
pub use every::{Every, Told, every};
pub(super) use links::within as place;
pub use links::{Link, Links};
pub use parts::{Parts, parts};
pub use question::{Length, Question, decided_by};
pub use waiting::{Turn, Turns};

/// Tells what the steps of an address wait for, or, without one, the longest way through the run.
///
/// # Errors
///
/// If nothing has that address, or nothing single.
pub fn order(
    address: &str,
    context: &ExplainContext,
    causes: &Causes<'_>,
    depth: Option<usize>,
) -> Result<(String, Json), Diagnostic> {
    let node = match address {
        "" => None,
        address => match Asked::read(address, context)?.node() {
            Some(node) => Some(node),
            None => {
                return Err(Diagnostic::error("Not a single object").detail(format!(
                    "{address} names several objects. Ask with -order for one of its instances."
                )));
            }
        },
    };
    let (mut lines, document) = waiting::tell(node, context, causes);
    lines.retain(|it| depth.is_none_or(|deepest| it.depth <= deepest));
    Ok((align(&shortened(lines)), document))
}

/// The flag that shows every line of an answer, and its proof.
const WHOLE: &str = "-full";

/// What is decided of nodes: the relation that says so, and its row.
type Decided = BTreeMap<Node, (&'static str, Vec<u64>)>;

/// The relations that say what was decided of a node, in the order in which people ask. What forbids the plan comes
/// first: it says as well what would be done.
const DECISIONS: &[&str] = &[
    "violation",
    "excluded",
    "untargeted",
    "action",
    "reads_now",
    "reuses",
    "opens",
    "opens_later",
    "opened",
    "idle",
    "output_action",
    "recalculated",
    "keeps_value",
    "blocked",
    "selected",
];

/// What is decided of each node that is wanted: of the relations that say so, the first one.
fn decided(known: &Known, is_wanted: impl Fn(Node) -> bool) -> Decided {
    let mut found = BTreeMap::new();
    for relation in DECISIONS {
        let column = usize::from(*relation == "violation");
        for row in known.rows(relation) {
            let node = row.get(column).and_then(|it| Node::from_word(*it));
            if let Some(node) = node.filter(|it| is_wanted(*it)) {
                found.entry(node).or_insert_with(|| (*relation, row.to_vec()));
            }
        }
    }
    found
}
