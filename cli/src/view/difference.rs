//! How two texts differ, as `diff -u` writes it.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How many equal lines are shown before and after a change.
const CONTEXT: usize = 3;

/// Lines that give way to other ones; one of the two may be empty.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// Returns the difference between two versions of a file.
pub fn unified(name: &str, old: &str, new: &str) -> String {
    let (old, new) = (lines(old), lines(new));
    let changes = slide(changes(&old, &new), &old, &new);
    let mut out = format!("--- old/{name}\n+++ new/{name}\n");
    let mut rest = &changes[..];
    while !rest.is_empty() {
        let close = |it: &[Change]| it[1].old.start - it[0].old.end <= 2 * CONTEXT;
        let count = rest.windows(2).take_while(|it| close(it)).count() + 1;
        hunk(&mut out, &rest[..count], &old, &new);
        rest = &rest[count..];
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        // Only the lengths count: what an operation says of the other side's place may be out of date.
        let (gone, came) = (op.old_range().len(), op.new_range().len());
        let (old, new) = (at_old..at_old + gone, at_new..at_new + came);
        (at_old, at_new) = (old.end, new.end);
        match (op, changes.last_mut()) {
            (DiffOp::Equal { .. }, _) => {}
            (_, Some(last)) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => changes.push(Change { old, new }),
        }
    }
    changes
}

/// Moves what only adds or only removes lines down as far as the text stays the same.
fn slide(changes: Vec<Change>, old: &[&str], new: &[&str]) -> Vec<Change> {
    let mut done: Vec<Change> = Vec::new();
    for mut change in changes.into_iter().rev() {
        let next = done.last().cloned();
        let limit = next.as_ref().map_or(old.len(), |it| it.old.start);
        while change.old.end < limit {
            let moves = match (change.old.is_empty(), change.new.is_empty()) {
                (true, _) => new[change.new.start] == old[change.old.end],
                (_, true) => old[change.old.start] == old[change.old.end],
                _ => false,
            };
            if !moves {
                break;
            }
            change.old = change.old.start + 1..change.old.end + 1;
            change.new = change.new.start + 1..change.new.end + 1;
        }
        match (done.last_mut(), next) {
            (Some(last), Some(next)) if next.old.start == change.old.end => {
                *last = Change {
                    old: change.old.start..next.old.end,
                    new: change.new.start..next.new.end,
                };
            }
            _ => done.push(change),
        }
    }
    done.reverse();
    done
}

fn hunk(out: &mut String, changes: &[Change], old: &[&str], new: &[&str]) {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let before = first.old.start.min(CONTEXT);
    let after = (old.len() - last.old.end).min(CONTEXT);
    let shown_old = first.old.start - before..last.old.end + after;
    let shown_new = first.new.start - before..last.new.end + after;
    out.push_str(&format!("@@ -{} +{} @@\n", place(&shown_old), place(&shown_new)));
    let mut at = shown_old.start;
    for change in changes {
        put(out, ' ', &old[at..change.old.start]);
        put(out, '-', &old[change.old.clone()]);
        put(out, '+', &new[change.new.clone()]);
        at = change.old.end;
    }
    put(out, ' ', &old[at..shown_old.end]);
}

/// Returns first line and number of lines; the line before where there are none.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        1 => format!("{}", lines.start + 1),
        0 => format!("{},0", lines.start),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn put(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn changes_far_apart_are_shown_apart() {
        let old = "a=1\n2\n3\n4\n5\n6\n7\n8\n9\nb=1\n";
        let new = "a = 1\n2\n3\n4\n5\n6\n7\n8\n9\nb = 1";
        expect![[r#"
            --- old/main.tf
            +++ new/main.tf
            @@ -1,4 +1,4 @@
            -a=1
            +a = 1
             2
             3
             4
            @@ -7,4 +7,4 @@
             7
             8
             9
            -b=1
            +b = 1
            \ No newline at end of file
        "#]]
        .assert_eq(&unified("main.tf", old, new));
    }

    #[test]
    fn an_added_line_stands_behind_equal_ones() {
        expect![[r#"
            --- old/x
            +++ new/x
            @@ -1,2 +1,3 @@
             a
             a
            +a
        "#]]
        .assert_eq(&unified("x", "a\na\n", "a\na\na\n"));
        expect![[r#"
            --- old/x
            +++ new/x
            @@ -0,0 +1 @@
            +a
        "#]]
        .assert_eq(&unified("x", "", "a\n"));
    }
}
