//! Characters as people count them: extended grapheme clusters.

use unicode_segmentation::UnicodeSegmentation;

/// Returns the clusters of a text. Unlike the newest Unicode rules, Indic conjuncts are several: each consonant begins a
/// cluster, which is what OpenTofu counts.
pub(super) fn graphemes(text: &str) -> Vec<&str> {
    if has_single_bytes(text) {
        return (0..text.len()).map(|at| &text[at..=at]).collect();
    }
    let mut clusters = Vec::new();
    for cluster in text.graphemes(true) {
        let mut start = 0;
        for at in breaks(cluster) {
            clusters.push(&cluster[start..at]);
            start = at;
        }
        clusters.push(&cluster[start..]);
    }
    clusters
}

/// Returns how many clusters a text has. Needs no memory, while a collected cluster needs 16 bytes.
pub(super) fn count_graphemes(text: &str) -> usize {
    if has_single_bytes(text) {
        return text.len();
    }
    text.graphemes(true).map(|cluster| 1 + breaks(cluster).count()).sum()
}

/// Returns whether each byte of a text is a cluster.
fn has_single_bytes(text: &str) -> bool {
    text.is_ascii() && !text.contains('\r')
}

/// Returns where a cluster of the newest Unicode rules is divided.
fn breaks(cluster: &str) -> impl Iterator<Item = usize> {
    let mut before = None;
    cluster.char_indices().filter_map(move |(at, letter)| {
        let is_break = at > 0 && is_consonant(letter) && before != Some('\u{d4e}');
        before = Some(letter);
        is_break.then_some(at)
    })
}

/// Returns whether a letter is a consonant that may be part of a conjunct.
fn is_consonant(letter: char) -> bool {
    matches!(letter,
        '\u{915}'..='\u{939}' | '\u{958}'..='\u{95f}' | '\u{978}'..='\u{97f}'
        | '\u{995}'..='\u{9b9}' | '\u{9dc}'..='\u{9df}' | '\u{9f0}'..='\u{9f1}'
        | '\u{a95}'..='\u{ab9}' | '\u{af9}'
        | '\u{b15}'..='\u{b39}' | '\u{b5c}'..='\u{b5f}' | '\u{b71}'
        | '\u{c15}'..='\u{c39}' | '\u{c58}'..='\u{c5a}'
        | '\u{d15}'..='\u{d3a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_counted_as_they_are_collected() {
        for (text, count) in [
            ("", 0),
            ("abc", 3),
            ("a\r\nb", 3),
            ("e\u{301}\u{301}x", 2),
            ("👩\u{200d}👩\u{200d}👧🇩🇪🇫🇷", 3),
            ("क्षि", 2),
            ("\u{d4e}\u{d15}", 1),
        ] {
            assert_eq!(count_graphemes(text), count, "{text:?}");
            assert_eq!(graphemes(text).len(), count, "{text:?}");
            assert_eq!(graphemes(text).concat(), text);
        }
    }
}
