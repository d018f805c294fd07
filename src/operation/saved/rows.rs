//! Facts and conclusions as a plan file has them: a line for each relation, its rows as numbers.

use entail_rules::Tables;

/// A set of relations as lines: the relation's name, then its rows as numbers.
pub(super) fn rows(tables: &dyn Tables) -> Vec<u8> {
    let mut text = String::new();
    tables.for_each_relation(&mut |relation, rows| {
        if rows.count() == 0 {
            return;
        }
        text.push_str(relation.name);
        let mut row = Vec::new();
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            text.push('\t');
            for (at, word) in row.iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                text.push_str(&word.to_string());
            }
        }
        text.push('\n');
    });
    text.into_bytes()
}

pub(super) fn read_rows(text: &[u8], tables: &mut dyn Tables) -> Option<()> {
    let mut row = Vec::new();
    for line in text.split(|it| *it == b'\n').filter(|it| !it.is_empty()) {
        let mut parts = line.split(|it| *it == b'\t');
        let name = std::str::from_utf8(parts.next()?).ok()?;
        for part in parts {
            row.clear();
            for digits in part.split(|it| *it == b' ').filter(|it| !it.is_empty()) {
                row.push(number(digits)?);
            }
            if !tables.push_row(name, &row) {
                return None;
            }
        }
    }
    Some(())
}

/// Reads a number from its decimal digits; nothing where they are none, or it is too large.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |number, it| {
        let digit = it.checked_sub(b'0').filter(|it| *it < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_rules::{Facts, Node};

    #[test]
    fn rows_come_back_and_what_is_no_row_is_refused() {
        let mut facts = Facts::default();
        facts.needs.push((Node(7), Node(u32::MAX)));
        facts.needs.push((Node(0), Node(10)));
        facts.managed.push((Node(3),));
        let mut found = Facts::default();
        assert_eq!(read_rows(&rows(&facts), &mut found), Some(()));
        assert_eq!(rows(&found), rows(&facts));
        for damaged in ["needs\t1", "needs\t1 x", "needs\t1 -2", "none\t1 2", "needs\t1 2 3"] {
            assert_eq!(read_rows(damaged.as_bytes(), &mut found), None, "{damaged}");
        }
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
    }
}
