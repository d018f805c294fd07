//! Steps of which only one of a group may run at a time.

use entail_rules::{Facts, Flag, Node};
use rustc_hash::FxHashMap;

/// Who runs in which group, and who waits for a turn.
#[derive(Debug, Default)]
pub(super) struct Turns {
    groups: FxHashMap<Node, Vec<Flag>>,
    taken: FxHashMap<Flag, Node>,
    waiting: Vec<u32>,
}

impl Turns {
    /// Returns the groups that a plan has.
    pub(super) fn of(facts: &Facts) -> Turns {
        let mut turns = Turns::default();
        for &(node, group) in &facts.one_at_a_time {
            let groups = turns.groups.entry(node).or_default();
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        turns
    }

    /// Takes the turn of a node in all its groups. Returns false where another has one of them; the step then waits.
    pub(super) fn take(&mut self, node: Node, step: u32) -> bool {
        let Some(groups) = self.groups.get(&node) else { return true };
        if groups.iter().any(|it| self.taken.contains_key(it)) {
            self.waiting.push(step);
            return false;
        }
        self.taken.extend(groups.iter().map(|it| (*it, node)));
        true
    }

    /// Ends the turn of a node. Returns the steps that may try again, in the order in which they came.
    pub(super) fn end(&mut self, node: Node) -> Vec<u32> {
        let Some(groups) = self.groups.get(&node) else { return Vec::new() };
        let before = self.taken.len();
        self.taken.retain(|group, holder| *holder != node || !groups.contains(group));
        match self.taken.len() < before {
            true => std::mem::take(&mut self.waiting),
            false => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_group_one_runs_and_the_others_come_in_turn() {
        let (a, b, c, d) = (Node(0), Node(1), Node(2), Node(3));
        let facts = Facts {
            one_at_a_time: vec![(a, Flag(0)), (b, Flag(0)), (b, Flag(1)), (c, Flag(1))],
            ..Facts::default()
        };
        let mut turns = Turns::of(&facts);
        assert!(turns.take(a, 10));
        assert!(!turns.take(b, 11));
        assert!(turns.take(c, 12));
        assert!(turns.take(d, 13));
        assert_eq!(turns.end(d), Vec::<u32>::new());
        assert_eq!(turns.end(a), [11]);
        assert!(!turns.take(b, 11));
        assert_eq!(turns.end(c), [11]);
        assert!(turns.take(b, 11));
        assert_eq!(turns.end(b), Vec::<u32>::new());
    }
}
