//! Looking at whole plan files: whatever is in one, nothing outside its folder changes.
//!
//! The input is a list of entries – a length and a name, a length and a content – that are put over those of a real plan, so that the
//! reader gets behind the first check. Run it in an empty folder of its own: that folder must stay empty.
#![no_main]

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use entail::diagnostic::Sources;
use entail::operation::saved;
use entail::world::World;
use libfuzzer_sys::fuzz_target;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The entries of the plan that `ENTAIL_FUZZ_PLAN` names; nothing without it.
fn base() -> &'static BTreeMap<String, Vec<u8>> {
    static BASE: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    BASE.get_or_init(|| {
        let Some(path) = std::env::var_os("ENTAIL_FUZZ_PLAN") else { return BTreeMap::new() };
        let bytes = std::fs::read(path).expect("the plan is read");
        let mut zip = ZipArchive::new(Cursor::new(bytes)).expect("it is an archive");
        let mut entries = BTreeMap::new();
        for at in 0..zip.len() {
            let mut entry = zip.by_index(at).expect("an entry");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("it is read");
            entries.insert(entry.name().expect("text").into_owned(), content);
        }
        entries
    })
}

fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_le_bytes(*length)).min(behind.len());
    let (part, behind) = behind.split_at(length);
    *rest = behind;
    Some(part)
}

fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("it is read").count()
}

fuzz_target!(|bytes: &[u8]| {
    let mut entries = base().clone();
    let mut rest = bytes;
    while let Some(name) = part(&mut rest) {
        let content = part(&mut rest).unwrap_or_default();
        entries.insert(String::from_utf8_lossy(name).into_owned(), content.to_vec());
    }
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in &entries {
        if archive.start_file(name.as_str(), options).is_err() || archive.write_all(content).is_err() {
            return;
        }
    }
    let Ok(archive) = archive.finish() else { return };
    let outer = tempfile::tempdir().expect("a folder");
    let inner = outer.path().join("a/b");
    std::fs::create_dir_all(&inner).expect("folders");
    std::fs::write(inner.join("plan"), archive.into_inner()).expect("it is written");
    let here = std::env::current_dir().expect("there is one");
    let before = count(&here);
    let world =
        Arc::new(World { cwd: inner.clone(), root: inner.clone(), ..World::of_this_process() });
    let sources = Sources::default();
    if let Ok(loaded) = saved::load(&world, &sources, &inner.join("plan")) {
        let _ = loaded.config(&world, &sources);
    }
    assert_eq!(count(&inner), 1, "something lies beside the plan");
    assert_eq!((count(outer.path()), count(&outer.path().join("a"))), (1, 1), "something lies above");
    assert_eq!(count(&here), before, "something lies in the working directory");
});
