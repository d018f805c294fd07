//! Providers behind a socket: the same cases with the same results, and what becomes of a run whose plugin misbehaves.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{binary, check_group_with};

const GROUPS: [&str; 6] = ["plan", "outputs", "data", "order", "actions", "agree"];

/// The environment in which embedded providers are programs of their own.
fn through(version: &str) -> Vec<(String, String)> {
    let cache = binary::plugins().join(format!("cache-{version}"));
    let mut variables = vec![
        ("ENTAIL_EMBEDDED_PLUGINS".to_owned(), binary::plugins().display().to_string()),
        ("ENTAIL_PLUGIN_PROTOCOL".to_owned(), version.to_owned()),
        // What is remembered of the plugins of one case serves the next: digests of large programs are taken once.
        ("ENTAIL_PLUGIN_CACHE".to_owned(), cache.display().to_string()),
    ];
    // Processes answer in any order, unless they are asked one by one.
    for command in ["plan", "apply", "destroy", "refresh"] {
        variables.push((format!("TF_CLI_ARGS_{command}"), "-parallelism=1".to_owned()));
    }
    variables
}

#[test]
fn cases_give_the_same_through_plugins_of_version_5() {
    GROUPS.iter().for_each(|it| check_group_with(it, &through("5"), 0));
}

#[test]
fn cases_give_the_same_through_plugins_of_version_6() {
    GROUPS.iter().for_each(|it| check_group_with(it, &through("6"), 2));
}

/// Three objects: `a`, and what is made from it; and `z`, which another plugin makes.
const CONFIG: &str = r#"
resource "random_integer" "a" {
  min = 1
  max = var.max
}
resource "random_integer" "b" {
  min = random_integer.a.result
  max = 100
}
resource "terraform_data" "z" {
  input = "z"
}
variable "max" {
  default = 9
}
"#;

/// A folder with a configuration.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        std::fs::write(place.0.path().join("main.tf"), CONFIG).expect("it is written");
        place
    }

    fn command(&self, arguments: &[&str], faults: &str) -> Command {
        let mut command = Command::new(binary::path());
        command
            .args(arguments)
            .arg("-no-color")
            .current_dir(self.0.path())
            .envs(through("6"))
            .env("HOME", self.0.path())
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .env("ENTAIL_PLUGIN_CACHE", "off")
            .env("ENTAIL_PLUGIN_FAULTS", faults)
            .stdin(Stdio::null());
        command
    }

    /// Runs a command whose plugins describe identities.
    fn identified(&self, arguments: &[&str], faults: &str) -> Output {
        let mut command = self.command(arguments, faults);
        command.env("ENTAIL_PLUGIN_IDENTITIES", "1").output().expect("the binary runs")
    }

    fn run(&self, arguments: &[&str], faults: &str) -> (String, Option<i32>) {
        told(self.command(arguments, faults).output().expect("the binary runs"))
    }

    /// Plans with a plugin that does something wrong.
    fn plan(&self, faults: &str) -> String {
        let (text, code) = self.run(&["plan"], faults);
        assert_eq!(code, Some(1), "{text}");
        text
    }

    /// Applies with a plugin that does something wrong, and returns what was said and what is in the state then.
    fn apply(&self, faults: &str) -> (String, String) {
        let (text, code) = self.run(&["apply", "-auto-approve"], faults);
        assert_eq!(code, Some(1), "{text}");
        (text, self.state())
    }

    fn state(&self) -> String {
        let text = std::fs::read_to_string(self.0.path().join("terraform.tfstate"));
        let state: serde_json::Value =
            serde_json::from_str(&text.unwrap_or("{}".into())).expect("a state");
        let resources = state["resources"].as_array().cloned().unwrap_or_default();
        let name = |it: &serde_json::Value| {
            let tainted = it["instances"][0]["status"].as_str().map(|it| format!(" {it}"));
            format!("{}{}", it["name"].as_str().unwrap_or_default(), tainted.unwrap_or_default())
        };
        resources.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn nothing_is_left_running(&self) {
        let mine = self.0.path().display().to_string();
        let deadline = Instant::now() + Duration::from_secs(5);
        while children(&mine) > 0 {
            assert!(Instant::now() < deadline, "a plugin runs on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// How many plugins run whose home is this folder.
fn children(home: &str) -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let is_mine = |it: &Path| {
        let environment = std::fs::read(it.join("environ")).unwrap_or_default();
        let command = std::fs::read(it.join("cmdline")).unwrap_or_default();
        let holds =
            |text: &[u8], part: &str| text.windows(part.len()).any(|it| it == part.as_bytes());
        holds(&environment, &format!("HOME={home}\0")) && holds(&command, "terraform-provider-")
    };
    processes.filter_map(Result::ok).filter(|it| is_mine(&it.path())).count()
}

fn has(text: &str, parts: &[&str]) {
    let plain = text.replace("\n│ ", " ").replace('\n', " ");
    for part in parts {
        assert!(plain.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn a_crash_while_planning_is_told_with_the_last_lines_and_the_rest_is_planned() {
    let place = Place::new();
    let text = place.plan("plan=crash-before");
    has(
        &text,
        &[
            "Error: Plugin did not respond",
            "failed to respond to the PlanResourceChange call",
            "panic: runtime error: index out of range",
            "terraform_data.z",
        ],
    );
    place.nothing_is_left_running();
}

#[test]
fn a_crash_before_a_change_leaves_what_was_done_and_nothing_else() {
    let place = Place::new();
    let (text, state) = place.apply("apply@2=crash-before");
    has(&text, &["Error: Plugin did not respond", "ApplyResourceChange"]);
    assert_eq!(state, "a, z");
    let (text, code) = place.run(&["apply", "-auto-approve"], "");
    assert_eq!((code, place.state()), (Some(0), "a, b, z".into()), "{text}");
    place.nothing_is_left_running();
}

#[test]
fn a_crash_after_a_change_tells_that_nothing_is_known_of_it() {
    let place = Place::new();
    let (text, state) = place.apply("apply=crash-after");
    has(&text, &["Error: Plugin did not respond"]);
    assert_eq!(state, "z");
}

/// Plans with a file in the place of a plugin, and returns what is said.
fn plan_with(place: &Place, content: &[u8], mode: u32) -> String {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("terraform-provider-random");
    std::fs::write(&program, content).expect("it is written");
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&program, permissions).expect("it has a mode");
    let output = place
        .command(&["plan"], "")
        .env("ENTAIL_EMBEDDED_PLUGINS", folder.path())
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let program = program.display().to_string();
    has(
        &text,
        &["Error: Failed to load plugin schemas", "hashicorp/random", "run \"entail init\""],
    );
    assert!(text.contains(&program), "the file {program} is not named in:\n{text}");
    text
}

#[test]
fn a_plugin_that_cannot_be_started_is_named_with_the_reason_and_a_way_out() {
    let place = Place::new();
    for (text, expected) in [
        ("#!/bin/sh\necho hello\n", "its first line is \"hello\""),
        ("#!/bin/sh\nexit 0\n", "ended before it said where it listens (exit status: 0)"),
        ("#!/bin/sh\necho out of cheese >&2\nexit 3\n", "(exit status: 3). It said: out of cheese"),
        ("#!/bin/sh\necho '1|4|unix|/x|grpc'\n", "speaks version 4 of the provider protocol"),
        ("#!/bin/sh\necho '2|6|unix|/x|grpc'\n", "speaks version 2 of the handshake"),
        ("#!/bin/sh\necho '1|5|unix|/x|netrpc'\n", "speaks \"netrpc\""),
        ("#!/no/such/interpreter\n", "the interpreter or a library that it needs is not"),
        ("no program", "is not a program"),
        ("MZ and so on", "is a program for windows"),
        ("", "is empty"),
    ] {
        has(&plan_with(&place, text.as_bytes(), 0o755), &[expected]);
    }
    has(&plan_with(&place, b"#!/bin/sh\n", 0o644), &["its permissions do not allow it"]);
}

#[test]
fn what_a_program_that_is_no_plugin_has_started_ends_with_it() {
    let place = Place::new();
    // The name is one by which the test finds the process.
    let sleeper = "(exec -a terraform-provider-sleeper sleep 100)";
    for line in ["1|4|unix|/x|grpc", "1|6|unix|/no/such/socket|grpc"] {
        let script = format!("#!/bin/bash\necho '{line}'\n{sleeper}\n");
        plan_with(&place, script.as_bytes(), 0o755);
        place.nothing_is_left_running();
    }
}

#[test]
fn values_that_break_the_protocol_are_refused() {
    let place = Place::new();
    for (fault, expected) in [
        ("plan=garbage", "there is a byte that msgpack does not know"),
        ("plan=wrong-type", "an object is required"),
        ("plan=status", "Error: Plugin error"),
        ("plan=null", "Error: Provider produced invalid plan"),
        ("validate_resource=problem", "Error: Failed as told"),
        ("configure=problem", "Error: Failed as told"),
        ("schema=status", "Error: Failed to load plugin schemas"),
    ] {
        has(&place.plan(fault), &[expected]);
    }
    place.nothing_is_left_running();
}

/// Returns what a run said, and its exit code.
#[track_caller]
fn told(output: Output) -> (String, Option<i32>) {
    let text = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
    let text = text.concat();
    assert!(!text.contains("panicked at"), "{text}");
    (text, output.status.code())
}

/// Applies a configuration whose objects have identities, alters the state, and plans with faults; returns what is said.
fn plan_of_altered_state(alter: (&str, &str), faults: &str) -> String {
    let place = Place::new();
    let run = |arguments: &[&str], faults: &str| told(place.identified(arguments, faults));
    let (text, code) = run(&["apply", "-auto-approve"], "");
    assert_eq!(code, Some(0), "{text}");
    let path = place.0.path().join("terraform.tfstate");
    let made = std::fs::read_to_string(&path).expect("a state");
    let altered = made.replacen(alter.0, alter.1, 1);
    assert_eq!(altered == made, alter.0 == alter.1, "{made}");
    std::fs::write(&path, &altered).expect("it is written");
    for arguments in [&["plan"][..], &["apply", "-auto-approve"]] {
        let (text, code) = run(arguments, faults);
        assert_eq!(code, Some(1), "{text}");
        assert_eq!(std::fs::read_to_string(&path).expect("a state"), altered, "{text}");
    }
    place.nothing_is_left_running();
    run(&["plan"], faults).0
}

#[test]
fn a_state_that_does_not_fit_the_schema_is_refused_and_left_as_it_is() {
    let kept = ("", "");
    for (alter, faults, expected) in [
        (
            ("\"schema_version\": 0", "\"schema_version\": 99"),
            "",
            "Error: Resource instance managed by newer provider version",
        ),
        (
            ("\"identity_schema_version\": 0", "\"identity_schema_version\": 7"),
            "",
            "Error: Resource identity managed by newer provider version",
        ),
        (
            ("\"max\": 9", "\"max\": \"many\""),
            "",
            "Error: Unable to Read Previously Saved State for UpgradeResourceState",
        ),
        (kept, "upgrade=problem", "Error: Failed as told"),
        (kept, "upgrade=crash-before", "respond to the UpgradeResourceState call"),
        (kept, "upgrade=wrong-type", "an object is required"),
        (kept, "upgrade=unknown", "Error: Provider produced invalid object"),
        (kept, "read=unknown", "Error: Provider produced invalid object"),
        (kept, "read=crash-before", "respond to the ReadResource call"),
    ] {
        has(&plan_of_altered_state(alter, faults), &[expected, "with random_integer.a"]);
    }
}

#[test]
fn a_message_that_is_too_large_is_refused_and_not_read() {
    let place = Place::new();
    has(&place.plan("plan=oversized"), &["Error: Plugin error", "PlanResourceChange"]);
}

#[test]
fn results_that_are_not_what_was_planned_are_told_and_kept_where_there_are_any() {
    for (fault, expected, kept) in [
        (
            "apply=unknown",
            "Error: Provider returned invalid result object after apply",
            "a tainted, z",
        ),
        ("apply=null", "Error: Provider produced inconsistent result after apply", "a tainted, z"),
        ("apply=garbage", "there is a byte that msgpack does not know", "a tainted, z"),
        ("apply=wrong-type", "an object is required", "a tainted, z"),
        ("apply=oversized", "Warning: Object may exist", "a tainted, z"),
        ("apply=absent", "Warning: Object may exist", "a tainted, z"),
        ("apply=status", "Error: Plugin error", "z"),
        ("apply=problem", "Error: Failed as told", "a tainted, z"),
    ] {
        let place = Place::new();
        let (text, state) = place.apply(fault);
        has(&text, &[expected]);
        assert_eq!(state, kept, "{fault}\n{text}");
    }
}

#[test]
fn slow_calls_are_waited_for() {
    let place = Place::new();
    let (text, code) = place.run(&["apply", "-auto-approve"], "apply=slow:300,plan=slow:100");
    assert_eq!((code, place.state()), (Some(0), "a, b, z".into()), "{text}");
}

#[test]
fn a_plugin_that_hangs_dies_with_the_program() {
    let place = Place::new();
    let mut child = place
        .command(&["plan"], "plan=hang")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let deadline = Instant::now() + Duration::from_secs(30);
    let home = place.0.path().display().to_string();
    while children(&home) == 0 {
        assert!(Instant::now() < deadline, "no plugin was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    if cfg!(target_os = "linux") {
        place.nothing_is_left_running();
    }
}

#[test]
fn an_object_is_imported_by_what_identifies_it() {
    let place = Place::new();
    let write =
        |text: &str| std::fs::write(place.0.path().join("main.tf"), text).expect("it is written");
    let run = |arguments: &[&str]| told(place.identified(arguments, ""));
    let uuid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
    let block = "resource \"random_uuid\" \"a\" {\n}\n";
    let import = |arguments: &str| {
        format!(
            "{block}import {{\n  to       = random_uuid.a\n  identity = {{ {arguments} }}\n}}\n"
        )
    };
    write(&import("name = 1"));
    let (text, code) = run(&["plan"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Invalid expression value: attribute \"id\" is required."), "{text}");

    write(&import(&format!("id = {uuid:?}")));
    let (text, code) = run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(0), "{text}");
    let shown =
        format!("  # imported using resource identity: {{\n  #   \"id\": {uuid:?}\n  # }}\n");
    assert!(text.contains(&shown), "{text}");
    assert!(text.contains(&format!("random_uuid.a: Importing... [id={uuid}]")), "{text}");
    let (text, _) = run(&["show", "-json"]);
    assert!(
        text.contains(&format!("\"identity\":{{\"id\":{uuid:?}}},\"identity_schema_version\":0")),
        "{text}"
    );

    write(&import(&format!("id = {uuid:?}")).replace(block, ""));
    std::fs::remove_file(place.0.path().join("terraform.tfstate")).expect("it is removed");
    let (text, code) = run(&["plan", "-out=saved", "-generate-config-out=made.tf"]);
    assert_eq!(code, Some(0), "{text}");
    let made = std::fs::read_to_string(place.0.path().join("made.tf")).expect("it is written");
    assert!(made.contains("resource \"random_uuid\" \"a\""), "{made}");
    let (text, _) = run(&["show", "-json", "saved"]);
    assert!(
        text.contains(&format!("\"importing\":{{\"identity\":{{\"id\":{uuid:?}}}}}")),
        "{text}"
    );
}

#[test]
fn an_object_that_has_gone_is_told_by_what_identified_it() {
    let place = Place::new();
    let config = "resource \"local_file\" \"it\" {\n  filename = \"made\"\n  content  = \"x\"\n}\n";
    std::fs::write(place.0.path().join("main.tf"), config).expect("it is written");
    let run = |arguments: &[&str]| {
        let output = place.identified(arguments, "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["apply", "-auto-approve"]);
    std::fs::remove_file(place.0.path().join("made")).expect("it is removed");
    run(&["plan", "-out=saved"]);
    let shown: serde_json::Value =
        serde_json::from_str(&run(&["show", "-json", "saved"])).expect("JSON");
    let drift = &shown["resource_drift"][0]["change"];
    let change = &shown["resource_changes"][0]["change"];
    assert!(drift["before_identity"]["id"].is_string(), "{drift}");
    assert!(drift["after_identity"].is_null(), "{drift}");
    assert!(change["before_identity"].is_null(), "{change}");
}

#[test]
fn a_plugin_that_somebody_has_started_is_used_and_left_running() {
    use std::io::BufRead;
    let place = Place::new();
    let mut plugin = Command::new(binary::plugins().join("terraform-provider-random"))
        .arg("-debug")
        .env("ENTAIL_PLUGIN_PROTOCOL", "6")
        .env("HOME", place.0.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = plugin.stdout.take().expect("it says something");
    let line = std::io::BufReader::new(output).lines().next().expect("a line").expect("text");
    let running = line.strip_prefix("TF_REATTACH_PROVIDERS='").and_then(|it| it.strip_suffix('\''));
    let running = running.expect("what the variable is to be set to");
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["destroy", "-auto-approve"]] {
        let mut command = place.command(arguments, "");
        let output = command.env("TF_REATTACH_PROVIDERS", running).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(plugin.try_wait().expect("its state").is_none(), "the plugin has ended");
    }
    plugin.kill().expect("it is ended");
    plugin.wait().expect("it is gone");
    let mut command = place.command(&["plan"], "");
    let output = command.env("TF_REATTACH_PROVIDERS", running).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    has(&text, &["cannot be connected to", "set TF_REATTACH_PROVIDERS to what it prints then"]);
}

#[test]
fn functions_of_a_required_provider_are_called_in_the_console_though_nothing_else_uses_it() {
    use std::io::Write;
    let place = Place::new();
    let config =
        "terraform {\n  required_providers {\n    time = { source = \"hashicorp/time\" }\n  }\n}\n";
    std::fs::write(place.0.path().join("main.tf"), config).expect("it is written");
    let mut command = place.command(&["console"], "");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut console = piped.spawn().expect("it runs");
    let line = "provider::time::rfc3339_parse(\"2024-01-02T03:04:05Z\").year\n";
    let mut input = console.stdin.take().expect("an input");
    input.write_all(line.as_bytes()).expect("it listens");
    drop(input);
    let output = console.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), "2024", "{}", String::from_utf8_lossy(&output.stderr));
}
