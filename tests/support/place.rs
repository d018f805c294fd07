//! A folder with a configuration, and the binary to run there.

use std::path::Path;
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

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("it is written");
    }

    /// Returns the binary with arguments, not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = binary::process(binary::path(), self.path());
        command.args(arguments).env("TF_IN_AUTOMATION", "1");
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
