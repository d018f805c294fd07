//! Streams and pipes: an output that is closed, and pipes and devices where files are meant to be.

use std::process::Command;

use pretty_assertions::assert_eq;

use crate::support::binary;
use crate::support::place::Place;

const ONE: &str = "resource \"terraform_data\" \"a\" {\n}\n";

/// Runs a line of the shell, in which `$E` is the program, for ten seconds at most; its output and exit code.
fn shell(place: &Place, line: &str) -> (String, Option<i32>) {
    let mut process = binary::process("timeout", place.path());
    process.args(["10", "/bin/bash", "-c", line]).env("E", binary::path());
    let output = process.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked at"), "{line}: {text}");
    (text, output.status.code())
}

#[test]
fn what_a_closed_output_swallows_is_no_success() {
    let place = Place::new(&format!("{ONE}output \"o\" {{\n  value = 1\n}}\n"));
    place.succeed(&["apply", "-auto-approve"]);
    place.succeed(&["plan", "-out=saved"]);
    for line in [
        "state pull",
        "state list",
        "show -json",
        "show saved",
        "output -json",
        "plan",
        "plan -json",
        "plan -detailed-exitcode",
        "validate",
        "fmt -",
        "graph",
        "version",
        "-help",
        "workspace list",
    ] {
        let (text, code) = shell(&place, &format!("echo 'a=1' | $E {line} >&-"));
        assert_eq!(code, Some(1), "{line}: {text}");
        assert!(line == "-help" || text.contains("Failed to write the output"), "{line}: {text}");
    }
    // What has nothing to say misses nothing, and who wants to hear nothing says so.
    assert_eq!(shell(&place, "$E fmt >&-"), (String::new(), Some(0)));
    assert_eq!(shell(&place, "$E plan >/dev/null 2>&-").1, Some(0));
    assert_eq!(shell(&place, "$E plan 1<>/dev/null").1, Some(0));
    // A closed input is not an empty one.
    assert_eq!(shell(&place, "$E fmt - <&-").1, Some(2));
    let (text, code) = shell(&place, "$E state push - <&-");
    assert!(code == Some(1) && text.contains("closed"), "{text}");
    assert_eq!(shell(&place, "$E plan >&- 2>&- <&-").1, Some(1));
}

/// Makes a pipe, or a device that never ends; `false` where this user may not.
fn strange(place: &Place, name: &str, is_device: bool) -> bool {
    let path = place.path().join(name);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).expect("it is made");
    }
    let mut maker = Command::new(if is_device { "mknod" } else { "mkfifo" });
    maker.arg(path).args(if is_device { &["c", "1", "5"][..] } else { &[] });
    maker.output().is_ok_and(|it| it.status.success())
}

#[test]
fn no_command_waits_for_a_pipe_or_reads_a_device_to_its_end() {
    let cases: &[(&str, &[&str])] = &[
        (
            ".terraform.tfstate.journal",
            &["plan", "apply -auto-approve", "show", "state pull", "state rm terraform_data.a"][..],
        ),
        (".terraform.tfstate.lock.info", &["plan", "force-unlock -force x"]),
        (".terraform.tfstate.whole", &["plan", "taint terraform_data.a"]),
        (".terraform/environment", &["plan", "workspace show", "workspace new x"]),
        (".terraform/modules/modules.json", &["plan", "get", "init"]),
        (".terraform/terraform.tfstate", &["plan", "init"]),
        (".terraform.lock.hcl", &["plan", "init", "version"]),
        ("named", &["show named", "show -json named", "apply named", "why -plan=named x.y"]),
        ("named", &["state push named", "state list -state=named", "workspace new -state=named x"]),
        ("named", &["plan -var-file=named", "plan -target-file=named", "plan -sign=named -out=p"]),
        ("named.tf", &["plan", "fmt", "fmt named.tf", "fmt -check", "get"]),
        ("named.tfstate", &["state mv -state-out=named.tfstate terraform_data.a terraform_data.b"]),
        (
            "mirror/registry.opentofu.org/a/b/terraform-provider-b_1.0.0_linux_amd64.zip",
            &["init -plugin-dir=mirror"],
        ),
    ];
    std::thread::scope(|scope| {
        for (name, lines) in cases {
            scope.spawn(|| lines.iter().for_each(|line| refuses(name, line)));
        }
    });
}

/// Puts a pipe, and then a device that never ends, in the place of a file, and runs a command.
fn refuses(name: &str, line: &str) {
    for is_device in [false, true] {
        let place = Place::new(ONE);
        place.succeed(&["apply", "-auto-approve"]);
        if name.starts_with("mirror") {
            place.write("more.tf", "terraform {\n  required_providers {\n    b = {\n      source = \"a/b\"\n    }\n  }\n}\n");
        }
        if name.ends_with("modules.json") {
            place.write("m.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
        }
        if !strange(&place, name, is_device) {
            continue;
        }
        let state = std::fs::read(place.path().join("terraform.tfstate")).expect("it is read");
        let (text, code) = shell(&place, &format!("ulimit -v 8000000; $E {line}"));
        let what = format!("{name} {is_device}, {line}: {text}");
        assert!(matches!(code, Some(0..=3)), "{code:?} {what}");
        assert!(!text.contains("Out of memory"), "{what}");
        if code != Some(0) {
            let now = std::fs::read(place.path().join("terraform.tfstate")).expect("it is read");
            assert_eq!(now, state, "{what}");
        }
    }
}

#[test]
fn a_pipe_from_another_program_is_read() {
    let place =
        Place::new(&format!("{ONE}variable \"v\" {{\n}}\noutput \"v\" {{\n  value = var.v\n}}\n"));
    let (text, code) =
        shell(&place, "$E apply -auto-approve -var-file=<(sleep 0.3; echo 'v = \"piped\"')");
    assert!(code == Some(0) && text.contains("v = \"piped\""), "{text}");
    let (text, code) = shell(&place, "$E show <(cat terraform.tfstate)");
    assert!(code == Some(0) && text.contains("terraform_data.a"), "{text}");
    assert_eq!(shell(&place, "$E state push <($E state pull)").1, Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn where_nothing_was_begun_no_journal_is_said_to_keep_it() {
    let place = Place::new(ONE);
    place.succeed(&["apply", "-auto-approve"]);
    let (text, code) = place.run(&["refresh", "-lock=false", "-state-out=/proc/none/place"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("No object was made, changed or destroyed, so nothing is lost"),
        "{text}"
    );
    assert!(!text.contains("journal"), "{text}");
    assert_eq!(place.hidden(), [""; 0]);
}

#[test]
fn a_command_with_a_document_writes_it_beside_the_text_for_people() {
    let place = Place::new(&format!("{ONE}output \"o\" {{\n  value = 1\n}}\n"));
    place.succeed(&["apply", "-auto-approve"]);
    place.succeed(&["plan", "-out=saved"]);
    for line in ["validate", "show", "show saved", "output"] {
        let (document, code) = shell(&place, &format!("$E {line} -json"));
        assert_eq!(code, Some(0), "{line}: {document}");
        let (text, _) = shell(&place, &format!("$E {line}"));
        assert_eq!(shell(&place, &format!("$E {line} -json-into=f")), (text, Some(0)), "{line}");
        assert_eq!(place.text("f").trim_end(), document.trim_end(), "{line}");
    }
    // Others write it, or what stands for it, among their messages.
    for line in ["state show terraform_data.a", "workspace list"] {
        let last = |text: &str| {
            let last = text.lines().last().unwrap_or_default();
            let mut last: serde_json::Value = serde_json::from_str(last).expect("JSON");
            last["@timestamp"].take();
            last
        };
        let (messages, code) = shell(&place, &format!("$E {line} -json"));
        assert_eq!(code, Some(0), "{line}: {messages}");
        assert_eq!(shell(&place, &format!("$E {line} -json-into=f")).1, Some(0), "{line}");
        assert_eq!(last(&place.text("f")), last(&messages), "{line}");
    }
}

#[test]
fn what_is_wrong_with_flags_is_a_message_where_messages_are_asked_for() {
    let place = Place::new(ONE);
    for line in [
        "apply -json",
        "apply -json -nosuch",
        "apply -auto-approve -json a b",
        "destroy -json",
        "plan -nosuch -json",
        "plan -json=true -parallelism=x",
        "plan -json -json-into=f",
        "refresh -json -nosuch",
        "state mv -json",
        "workspace list -json -nosuch",
    ] {
        let (text, code) = shell(&place, &format!("$E {line}"));
        assert_eq!(code, Some(1), "{line}: {text}");
        let kinds: Vec<String> = text
            .lines()
            .map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap_or_default())
            .map(|it| it["type"].as_str().unwrap_or("no message").to_owned())
            .collect();
        assert_eq!(kinds, ["version", "diagnostic"], "{line}: {text}");
    }
    for line in ["plan -json=false -nosuch", "validate -json -nosuch", "output -json a b"] {
        let (text, code) = shell(&place, &format!("$E {line}"));
        assert!(code == Some(1) && text.starts_with("\nError: "), "{line}: {text}");
    }
}
