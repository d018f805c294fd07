//! Reading journals: of any bytes, and of lines that are whole but for what any bytes make of them.
#![no_main]

use entail::state::journal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let found = journal::read(bytes);
    // What is cut off at a line's end is read alike up to there.
    if let (Some(end), None) = (bytes.iter().rposition(|it| *it == b'\n'), found.flaw) {
        let up_to = journal::read(&bytes[..=end]);
        assert!(up_to.records.len() <= found.records.len() && up_to.flaw.is_none());
    }
});
