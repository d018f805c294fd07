//! Reading dependency lock files: whatever is read without a problem is written and read again as the same.
#![no_main]

use entail::diagnostic::Sources;
use entail::install::Locks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (locks, problems) = Locks::parse("locks", text, &Sources::default());
    if !problems.has_errors() {
        let (again, problems) = Locks::parse("locks", &locks.text(), &Sources::default());
        assert!(!problems.has_errors(), "{}", locks.text());
        assert_eq!(again, locks);
    }
});
