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
    for line in std::str::from_utf8(text).ok()?.lines() {
        let mut parts = line.split('\t');
        let name = parts.next()?;
        for part in parts {
            let row: Vec<u64> =
                part.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
            if !tables.push_row(name, &row) {
                return None;
            }
        }
    }
    Some(())
}
