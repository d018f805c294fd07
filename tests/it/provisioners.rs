//! Provisioners that are plugins: found, asked, run, interrupted and ended.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

use crate::interrupt::interrupted;
use crate::support::binary;
use crate::support::place::Place;

/// A folder with a configuration and the plugin of the provisioner `shell`, in the folder for plugins of this platform.
fn place(config: &str) -> Place {
    let place = Place::new(config);
    // Finished plugins leave nothing in the user's folder.
    place.write("home/temporary/.keep", "");
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    install(&place, &format!("terraform.d/plugins/{system}_{architecture}"), "shell");
    place
}

/// Puts the plugin of a provisioner into a folder.
fn install(place: &Place, folder: &str, name: &str) {
    let folder = place.path().join(folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let link = folder.join(format!("terraform-provisioner-{name}"));
    std::os::unix::fs::symlink(binary::program_for_plugins(), link).expect("a link");
}

/// A resource with one provisioner of these arguments.
fn resource(arguments: &str) -> String {
    format!(
        "resource \"terraform_data\" \"a\" {{\n  input = \"x\"\n  provisioner \"shell\" {{\n    {arguments}\n  }}\n}}\n"
    )
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[track_caller]
fn nothing_is_left_running(place: &Place) {
    let home = format!("HOME={}\0", place.path().join("home").display());
    let runs = || {
        std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|it| {
            let environment = std::fs::read(it.path().join("environ")).unwrap_or_default();
            let command = std::fs::read(it.path().join("cmdline")).unwrap_or_default();
            let holds = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|it| it == part);
            holds(&environment, home.as_bytes()) && holds(&command, b"terraform-provisioner-")
        })
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while runs() {
        assert!(Instant::now() < deadline, "a plugin runs on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_plugin_runs_when_an_object_is_created_and_before_it_is_destroyed() {
    let place = place(
        r#"
resource "terraform_data" "a" {
  for_each = { k = "v" }
  input    = each.value
  connection {
    host = "there"
    port = 2222
  }
  provisioner "shell" {
    command     = "echo out; echo err >&2; echo $WORD $CONNECTION_host $CONNECTION_port $CONNECTION_user."
    environment = { WORD = "${each.key}-${self.output}" }
    connection {
      host = "here"
    }
  }
  provisioner "shell" {
    when    = destroy
    command = "echo gone ${self.output}"
  }
}
"#,
    );
    place.succeed(&["validate"]);
    let text = place.succeed(&["apply", "-auto-approve"]);
    has(
        &text,
        &[
            "terraform_data.a[\"k\"]: Provisioning with 'shell'...",
            "terraform_data.a[\"k\"] (shell): out\n",
            "terraform_data.a[\"k\"] (shell): err\n",
            "terraform_data.a[\"k\"] (shell): k-v here 2222 .\n",
        ],
    );
    let text = place.succeed(&["destroy", "-auto-approve"]);
    has(&text, &["terraform_data.a[\"k\"] (shell): gone v\n"]);
    nothing_is_left_running(&place);
}

#[test]
fn a_saved_plan_is_applied_with_the_plugin_or_not_at_all() {
    let place = place(&resource("command = \"echo ${self.input}\""));
    place.succeed(&["plan", "-out=saved"]);
    std::fs::rename(place.path().join("terraform.d"), place.path().join("away")).expect("it goes");
    let (text, code) = place.run(&["apply", "saved"]);
    assert_eq!(code, Some(1), "{text}");
    has(&text, &["Missing required provisioner plugin", "terraform-provisioner-shell"]);
    assert_eq!(place.text("terraform.tfstate"), "");
    std::fs::rename(place.path().join("away"), place.path().join("terraform.d")).expect("it comes");
    has(&place.succeed(&["apply", "saved"]), &["(shell): x\n"]);
}

#[test]
fn arguments_are_judged_by_the_schema_and_by_the_plugin() {
    for (arguments, parts) in [
        ("", ["Missing required argument", "command"]),
        ("command = \"true\"\n    other = 1", ["Unsupported argument", "other"]),
        ("command = [1]", ["Incorrect attribute value type", "string required"]),
        ("command = \"refused\"", ["Invalid command", "line 4"]),
        ("command = terraform_data.nosuch.id", ["Reference to undeclared resource", "nosuch"]),
    ] {
        let place = place(&resource(arguments));
        for command in ["validate", "plan"] {
            let (text, code) = place.run(&[command]);
            assert_eq!(code, Some(1), "{command}: {text}");
            has(&text, &parts);
            assert_eq!(text.matches("Error: ").count(), 1, "{command}: {text}");
        }
    }
}

#[test]
fn a_failure_taints_unless_it_may_be_ignored_and_warnings_are_shown() {
    let failing = place(&resource("command = \"echo before; exit 3\""));
    let (text, code) = failing.run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(1), "{text}");
    has(&text, &["(shell): before\n", "Error: shell provisioner error", "exit status: 3"]);
    has(&failing.text("terraform.tfstate"), &["\"tainted\""]);
    nothing_is_left_running(&failing);

    let ignored = place(&resource("command = \"exit 3\"\n    on_failure = continue"));
    let text = ignored.succeed(&["apply", "-auto-approve"]);
    assert!(!text.contains("provisioner error"), "{text}");

    let warning = place(&resource("command = \"warn() { true; }; warn\""));
    let text = warning.succeed(&["apply", "-auto-approve"]);
    has(&text, &["Warning: Shell warning", "The command warns."]);
}

#[test]
fn the_output_is_hidden_if_an_argument_is_sensitive() {
    let place = place(&resource("command = \"echo ${sensitive(\"hidden-word\")}\""));
    let text = place.succeed(&["apply", "-auto-approve"]);
    has(&text, &["(shell): (output suppressed due to sensitive value in config)"]);
    assert!(!text.contains("hidden-word"), "{text}");
}

#[test]
fn an_interrupt_stops_what_a_plugin_does() {
    let place = place(&resource("command = \"echo begun; exec sleep 60\""));
    let started = Instant::now();
    let signals = [("(shell): begun", "INT")];
    let (text, code) = interrupted(&place, &["apply", "-auto-approve"], &signals);
    assert_eq!(code, Some(1), "{text}");
    assert!(started.elapsed() < Duration::from_secs(20), "{text}");
    has(&text, &["stopped on request"]);
    has(&place.text("terraform.tfstate"), &["\"tainted\""]);
    nothing_is_left_running(&place);
}

#[test]
fn a_plugin_takes_the_place_of_a_built_in_provisioner() {
    let config = resource("command = \"warn() { true; }; warn\"").replace("shell", "local-exec");
    let place = place(&config);
    let text = place.succeed(&["apply", "-auto-approve"]);
    assert!(!text.contains("Shell warning"), "{text}");
    install(&place, ".", "local-exec");
    has(
        &place.succeed(&["apply", "-auto-approve", "-replace=terraform_data.a"]),
        &["Shell warning"],
    );
}

#[test]
fn folders_of_init_take_the_place_of_the_usual_ones() {
    let place = place(&resource("command = \"true\""));
    place.write("mine/.keep", "");
    place.succeed(&["init", "-plugin-dir=mine"]);
    let (text, code) = place.run(&["validate"]);
    assert_eq!(code, Some(1), "{text}");
    has(&text, &["put the executable file terraform-provisioner-shell into mine"]);
    install(&place, "mine", "shell");
    place.succeed(&["validate"]);
}

#[test]
fn a_file_that_is_no_plugin_is_an_error_that_names_it() {
    let place = place(&resource("command = \"true\""));
    let write = |text: &str, mode: u32| {
        place.write("terraform-provisioner-shell", text);
        let permissions = std::fs::Permissions::from_mode(mode);
        let path = place.path().join("terraform-provisioner-shell");
        std::fs::set_permissions(path, permissions).expect("it is made executable");
        let (text, code) = place.run(&["plan"]);
        assert_eq!(code, Some(1), "{text}");
        assert_eq!(text.matches("Error: ").count(), 1, "{text}");
        text.replace("\n│ ", " ").replace('\n', " ")
    };
    let begin = "Could not load the schema for provisioner \"shell\": terraform-provisioner-shell";
    let text = write("#!/bin/sh\necho '1|6|unix|/nowhere|grpc|'\nexec sleep 60\n", 0o755);
    has(&text, &["Failed to obtain provisioner schema", begin]);
    has(&text, &["speaks version 6 of the provisioner protocol, and only 5 is known."]);
    has(&write("#!/bin/sh\nexit 1\n", 0o755), &[begin, "ended before it said where it listens"]);
    has(&write("#!/bin/sh\nexit 1\n", 0o644), &[begin, "is not executable"]);
}
