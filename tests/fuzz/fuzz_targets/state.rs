//! Reading states and journals: what can be read is written and read again as it was.
#![no_main]

use entail::state::{journal, read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = journal::read(bytes);
    let Ok(Some(state)) = read::read(bytes) else { return };
    let written = write::write_compact(&state);
    match read::read(written.as_bytes()) {
        Ok(Some(again)) => assert_eq!(again, state),
        other => panic!("{written} is not read again: {other:?}"),
    }
});
