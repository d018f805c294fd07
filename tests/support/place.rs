//! A folder with a configuration, and the binary to run there.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::binary;

/// A folder with a configuration.
pub struct Place(tempfile::TempDir);

impl Place {
    /// Makes a folder with a configuration.
    pub fn new(config: &str) -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        place.write("main.tf", config);
        place
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes a folder that is like this one, link for link.
    pub fn copied(&self) -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        copy(self.path(), place.path(), &mut BTreeMap::new());
        place
    }

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("there is a folder");
        std::fs::write(path, text).expect("it is written");
    }

    /// Adds to the configuration.
    pub fn add(&self, text: &str) {
        self.write("main.tf", &(self.text("main.tf") + text));
    }

    /// Reads a file of the folder; nothing where there is none.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    /// Returns the binary with arguments, not started yet. A folder `home` is the user's, with settings and temporary files.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = binary::process(binary::path(), self.path());
        command.args(arguments).env("TF_IN_AUTOMATION", "1");
        let home = self.path().join("home");
        if home.is_dir() {
            command.env("HOME", &home).env("TMPDIR", home.join("temporary"));
        }
        if home.join("cli.tfrc").is_file() {
            command.env("TF_CLI_CONFIG_FILE", home.join("cli.tfrc"));
        }
        command
    }

    /// Runs a command to its end; its output and exit code.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> (String, Option<i32>) {
        let output = self.command(arguments).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked at"), "{arguments:?}: {text}");
        (text, output.status.code())
    }

    /// Runs a command that succeeds; its output.
    #[track_caller]
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let (text, code) = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {text}");
        text
    }

    /// Starts a command.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts")
    }

    /// Hidden files: locks, journals and halves.
    pub fn hidden(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder is read").flatten();
        entries
            .map(|it| it.file_name().to_string_lossy().into_owned())
            .filter(|it| it.starts_with('.'))
            .collect()
    }
}

/// - `named`: where files with several names were put, by their numbers.
fn copy(from: &Path, into: &Path, named: &mut BTreeMap<u64, PathBuf>) {
    for entry in std::fs::read_dir(from).expect("it is read").flatten() {
        let (about, target) =
            (entry.metadata().expect("it is there"), into.join(entry.file_name()));
        if about.is_dir() {
            std::fs::create_dir(&target).expect("it is made");
            copy(&entry.path(), &target, named);
        } else if about.is_symlink() {
            let to = std::fs::read_link(entry.path()).expect("it leads somewhere");
            std::os::unix::fs::symlink(to, target).expect("a link");
        } else if let Some(first) = named.get(&about.ino()) {
            std::fs::hard_link(first, target).expect("another name");
        } else {
            std::fs::copy(entry.path(), &target).expect("it is copied");
            named.insert(about.ino(), target);
        }
    }
}
