//! Reading configuration: no text makes a reader panic or hang, and what the formatter writes is valid.
#![no_main]

use entail::diagnostic::FileId;
use entail::syntax;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let file = FileId(1);
    let (_, problems) = syntax::parse(file, text);
    match syntax::format(file, text) {
        Ok(out) => {
            let (_, problems) = syntax::parse(file, &out);
            assert!(!problems.has_errors(), "{text:?} is formatted as {out:?}: {problems:?}");
        }
        Err(_) => assert!(problems.has_errors(), "{text:?} is valid, but not formatted"),
    }
    let _ = syntax::parse_json(file, text);
    let _ = syntax::parse_expression(file, text, 0);
    let _ = syntax::parse_template(file, text);
    let _ = syntax::parse_traversal(file, text, 0);
});
