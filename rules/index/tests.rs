//! Rows are found as a plain list of them finds them, few and many, told and concluded, in whichever order they come.

use super::*;
use crate::atom::{Block, Node, Phase};

/// Numbers that jump about, the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % end) as u32
    }
}

/// Draws rows among so many nodes, of which some stand for "none".
fn rows(draw: &mut Draw, count: u64, nodes: u64) -> Vec<(Node, Block)> {
    let node = |draw: &mut Draw| match draw.below(50) {
        0 => Node(u32::MAX - draw.below(2)),
        _ => Node(draw.below(nodes)),
    };
    (0..count).map(|_| (node(draw), Block(draw.below(4)))).collect()
}

#[test]
fn rows_are_found_by_a_column_before_and_after_they_are_merged() {
    let mut draw = Draw(1);
    for (count, nodes) in [(3, 2), (50, 20), (3_000, 5_000), (5_000, 100), (20_000, 1_000_000)] {
        let (mut first, mut second) = (By::<(Node,), Block>::default(), By::default());
        let (told, more) = (rows(&mut draw, count, nodes), rows(&mut draw, count / 3, nodes));
        told.iter().for_each(|row| first.index_insert((row.0,), row.1));
        compare(&first, &told);
        more.iter().for_each(|row| second.index_insert((row.0,), row.1));
        By::move_index_contents(&mut second, &mut first);
        assert!(RelIndexRead::is_empty(&second));
        let all: Vec<_> = told.into_iter().chain(more).collect();
        compare(&first, &all);
        // The larger one stays where it is, whichever way they go.
        By::move_index_contents(&mut first, &mut second);
        compare(&second, &all);
    }
}

#[track_caller]
fn compare(found: &By<(Node,), Block>, rows: &[(Node, Block)]) {
    let sorted = |mut rows: Vec<(Node, Block)>| {
        rows.sort_unstable();
        rows
    };
    let groups = found.iter_all().flat_map(|(node, rest)| rest.map(|it| (node.0, *it)));
    assert_eq!(sorted(groups.collect()), sorted(rows.to_vec()));
    for &(node, _) in rows.iter().take(200) {
        let expected = rows.iter().filter(|it| it.0 == node).copied().collect();
        let rest = found.index_get(&(node,)).expect("it is there").map(|it| (node, *it));
        assert_eq!(sorted(rest.collect()), sorted(expected));
    }
    assert!(found.index_get(&(Node(77_777_777),)).is_none());
    let nodes: std::collections::BTreeSet<Node> = rows.iter().map(|it| it.0).collect();
    assert_eq!(found.len_estimate(), nodes.len());
    let missing = (0..2_000).map(Node).filter(|it| !nodes.contains(it));
    missing.for_each(|it| assert!(found.index_get(&(it,)).is_none()));
}

#[test]
fn pairs_with_a_word_are_found_whichever_way_they_stand() {
    let mut draw = Draw(3);
    let (mut ends, mut turned) =
        (By::<(Node, Phase), Node>::default(), By::<(Phase, Node), ()>::default());
    let mut rows = std::collections::BTreeSet::new();
    for _ in 0..20_000 {
        let row =
            (Node(draw.below(9_000)), Phase::ALL[draw.below(Phase::ALL.len() as u64) as usize]);
        if rows.insert(row) {
            ends.index_insert(row, Node(row.0.0 + 1));
            turned.index_insert((row.1, row.0), ());
        }
    }
    for node in (0..9_010).chain([u32::MAX]).map(Node) {
        for &phase in Phase::ALL {
            let found = ends.index_get(&(node, phase)).map(|it| it.copied().collect::<Vec<_>>());
            let is_there = rows.contains(&(node, phase));
            assert_eq!(found, is_there.then(|| vec![Node(node.0 + 1)]));
            assert_eq!(turned.index_get(&(phase, node)).is_some(), is_there);
        }
    }
}

#[test]
fn a_row_is_added_once() {
    let mut draw = Draw(2);
    for (count, nodes) in [(5, 3), (3_000, 5_000), (20_000, 1_000_000)] {
        let rows = rows(&mut draw, count, nodes);
        let (mut single, mut pairs) = (All::<(Node,)>::default(), All::<(Node, Block)>::default());
        // Some are told from outside, where nobody looks yet.
        let (told, concluded) = rows.split_at(rows.len() / 2);
        told.iter().for_each(|row| single.index_insert((row.0,), ()));
        told.iter().for_each(|row| pairs.index_insert(*row, ()));
        let mut seen: std::collections::BTreeSet<_> = told.iter().copied().collect();
        let mut nodes: std::collections::BTreeSet<_> = told.iter().map(|it| it.0).collect();
        for row in concluded {
            assert_eq!(single.contains_key(&(row.0,)), nodes.contains(&row.0));
            assert_eq!(single.insert_if_not_present(&(row.0,), ()), nodes.insert(row.0));
            assert_eq!(pairs.insert_if_not_present(row, ()), seen.insert(*row));
        }
        let (mut next, mut more) = (All::default(), draw.below(9));
        while more < 4_000 {
            let node = Node(more);
            if !single.contains_key(&(node,)) {
                assert!(next.insert_if_not_present(&(node,), ()));
                nodes.insert(node);
            }
            more += 1 + draw.below(7);
        }
        All::move_index_contents(&mut next, &mut single);
        assert!(next.is_empty() && nodes.iter().all(|it| single.contains_key(&(*it,))));
        let found: std::collections::BTreeSet<Node> = single.iter_all().map(|it| it.0.0).collect();
        assert_eq!(found, nodes);
        assert!((0..5_000).map(Node).all(|it| single.has(&(it,)) == nodes.contains(&it)));
    }
}

#[test]
fn rows_of_many_columns_are_told_apart_before_and_after_they_are_merged() {
    let mut draw = Draw(4);
    type Edge = (Node, Phase, Node, Phase);
    let (mut first, mut second) = (All::<Edge>::default(), All::<Edge>::default());
    let mut seen = [std::collections::BTreeSet::new(), std::collections::BTreeSet::new()];
    let phase = |draw: &mut Draw| Phase::ALL[draw.below(2) as usize];
    for count in 0..9_000 {
        let (from, to) = (Node(draw.below(60)), Node(draw.below(60)));
        let row = (from, phase(&mut draw), to, phase(&mut draw));
        match count % 3 {
            0 => assert_eq!(first.insert_if_not_present(&row, ()), seen[0].insert(row)),
            _ => assert_eq!(second.insert_if_not_present(&row, ()), seen[1].insert(row)),
        }
        assert!(first.contains_key(&row) == seen[0].contains(&row));
    }
    // The larger one stays where it is, whichever way they go.
    All::move_index_contents(&mut second, &mut first);
    assert!(second.is_empty());
    let all: std::collections::BTreeSet<Edge> = seen.into_iter().flatten().collect();
    assert!(first.len_estimate() == all.len() && all.iter().all(|it| first.contains_key(it)));
    assert!(!first.contains_key(&(Node(61), Phase::Up, Node(0), Phase::Up)));
}

#[test]
fn rows_are_found_by_several_columns_whether_few_or_many_share_the_first() {
    let mut draw = Draw(5);
    type Key = (Node, Node, Block);
    // About one, six and a hundred of each, and some that stand for "none".
    for nodes in [6_000, 1_000, 60] {
        let mut by = By::<Key, Node>::default();
        let mut all = All::<Key>::default();
        let mut seen = std::collections::BTreeMap::<Key, Vec<Node>>::new();
        for count in 0..6_000 {
            let first = match draw.below(50) {
                0 => u32::MAX,
                _ => draw.below(nodes),
            };
            let key = (Node(first), Node(draw.below(40)), Block(draw.below(2)));
            if count < 1_000 {
                // Told from outside, where the same may be told twice.
                (0..2).for_each(|_| all.index_insert(key, ()));
            } else {
                assert_eq!(all.insert_if_not_present(&key, ()), !seen.contains_key(&key));
            }
            by.index_insert(key, Node(count));
            seen.entry(key).or_default().push(Node(count));
        }
        for first in (0..nodes as u32).step_by(7).chain([u32::MAX, 77_777_777]) {
            for second in 0..40 {
                let key = (Node(first), Node(second), Block(1));
                let found = by.index_get(&key).map(|it| it.copied().collect::<Vec<_>>());
                assert_eq!(found.as_ref(), seen.get(&key));
                assert_eq!(all.contains_key(&key), seen.contains_key(&key));
            }
        }
        assert_eq!(by.len_estimate(), seen.len());
    }
}
