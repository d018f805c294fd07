//! The three lists of selection: what takes part, what is left out and through whom, what no target wants.

use std::collections::BTreeMap;

use entail_rules::Node;

use crate::planner::Structured;

/// The three outcomes of selection, in address order.
#[derive(Debug, Default)]
pub struct Parts {
    /// What takes part.
    pub selected: Vec<String>,
    /// What is left out, and through whom: nothing for what the request itself names.
    pub excluded: Vec<(String, Option<String>)>,
    /// What no target wants.
    pub untargeted: Vec<String>,
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
    Parts {
        selected: sorted(&known.selection.selected)
            .into_iter()
            .map(|it| structure.name(it))
            .collect(),
        excluded: sorted(&known.selection.excluded)
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
        untargeted: sorted(&known.selection.untargeted)
            .into_iter()
            .map(|it| structure.name(it))
            .collect(),
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
                None => text.push_str(&format!("  {address}  named by the request\n")),
            }
        }
        text.push_str(&format!("\nNot targeted: {}\n", self.untargeted.len()));
        self.untargeted.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        text
    }
}
