//! The lists of selection: what takes part, what is left out and through whom, what no target wants, and what only the
//! plan can tell.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::outputs::Outputs;
use entail_rules::{Mode, Node};

use crate::address::Instance;
use crate::lower::structure::NodeKind;
use crate::planner::Structured;
use crate::policy::Asked;
use crate::world::falsifies;

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
    /// What documents tell already of why something is done with what takes part: by address, such as `not in the state yet`.
    pub told: BTreeMap<String, String>,
    /// Root outputs that keep their value, and checks that are left out.
    pub values: Vec<String>,
    /// Root outputs of which it is known only with the keys of a block whether they are recalculated.
    pub open_values: Vec<String>,
    /// What policies asked for.
    pub asked: Vec<Asked>,
}

/// Lists what takes part in a run, and what does not.
pub fn parts(known: &Structured, outputs: &Outputs) -> Parts {
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
    let mut selected = names(&selection.selected);
    if falsifies("whatif") {
        selected.pop();
    }
    Parts {
        selected,
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
        told: told(known),
        values: values(known, outputs),
        open_values: outputs.undecided_output.iter().map(|it| structure.name(it.0)).collect(),
        asked: Vec::new(),
    }
}

/// What documents alone tell of what takes part. What is done with it is for the plan to decide.
fn told(known: &Structured) -> BTreeMap<String, String> {
    let (facts, structure) = (&known.lowered.facts, &known.lowered.structure);
    let is = |rows: &[(Node,)], node: Node| rows.binary_search(&(node,)).is_ok();
    let destroys = facts.mode.iter().any(|it| it.0 == Mode::Destroy);
    let flag = |node: Node| {
        let hit = facts.replace_hit.iter().find(|it| it.0 == node)?;
        known.lowered.flags.get(hit.1.0 as usize).cloned()
    };
    let of = |node: Node| {
        let orphan = known.instances.orphan.iter().find(|it| it.0 == node);
        match (is(&facts.in_state, node), is(&facts.managed, node)) {
            (_, false) => None,
            (false, _) => Some("not in the state yet".to_owned()),
            (true, _) if destroys => Some("in the state".to_owned()),
            (true, _) if orphan.is_some() => orphan.map(|it| it.1.text().to_owned()),
            (true, _) if is(&facts.tainted, node) => Some("tainted".to_owned()),
            (true, _) => flag(node),
        }
    };
    let selected = known.selection.selected.iter();
    selected.filter_map(|it| Some((structure.name(it.0), of(it.0)?))).collect()
}

/// The root outputs that keep their value, and the checks that are left out.
fn values(known: &Structured, outputs: &Outputs) -> Vec<String> {
    let structure = &known.lowered.structure;
    let is_open = |node: Node| outputs.undecided_output.binary_search(&(node,)).is_ok();
    let kept = outputs.keeps_value.iter().map(|it| it.0).filter(|it| !is_open(*it));
    let checks = known.selection.out.iter().map(|it| it.0);
    let checks = checks.filter(|it| matches!(structure.kind(*it), NodeKind::Check(..)));
    let told: BTreeSet<Node> = kept.chain(checks).collect();
    told.into_iter().map(|it| structure.name(it)).collect()
}

impl Parts {
    /// Returns the lists as people read them.
    pub fn text(&self) -> String {
        let mut text = format!("Excluded: {}\n", self.excluded.len());
        for (address, through) in &self.excluded {
            match through {
                Some(through) => text.push_str(&format!("  {address}  through {through}\n")),
                None => text.push_str(&format!("  {address}  named by {}\n", self.who(address))),
            }
        }
        for value in &self.values {
            text.push_str(&format!("  {value}  stays as it is\n"));
        }
        text.push_str(&format!("\nSelected: {}\n", self.selected.len()));
        self.push_selected(&mut text);
        text.push_str(&format!("\nNot targeted: {}\n", self.untargeted.len()));
        self.untargeted.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        let open: Vec<&String> = self.open.iter().chain(&self.open_values).collect();
        if !open.is_empty() {
            text.push_str(&format!("\nDecided once the keys are known: {}\n", open.len()));
            open.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        }
        text
    }

    /// What takes part, by module where there are several.
    fn push_selected(&self, text: &mut String) {
        let mut modules: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for address in &self.selected {
            let module = address.parse::<Instance>().map(|it| it.module.to_string());
            modules.entry(module.unwrap_or_default()).or_default().push(address);
        }
        let has_several = modules.len() > 1;
        for (module, addresses) in modules {
            let indent = if has_several && !module.is_empty() { "    " } else { "  " };
            if has_several && !module.is_empty() {
                text.push_str(&format!("  {module}:\n"));
            }
            let width = addresses.iter().map(|it| it.chars().count()).max().unwrap_or(0);
            for address in addresses {
                let told = self.told.get(address).map_or("", String::as_str);
                let line = format!("{indent}{address:width$}  {told}");
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
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
