//! Installing a module from an archive: whatever is in it, nothing comes to lie outside of `.terraform`.
//!
//! The first byte chooses the packing; then come entries: a kind, a length and a name, a length and a content or the target of a
//! link. Bytes that make no entry are the archive themselves.
#![no_main]

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use entail::diagnostic::Sources;
use entail::install::Settings;
use entail::operation::modules::{How, install_modules};
use entail::operation::session::early_context;
use entail::world::World;
use libfuzzer_sys::fuzz_target;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Kind, name, content.
type Entry<'a> = (u8, &'a [u8], &'a [u8]);

fn entries(mut rest: &[u8]) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    while let Some((kind, behind)) = rest.split_first() {
        rest = behind;
        let (name, content) = (part(&mut rest), part(&mut rest));
        found.push((*kind, name, content));
    }
    found
}

fn part<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let Some((length, behind)) = rest.split_first() else { return &[] };
    let length = usize::from(*length).min(behind.len());
    let (part, behind) = behind.split_at(length);
    *rest = behind;
    part
}

/// A tar archive, header by header, so that names may be anything.
fn tar(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, name, content) in entries {
        let mut header = [0; 512];
        let most = name.len().min(100);
        header[..most].copy_from_slice(&name[..most]);
        header[100..108].copy_from_slice(b"0000644\0");
        let kind = b"012345xLKg"[usize::from(*kind) % 10];
        let is_link = matches!(kind, b'1' | b'2');
        let size = if is_link { 0 } else { content.len() };
        header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        header[156] = kind;
        if is_link {
            let most = content.len().min(100);
            header[157..157 + most].copy_from_slice(&content[..most]);
        }
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|it| u32::from(*it)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend(header);
        if !is_link {
            out.extend(*content);
            out.resize(out.len().next_multiple_of(512), 0);
        }
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn zip(entries: &[Entry<'_>]) -> Option<Vec<u8>> {
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (kind, name, content) in entries {
        let name = String::from_utf8_lossy(name).into_owned();
        let text = String::from_utf8_lossy(content).into_owned();
        match kind % 3 {
            0 => archive.start_file(name, options).ok()?,
            1 => archive.add_symlink(name, text, options).ok()?,
            _ => archive.add_directory(name, options).ok()?,
        }
        if kind % 3 == 0 {
            archive.write_all(content).ok()?;
        }
    }
    Some(archive.finish().ok()?.into_inner())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("it is read").flatten();
    let mut names: Vec<String> =
        entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fuzz_target!(|bytes: &[u8]| {
    let Some((packing, rest)) = bytes.split_first() else { return };
    let (name, archive) = match packing % 4 {
        0 => ("m.zip", zip(&entries(rest))),
        1 => ("m.tar", Some(tar(&entries(rest)))),
        2 => ("m.zip", Some(rest.to_vec())),
        _ => ("m.tar.gz", Some(rest.to_vec())),
    };
    let Some(archive) = archive else { return };
    let outer = tempfile::tempdir().expect("a folder");
    let root = outer.path().join("a/b");
    std::fs::create_dir_all(&root).expect("folders");
    let file = root.join(name);
    std::fs::write(&file, archive).expect("it is written");
    let main = format!("module \"m\" {{\n  source = {:?}\n}}\n", file.display().to_string());
    std::fs::write(root.join("main.tf"), main).expect("it is written");
    let here = std::env::current_dir().expect("there is one");
    let before = names(&here);
    let world = World { cwd: root.clone(), root: root.clone(), ..World::of_this_process() };
    let settings = Settings::default();
    let how = How { upgrade: false, settings: &settings, tell: &|_| {} };
    if let Ok(context) = early_context(&Arc::new(world), &Sources::default()) {
        install_modules(&context, &root.join(".terraform"), &[], how);
    }
    let beside: Vec<String> =
        names(&root).into_iter().filter(|it| *it != ".terraform").collect();
    assert_eq!(beside, [name, "main.tf"], "something lies beside the archive");
    assert_eq!(names(&outer.path().join("a")), ["b"], "something lies above");
    assert_eq!(names(outer.path()), ["a"], "something lies above");
    assert_eq!(names(&here), before, "something lies in the working directory");
});
