//! Reading saved plans: of any bytes, and of archives in which any bytes are the plan.
#![no_main]

use std::io::{Cursor, Write};

use entail::plan::Plan;
use libfuzzer_sys::fuzz_target;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fuzz_target!(|bytes: &[u8]| {
    let _ = Plan::read(bytes);
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("tfplan", bytes), ("tfstate", b""), ("tfstate-prev", b"")] {
        archive.start_file(name, options).expect("an entry");
        archive.write_all(content).expect("its content");
    }
    let archive = archive.finish().expect("an archive").into_inner();
    let _ = Plan::read(&archive);
});
