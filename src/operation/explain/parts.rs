//! The lists of selection: what takes part, what is left out and through whom, what no target wants, and what only the
//! plan can tell.

use std::collections::BTreeMap;

use entail_rules::Node;

use crate::planner::Structured;
use crate::policy::Asked;

/// The outcomes of selection, in address order.
#[derive(Debug, Default)]
pub struct Parts {
    /// What takes part.
    pub selected: Vec<String>,
    /// What is left out, and through whom: nothing for what the request itself names.
    pub excluded: Vec<(String, Option<String>)>,
    /// What no target wants.
    pub untargeted: Vec<String>,
    /// Existing instances of which that is known only once the keys of their block are.
    pub open: Vec<String>,
    /// What policies asked for.
    pub asked: Vec<Asked>,
}

/// Lists what takes part in a run, and what does not.
pub fn parts(known: &Structured) -> Parts {
    let structure = &known.lowered.structure;
    let mut through: BTreeMap<Node, Node> = BTreeMap::new();
    for (node, cause) in &known.selection.excluded_by {
        let entry = through.entry(*node).or_insert(*cause);
        // What the request names itself is its own cause.
        if cause == node {
            *entry = *cause;
        }
    }
    let sorted = |rows: &[(Node,)]| {
        let mut nodes: Vec<Node> = rows.iter().map(|it| it.0).collect();
        nodes.sort_by_key(|it| structure.instance(*it));
        nodes
    };
    let names = |rows: &[(Node,)]| {
        sorted(rows).into_iter().map(|it| structure.name(it)).collect::<Vec<_>>()
    };
    let selection = &known.selection;
    let open = selection.open.iter().filter(|it| selection.excluded.binary_search(it).is_err());
    Parts {
        selected: names(&selection.selected),
        open: names(&open.copied().collect::<Vec<_>>()),
        excluded: sorted(&selection.excluded)
            .into_iter()
            .map(|it| {
                (
                    structure.name(it),
                    through
                        .get(&it)
                        .filter(|cause| **cause != it)
                        .map(|cause| structure.name(*cause)),
                )
            })
            .collect(),
        untargeted: names(&selection.untargeted),
        asked: Vec::new(),
    }
}

impl Parts {
    /// Returns the lists as people read them.
    pub fn text(&self) -> String {
        let mut text = format!("Selected: {}\n", self.selected.len());
        self.selected.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        text.push_str(&format!("\nExcluded: {}\n", self.excluded.len()));
        for (address, through) in &self.excluded {
            match through {
                Some(through) => text.push_str(&format!("  {address}  through {through}\n")),
                None => text.push_str(&format!("  {address}  named by {}\n", self.who(address))),
            }
        }
        text.push_str(&format!("\nNot targeted: {}\n", self.untargeted.len()));
        self.untargeted.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        if !self.open.is_empty() {
            text.push_str(&format!("\nDecided once the keys are known: {}\n", self.open.len()));
            self.open.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        }
        text
    }

    /// Who leaves out what nothing else leaves out: a policy, where one does.
    fn who(&self, address: &str) -> String {
        let names = |it: &&Asked| {
            let behind = address.strip_prefix(&it.address);
            it.head == "exclude" && behind.is_some_and(|it| it.is_empty() || it.starts_with('.'))
        };
        self.asked.iter().find(names).map_or_else(
            || "the request".to_owned(),
            |it| format!("policy {} ({}:{})", it.rule, it.place.0, it.place.1),
        )
    }
}
