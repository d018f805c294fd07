//! Aligns two sequences: what stays, what goes, what comes, and what becomes something else.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use entail::value::Value;

use super::change::same;

/// Beyond this many pairs, only what is equal at both ends is aligned exactly.
const MOST_PAIRS: usize = 4_000_000;

/// One row of an alignment: positions before and after. A position beyond the end is an absent element.
pub type Row = (usize, usize);

/// Aligns two sequences of values. Where `changes(a, b)` holds, an element that goes and one that comes are one that changes.
pub fn align(
    before: &[Value],
    after: &[Value],
    changes: impl Fn(&Value, &Value) -> bool,
) -> Vec<Row> {
    let (before_ids, after_ids) = identify(before, after);
    rows(&before_ids, &after_ids, |i, j| changes(&before[i], &after[j]))
}

/// Aligns two sequences of lines.
pub fn align_lines(before: &[&str], after: &[&str]) -> Vec<Row> {
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut id = |line| {
        let next = ids.len();
        *ids.entry(line).or_insert(next)
    };
    let before: Vec<usize> = before.iter().map(|it| id(it)).collect();
    let after: Vec<usize> = after.iter().map(|it| id(it)).collect();
    rows(&before, &after, |_, _| false)
}

/// Numbers the values so that values that look alike have the same number.
pub fn identify(before: &[Value], after: &[Value]) -> (Vec<usize>, Vec<usize>) {
    let mut known: HashMap<u64, Vec<(usize, &Value)>> = HashMap::new();
    let mut count = 0;
    let mut number = |value| {
        let Some(bucket) = bucket(value) else {
            // It is like nothing else, not even itself.
            count += 1;
            return count;
        };
        let alike = known.entry(bucket).or_default();
        if let Some((id, _)) = alike.iter().find(|it| same(it.1, value)) {
            return *id;
        }
        count += 1;
        alike.push((count, value));
        count
    };
    (before.iter().map(&mut number).collect(), after.iter().map(&mut number).collect())
}

/// A number that is equal for values that look alike, and rarely for others; nothing for what is not wholly known.
fn bucket(value: &Value) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    value.is_wholly_known().then(|| {
        look(value, &mut hasher);
        hasher.finish()
    })
}

/// Hashes what `same` compares: neither marks nor the kind of container.
fn look(value: &Value, hasher: &mut DefaultHasher) {
    match value.bare() {
        Value::Bool(it) => it.hash(hasher),
        Value::Number(it) => it.to_string().hash(hasher),
        Value::String(it) => it.hash(hasher),
        it @ (Value::Map(_) | Value::Object(_)) => {
            for (name, child) in it.entries() {
                name.hash(hasher);
                look(child, hasher);
            }
        }
        it => it.children().for_each(|it| look(it, hasher)),
    }
}

fn rows(before: &[usize], after: &[usize], changes: impl Fn(usize, usize) -> bool) -> Vec<Row> {
    let common = longest_common(before, after);
    let mut rows = Vec::with_capacity(before.len().max(after.len()));
    let (mut i, mut j, mut k) = (0, 0, 0);
    while i < before.len() || j < after.len() {
        let next = common.get(k).copied();
        while i < before.len() && next != Some(before[i]) {
            // An element after that stays is not what this one becomes.
            if j < after.len() && next != Some(after[j]) && changes(i, j) {
                rows.push((i, j));
                j += 1;
            } else {
                rows.push((i, after.len()));
            }
            i += 1;
        }
        while j < after.len() && next != Some(after[j]) {
            if i < before.len() && next.is_none() && changes(i, j) {
                rows.push((i, j));
                i += 1;
            } else {
                rows.push((before.len(), j));
            }
            j += 1;
        }
        if next.is_some() {
            rows.push((i, j));
            (i, j, k) = (i + 1, j + 1, k + 1);
        }
    }
    rows
}

/// Returns a longest sequence that both contain.
fn longest_common(before: &[usize], after: &[usize]) -> Vec<usize> {
    if before.len().saturating_mul(after.len()) <= MOST_PAIRS {
        return longest_common_table(before, after);
    }
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (head, before) = before.split_at(start);
    let after = &after[start..];
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let (before, tail) = before.split_at(before.len() - end);
    let after = &after[..after.len() - end];
    let middle = match before.len().saturating_mul(after.len()) <= MOST_PAIRS {
        true => longest_common_table(before, after),
        false => Vec::new(),
    };
    [head, &middle, tail].concat()
}

fn longest_common_table(before: &[usize], after: &[usize]) -> Vec<usize> {
    let width = before.len() + 1;
    let mut lengths = vec![0_u32; width * (after.len() + 1)];
    for (y, b) in after.iter().enumerate() {
        for (x, a) in before.iter().enumerate() {
            let at = (y + 1) * width + x + 1;
            lengths[at] = if a == b {
                lengths[at - width - 1] + 1
            } else {
                lengths[at - 1].max(lengths[at - width])
            };
        }
    }
    let mut found = Vec::new();
    let (mut x, mut y) = (before.len(), after.len());
    while x > 0 && y > 0 {
        if before[x - 1] == after[y - 1] {
            found.push(before[x - 1]);
            (x, y) = (x - 1, y - 1);
        } else if lengths[(y - 1) * width + x] > lengths[y * width + x - 1] {
            y -= 1;
        } else {
            x -= 1;
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use entail::value::{Marks, Type};

    use super::*;

    fn lines(before: &str, after: &str) -> String {
        let (before, after): (Vec<_>, Vec<_>) =
            (before.split(' ').collect(), after.split(' ').collect());
        let rows = align_lines(&before, &after).into_iter().map(|(i, j)| {
            match (before.get(i), after.get(j)) {
                (Some(it), None) => format!("-{it}"),
                (None, Some(it)) => format!("+{it}"),
                (Some(it), Some(_)) => format!("={it}"),
                (None, None) => "?".to_owned(),
            }
        });
        rows.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_both_have_in_order_stays() {
        assert_eq!(lines("a b c", "a x c"), "=a -b +x =c");
        assert_eq!(lines("a b", "b a"), "+b =a -b");
        assert_eq!(lines("a", "a a"), "=a +a");
        assert_eq!(lines("a b c d", "d"), "-a -b -c =d");
    }

    #[test]
    fn what_may_change_is_paired() {
        let values = |all: &[&str]| all.iter().map(|it| Value::from(*it)).collect::<Vec<_>>();
        let rows = align(&values(&["a", "b"]), &values(&["x", "b", "c"]), |_, _| true);
        assert_eq!(rows, [(0, 0), (1, 1), (2, 2)]);
    }

    #[test]
    fn what_looks_alike_has_one_number_and_what_is_not_known_none_but_its_own() {
        let object = |id: &str, count: i64| {
            Value::object([("id".into(), Value::from(id)), ("n".into(), Value::int(count))])
        };
        let map = |it: &str| Value::map(Type::STRING, [("id".into(), Value::from(it))]);
        let unknown = || Value::tuple(vec![Value::unknown(Type::STRING)]);
        let before = [object("a", 1), object("a", 2), map("a"), unknown(), Value::NULL];
        let after = [object("a", 2), unknown(), object("a", 1), map("a"), Value::NULL];
        let (before, after) = identify(&before, &after);
        assert_eq!((&before[..], &after[..]), (&[1, 2, 3, 4, 5][..], &[2, 6, 1, 3, 5][..]));
        let marked = |it: &Value| it.clone().mark(&Marks::sensitive());
        let list = Value::list(Type::STRING, vec!["x".into()]);
        let tuple = Value::tuple(vec![marked(&"x".into())]);
        assert_eq!(identify(&[list], &[marked(&tuple)]), (vec![1], vec![1]));
    }

    #[test]
    fn numbers_of_many_values_are_found_without_comparing_all_with_all() {
        let value = |it: usize| Value::object([("n".into(), Value::int(it as i64))]);
        let all: Vec<Value> = (0..1000).map(value).collect();
        let buckets: HashSet<u64> = all.iter().filter_map(bucket).collect();
        assert_eq!(buckets.len(), 1000);
        assert!(bucket(&Value::unknown(Type::DYNAMIC)).is_none());
    }

    #[test]
    fn long_sequences_are_aligned_at_their_ends() {
        let before: Vec<usize> = (0..3000).collect();
        let mut after = before.clone();
        after[1500] = 9999;
        let rows = rows(&before, &after, |_, _| false);
        assert_eq!(rows.len(), 3001);
        assert_eq!(rows[1500..1502], [(1500, 3000), (3000, 1500)]);
    }
}
