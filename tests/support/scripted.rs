//! A folder whose provider is a plugin that tells how it is called.

use std::path::Path;
use std::process::{Command, Stdio};

use super::binary;

/// A folder with a configuration, and what the plugin was asked there.
pub struct Place(tempfile::TempDir);

pub const HEAD: &str = r#"
terraform {
  required_providers {
    scripted = { source = "example.com/test/scripted" }
  }
}
"#;

/// The name of the program in its package.
pub const PROGRAM: &str = "terraform-provider-scripted_v1.0.0";

impl Place {
    pub fn new(config: &str) -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        place.write("main.tf", &format!("{HEAD}{config}"));
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"example.com/test/scripted\" = {:?}\n  }}\n}}\n",
            binary::plugins().display().to_string()
        );
        place.write("cli.tfrc", &overrides);
        place
    }

    /// Writes another configuration.
    pub fn rewrite(&self, config: &str) {
        self.write("main.tf", &format!("{HEAD}{config}"));
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        std::fs::write(path, text).expect("it is written");
    }

    /// A folder whose plugin is installed from a mirror and locked. It is a script that starts the real one.
    pub fn installed(config: &str) -> Place {
        Place::installed_with(config, "")
    }

    /// The same; the script does something before.
    pub fn installed_with(config: &str, first: &str) -> Place {
        let place = Place::new(config);
        let package = format!(
            "mirror/example.com/test/scripted/1.0.0/{}",
            entail::install::Platform::current()
        );
        let plugin = binary::plugins().join("terraform-provider-scripted");
        place.write(
            &format!("{package}/{PROGRAM}"),
            &format!("#!/bin/sh\n{first}\nexec {}\n", plugin.display()),
        );
        use std::os::unix::fs::PermissionsExt;
        let permissions = std::fs::Permissions::from_mode(0o755);
        let program = place.path().join(&package).join(PROGRAM);
        std::fs::set_permissions(program, permissions).expect("it is executable");
        let mirror = place.path().join("mirror").display().to_string();
        place.write(
            "cli.tfrc",
            &format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"),
        );
        place.calls(&["init"], "");
        place
    }

    pub fn command(&self, arguments: &[&str], faults: &str) -> Command {
        let mut command = Command::new(binary::path());
        command
            .args(arguments)
            .arg("-no-color")
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("TF_CLI_CONFIG_FILE", self.path().join("cli.tfrc"))
            .env("ENTAIL_PLUGIN_CALLS", self.path().join("calls"))
            .env("ENTAIL_PLUGIN_FAULTS", faults)
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary, and returns what the plugin was asked meanwhile.
    pub fn calls(&self, arguments: &[&str], faults: &str) -> Vec<String> {
        let (text, success, calls) = self.run(arguments, faults);
        assert!(success, "{text}");
        calls
    }

    /// Runs the binary; returns what it said, whether that was success, and what the plugin was asked.
    pub fn run(&self, arguments: &[&str], faults: &str) -> (String, bool, Vec<String>) {
        let file = self.path().join("calls");
        let _ = std::fs::remove_file(&file);
        let output = self.command(arguments, faults).output().expect("the binary runs");
        let text = [&output.stdout[..], &output.stderr].concat();
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let calls = calls.lines().map(str::to_owned).collect();
        (String::from_utf8_lossy(&text).into_owned(), output.status.success(), calls)
    }

    pub fn apply(&self, faults: &str) -> Vec<String> {
        self.calls(&["apply", "-auto-approve"], faults)
    }
}

/// Where a line stands.
#[track_caller]
pub fn at(calls: &[String], line: &str) -> usize {
    let found = calls.iter().position(|it| it == line);
    found.unwrap_or_else(|| panic!("{line:?} is not among\n{}", calls.join("\n")))
}
