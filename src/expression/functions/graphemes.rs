//! Characters as people count them: extended grapheme clusters.

use unicode_segmentation::UnicodeSegmentation;

/// Returns the clusters of a text. Unlike the newest Unicode rules, Indic conjuncts are several: each consonant begins a
/// cluster, which is what OpenTofu counts.
pub(super) fn graphemes(text: &str) -> Vec<&str> {
    if text.is_ascii() && !text.contains('\r') {
        return (0..text.len()).map(|at| &text[at..=at]).collect();
    }
    let mut clusters = Vec::new();
    for cluster in text.graphemes(true) {
        let mut start = 0;
        let mut before = None;
        for (at, letter) in cluster.char_indices() {
            if at > start && is_consonant(letter) && before != Some('\u{d4e}') {
                clusters.push(&cluster[start..at]);
                start = at;
            }
            before = Some(letter);
        }
        clusters.push(&cluster[start..]);
    }
    clusters
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
