//! Which characters names are made of, exactly as HCL has it.
//!
//! HCL reads names by the tables of Unicode 9.0.0. Later ones have more scripts, and for a while even had invisible joiners.

use std::sync::LazyLock;

/// The tables, for characters beyond ASCII.
const TABLES: &str = include_str!("identifiers.txt");

/// First and last characters of ranges, in order: what a name may begin with, and what may only go on.
struct Ranges {
    start: Vec<(u32, u32)>,
    more: Vec<(u32, u32)>,
}

static RANGES: LazyLock<Ranges> = LazyLock::new(|| {
    let (start, more) = TABLES.split_once("\n#").unwrap_or((TABLES, ""));
    Ranges { start: ranges(start), more: ranges(more) }
});

/// Reads ranges; the first line says what they are.
fn ranges(text: &str) -> Vec<(u32, u32)> {
    let number = |it: &str| u32::from_str_radix(it, 16).ok();
    let range = |it: &str| {
        let (first, last) = it.split_once('-').unwrap_or((it, it));
        Some((number(first)?, number(last)?))
    };
    text.lines().skip(1).flat_map(str::split_whitespace).filter_map(range).collect()
}

fn holds(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let at = ranges.partition_point(|it| it.1 < code);
    ranges.get(at).is_some_and(|it| it.0 <= code)
}

/// Returns whether a name may begin with this letter. HCL itself knows no underscore there; who allows it says so.
pub fn may_begin(c: char) -> bool {
    c.is_ascii_alphabetic() || !c.is_ascii() && holds(&RANGES.start, c)
}

/// Returns whether a name may go on with this character. Hyphens are up to the caller.
pub fn may_go_on(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || c == '_',
        false => holds(&RANGES.start, c) || holds(&RANGES.more, c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_those_of_hcl() {
        let count =
            |ranges: &[(u32, u32)]| -> u32 { ranges.iter().map(|it| it.1 - it.0 + 1).sum() };
        assert_eq!((count(&RANGES.start), count(&RANGES.more)), (116955, 2673));
        assert!(RANGES.start.windows(2).chain(RANGES.more.windows(2)).all(|it| it[0].1 < it[1].0));
    }

    #[test]
    fn joiners_and_later_scripts_are_no_part_of_names() {
        for c in [
            '\u{200c}',
            '\u{200d}',
            '\u{30fb}',
            '\u{ff65}',
            '\u{200b}',
            '\u{202e}',
            '\u{10570}',
            '-',
            ' ',
        ] {
            assert!(!may_begin(c) && !may_go_on(c), "{c:?}");
        }
        for c in ['a', 'Z', 'é', '漢', 'ﾞ', '\u{1e943}'] {
            assert!(may_go_on(c), "{c:?}");
        }
        for c in ['1', '_', '\u{301}', '·'] {
            assert!(may_go_on(c) && !may_begin(c), "{c:?}");
        }
    }
}
