//! What the parser does not survive: a block's text (`|`, `>`) that ends with the document, without a line break.
//!
//! It also panics at a tag in front of a comma (`[!!str, x]`), which is an error of the real program too. It is kept because it says of
//! a mistake what libyaml says, as people know it from the real program; parsers that survive both have other words and other places.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use libyaml_safer::{Event, EventData, ScalarStyle};

thread_local! {
    static CONTAINS: Cell<bool> = const { Cell::new(false) };
}

/// Runs the parser; `None` if it panicked, of which nothing is printed.
pub(super) fn contain<T>(parse: impl FnOnce() -> T) -> Option<T> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |it| {
            if !CONTAINS.get() {
                report(it);
            }
        }));
    });
    CONTAINS.set(true);
    let parsed = panic::catch_unwind(AssertUnwindSafe(parse));
    CONTAINS.set(false);
    parsed.ok()
}

/// Takes the line break that was added to a document out of the block's text that it ended, unless the text has none.
///
/// - `given`: the document without the added line break.
pub(super) fn take_added_break(event: &mut Event, given: &str) {
    let EventData::Scalar { value, style: ScalarStyle::Literal | ScalarStyle::Folded, .. } =
        &mut event.data
    else {
        return;
    };
    let is_at_end = event.end_mark.index as usize > given.len();
    let Some(block) = given.get(event.start_mark.index as usize..).filter(|_| is_at_end) else {
        return;
    };
    let (header, body) = block.split_once('\n').unwrap_or((block, ""));
    let indicators = header.split([' ', '\t', '#', '\r']).next().unwrap_or_default();
    let has_added = match () {
        () if indicators.contains('-') => false,
        () if indicators.contains('+') => true,
        () => ends_with_content(body, value),
    };
    if has_added && value.ends_with('\n') {
        value.pop();
    }
}

/// Returns whether the last line of a block says something, be it blanks beyond its indentation.
fn ends_with_content(body: &str, value: &str) -> bool {
    let is_filled = |line: &&str| !line.trim_matches([' ', '\r']).is_empty();
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let last = body.rsplit('\n').next().unwrap_or_default();
    if is_filled(&last) {
        return true;
    }
    match (body.split('\n').find(is_filled), value.split('\n').find(is_filled)) {
        (Some(line), Some(text)) => last.len() > blanks(line).saturating_sub(blanks(text)),
        _ => false,
    }
}
