//! Compiled patterns, kept by their text: most are asked for over and over, and compiling one takes longer than matching.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Mistake, Pattern, compile_anew};

/// How many patterns are kept.
const KEPT: usize = 100;

thread_local! {
    static COMPILED: RefCell<FxHashMap<String, Arc<Pattern>>> = RefCell::default();
}

/// Returns a pattern, compiled.
pub(in super::super) fn compile(pattern: &str) -> Result<Arc<Pattern>, Mistake> {
    if let Some(known) = COMPILED.with_borrow(|it| it.get(pattern).cloned()) {
        return Ok(known);
    }
    let compiled = Arc::new(compile_anew(pattern)?);
    COMPILED.with_borrow_mut(|it| {
        if it.len() >= KEPT {
            it.clear();
        }
        it.insert(pattern.to_owned(), compiled.clone());
    });
    Ok(compiled)
}
