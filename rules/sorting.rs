//! Rows in order, each once.

use crate::tables::Row;

/// Fewer rows than this are compared with each other.
const MANY: usize = 1024;

/// Sorts rows and removes what is there twice.
///
/// Most rows begin with the number of a node, and there are about as many nodes: rows are put at their node's place, and only those
/// of one node are compared.
pub(crate) fn tidy<R: Row>(rows: &mut Vec<R>) {
    if rows.is_sorted_by(|a, b| a < b) {
        return;
    }
    match last_place(rows) {
        Some(last) => by_place(rows, last),
        None => rows.sort_unstable(),
    }
    rows.dedup();
}

/// Returns the highest number in the first column, where there are not many more places than rows.
fn last_place<R: Row>(rows: &[R]) -> Option<usize> {
    if rows.len() < MANY {
        return None;
    }
    let most = 4 * rows.len() as u64;
    let mut last = 0;
    for row in rows {
        last = row.first().filter(|it| *it <= most)?.max(last);
    }
    Some(last as usize)
}

fn by_place<R: Row>(rows: &mut Vec<R>, last: usize) {
    let place = |row: &R| row.first().map_or(0, |it| it as usize);
    // Where the rows of each place begin; as they are put down, where the next one goes.
    let mut next = vec![0_u32; last + 2];
    rows.iter().for_each(|it| next[place(it) + 1] += 1);
    let mut before = 0;
    for count in &mut next {
        before += *count;
        *count = before;
    }
    let mut sorted = rows.clone();
    for row in &*rows {
        let at = &mut next[place(row)];
        sorted[*at as usize] = *row;
        *at += 1;
    }
    let mut begin = 0;
    for end in next {
        sorted[begin..end as usize].sort_unstable();
        begin = end as usize;
    }
    *rows = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::{Node, Phase};

    #[test]
    fn rows_come_out_as_sorting_them_all_has_them() {
        let mut seed = 1_u64;
        let mut draw = |end: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % end
        };
        for (count, nodes) in
            [(0, 1), (1, 1), (900, 50), (1024, 1), (5_000, 300), (5_000, 19_999), (5_000, 900_000)]
        {
            let pairs = (0..count).map(|_| (Node(draw(nodes) as u32), Node(draw(7) as u32)));
            let mut pairs: Vec<(Node, Node)> = pairs.collect();
            if count == 900 {
                pairs.push((Node(u32::MAX), Node(0)));
            }
            let mut words: Vec<(Phase, Node)> = pairs
                .iter()
                .map(|it| (Phase::ALL[it.1.0 as usize % Phase::ALL.len()], it.0))
                .collect();
            let (mut wanted, mut wanted_words) = (pairs.clone(), words.clone());
            wanted.sort();
            wanted.dedup();
            wanted_words.sort();
            wanted_words.dedup();
            tidy(&mut pairs);
            tidy(&mut words);
            assert!(pairs == wanted && words == wanted_words, "{count} rows of {nodes}");
        }
    }
}
