//! Writing files of every kind, on a real disk.

use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use super::*;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).expect("it is written");
        self.path(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("it is read")
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("it is read").flatten();
        let mut names: Vec<String> =
            entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn every_name_of_a_file_leads_to_the_new_content() {
    let place = Place::new();
    let file = place.with("file", "the old one, which is longer");
    std::fs::hard_link(&file, place.path("twin")).expect("a link");
    symlink("file", place.path("link")).expect("a link");
    let number = std::fs::metadata(&file).expect("it is there").ino();
    replace(&place.path("link"), b"new", Fresh::Private).expect("it is written");
    assert_eq!((place.text("file").as_str(), place.text("twin").as_str()), ("new", "new"));
    assert_eq!(std::fs::metadata(&file).expect("it is there").ino(), number);
    assert!(place.path("link").is_symlink());
    assert_eq!(place.files(), ["file", "link", "twin"]);
}

#[test]
fn a_link_to_nothing_makes_what_it_leads_to() {
    let place = Place::new();
    symlink("new", place.path("link")).expect("a link");
    replace(&place.path("link"), b"text", Fresh::Private).expect("it is written");
    assert!(place.path("link").is_symlink());
    assert_eq!(place.text("new"), "text");
    symlink("loop", place.path("loop")).expect("a link");
    replace(&place.path("loop"), b"text", Fresh::Private).expect_err("it leads nowhere");
}

#[test]
fn a_torn_file_is_made_whole_from_the_copy_beside_it() {
    let place = Place::new();
    let file = place.with("file", "torn");
    place.with(".file.whole", "whole");
    assert_eq!(restore_torn(&file, || false).expect("it is read"), None);
    assert_eq!(restore_torn(&file, || true).expect("it is read"), Some(b"whole".to_vec()));
    make_whole(&file, || true);
    assert_eq!((place.text("file").as_str(), place.files().len()), ("whole", 1));
    place.with(".file.whole", "older");
    make_whole(&file, || false);
    assert_eq!((place.text("file").as_str(), place.files().len()), ("whole", 1));
}

#[test]
fn owner_group_and_mode_stay() {
    let place = Place::new();
    let file = place.with("file", "old");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o664)).expect("it is set");
    // Only root gives files away.
    let is_given = std::os::unix::fs::chown(&file, Some(12), Some(34)).is_ok();
    replace(&file, b"new", Fresh::Private).expect("it is written");
    let now = std::fs::metadata(&file).expect("it is there");
    assert_eq!(now.mode() & 0o777, 0o664);
    if is_given {
        assert_eq!((now.uid(), now.gid()), (12, 34));
    }
    for (fresh, mode) in [(Fresh::Private, 0o600), (Fresh::Like(&file), 0o664)] {
        replace(&place.path(&format!("{mode}")), b"", fresh).expect("it is written");
        let made = std::fs::metadata(place.path(&format!("{mode}"))).expect("it is there");
        assert_eq!(made.mode() & 0o777, mode);
    }
}

#[test]
fn pipes_and_devices_are_written_through() {
    let place = Place::new();
    let pipe = place.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let refused = replace(&pipe, b"text", Fresh::Private).expect_err("nobody reads");
    assert_eq!(refused.to_string(), "it is a pipe that nobody reads");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            let mut text = String::new();
            File::open(pipe).and_then(|mut it| it.read_to_string(&mut text)).map(|_| text)
        }
    });
    // It takes a moment until the reader is there.
    let written = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        replace(&pipe, b"text", Fresh::Private).is_ok()
    });
    assert!(written);
    assert_eq!(reader.join().expect("it ends").expect("it is read"), "text");
    assert!(std::fs::symlink_metadata(&pipe).expect("it is there").file_type().is_fifo());
    // Neither is a pipe waited for that is to be read.
    read(&pipe).expect_err("it is no regular file");
    lock(&pipe).expect_err("it is no regular file");

    symlink("/dev/null", place.path("null")).expect("a link");
    replace(&place.path("null"), b"text", Fresh::Private).expect("it is written");
    let socket = std::os::unix::net::UnixListener::bind(place.path("socket")).expect("a socket");
    let refused = replace(&place.path("socket"), b"text", Fresh::Private).expect_err("no file");
    assert_eq!(refused.to_string(), "it is a socket, not a regular file");
    drop(socket);
    replace(place.0.path(), b"text", Fresh::Private).expect_err("a folder");
    assert_eq!(place.files(), ["null", "pipe", "socket"]);
}

#[test]
fn a_new_file_takes_no_name_that_is_taken() {
    let place = Place::new();
    let path = place.path("file");
    assert!(create(&path, b"one", Fresh::Private).expect("it is written"));
    assert!(!create(&path, b"two", Fresh::Private).expect("it is refused"));
    symlink("nowhere", place.path("link")).expect("a link");
    assert!(!create(&place.path("link"), b"two", Fresh::Private).expect("it is refused"));
    assert_eq!((place.text("file").as_str(), place.files().len()), ("one", 2));
}

#[test]
fn what_dead_processes_have_left_goes_and_what_is_being_written_stays() {
    let place = Place::new();
    place.with(".entail-1-0.tmp", "of a process that lives, but not with this file");
    let live = File::create(place.path(".entail-1-1.tmp")).expect("it is made");
    assert!(claim(&live).expect("locks work"));
    place.with(".entail-notes.txt", "of nobody here");
    sweep(place.0.path());
    assert_eq!(place.files(), [".entail-1-1.tmp", ".entail-notes.txt"]);
}

#[test]
fn a_folder_goes_with_its_process() {
    let place = Place::new();
    let live = NewFolder::within(place.0.path()).expect("it is made");
    let others = format!(".entail-{}-", std::process::id());
    std::fs::create_dir(place.path(".entail-1-7")).expect("it is made");
    place.with(".entail-1-7/half", "of a process that has died");
    place.with(".entail-1-7.tmp", "");
    sweep(place.0.path());
    assert!(place.files().iter().all(|it| it.starts_with(&others)), "{:?}", place.files());
    assert!(live.path().is_dir());
    drop(live);
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn a_note_follows_nobodys_link() {
    let place = Place::new();
    place.with("precious", "text");
    symlink("precious", place.path("note")).expect("a link");
    write_note(&place.path("note"), b"new").expect("it is written");
    assert_eq!((place.text("precious").as_str(), place.text("note").as_str()), ("text", "new"));
}
