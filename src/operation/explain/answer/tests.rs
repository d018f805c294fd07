//! Sentences that are put together from parts.

use super::reasons::{Because, part, reason};

#[test]
fn the_first_reason_stands_in_the_sentence_and_the_others_below() {
    let one = Because {
        text: "it is tainted".into(),
        place: Some("state".into()),
        below: vec![reason(1, "deep".into(), None)],
    };
    let other = Because::new("-replace=X names it", None);
    let lines = Because::of("X will be replaced", vec![one, other]).lines();
    let texts: Vec<(usize, &str)> = lines.iter().map(|it| (it.depth, it.text.as_str())).collect();
    assert_eq!(
        texts,
        [
            (0, "X will be replaced because it is tainted"),
            (1, "deep"),
            (1, "and because -replace=X names it"),
        ]
    );
    assert_eq!(lines[0].origins, ["state"]);
}

#[test]
fn lines_keep_what_they_are() {
    assert!(reason(1, "a".into(), None).is_reason);
    assert!(!part(1, "a".into(), None).is_reason);
}
