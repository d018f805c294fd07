//! What a run leaves in its log, what is said of it where it fails, and what a log that is broken does to a run.

use crate::support::place::Place;

const CONFIG: &str = r#"
variable "pw" {
  sensitive = true
}
variable "tag" {
  default = "a"
}
resource "terraform_data" "a" {
  input = "${var.tag}-${var.pw}"
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
  provisioner "local-exec" {
    command = "test -e mended"
  }
}
resource "terraform_data" "c" {
  count = 2
  input = terraform_data.b.id
}
"#;

const APPLY: [&str; 6] = ["apply", "-auto-approve", "-var", "pw=hunter2", "-var", "tag=x"];

#[test]
fn a_run_leaves_what_it_did_and_no_secret() {
    let place = Place::new(CONFIG);
    let (text, code) = place.run(&APPLY);
    assert_eq!(code, Some(1), "{text}");
    for wanted in [
        "Not everything was done: 1 done, 1 failed, 2 not attempted.",
        "create  terraform_data.b     failed after",
        ": local-exec provisioner error",
        "create  terraform_data.c[1]  not attempted, because of terraform_data.b",
        "entail apply -auto-approve -var 'pw=(sensitive)' -var tag=x",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let log = place.text("terraform.tfstate.log");
    assert_eq!((log.lines().count(), log.contains("hunter2")), (1, false), "{log}");

    place.write("mended", "");
    let text = place.succeed(&APPLY);
    assert!(!text.contains("Not everything"), "{text}");
    // What does nothing leaves nothing.
    place.succeed(&APPLY);
    assert_eq!(place.text("terraform.tfstate.log").lines().count(), 2);
    place.succeed(&["destroy", "-auto-approve", "-var=pw=hunter2"]);
    let listed = place.succeed(&["log"]);
    let outcomes: Vec<&str> =
        listed.lines().filter_map(|it| it.split("  ").nth(3)).filter(|it| !it.is_empty()).collect();
    assert_eq!(outcomes, ["complete", "complete", "failed"], "{listed}");
    assert!(listed.contains("destroy -auto-approve '-var=pw=(sensitive)'"), "{listed}");
    let one = place.succeed(&["log", "-last"]);
    assert!(one.contains("delete  terraform_data.c[0]  done in"), "{one}");
    let history = place.succeed(&["log", "terraform_data.b"]);
    let actions: Vec<&str> = history.lines().filter_map(|it| it.split("  ").nth(4)).collect();
    assert_eq!(actions.len(), 4, "{history}");
    let drawn = place.succeed(&["log", "-last", "-timeline"]);
    assert!(drawn.contains("* The critical path: 3 of 4 steps"), "{drawn}");
    for arguments in [&["log", "-json"][..], &["log", "-last", "-json"]] {
        let text = place.succeed(arguments);
        assert!(text.contains("\"not attempted\"") != arguments.contains(&"-last"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn the_critical_path_counts_turns_in_a_group() {
    let place = Place::new(
        r#"
resource "terraform_data" "c" {
  count = 3
  provisioner "local-exec" {
    command = "sleep 0.1"
  }
}
"#,
    );
    let alone =
        "// @rule one.only: `n` runs alone\none_at_a_time(n, \"slow\") <-- resource(n, _);\n";
    place.write("policies/one.rules", alone);
    place.succeed(&["apply", "-auto-approve"]);
    let drawn = place.succeed(&["log", "-last", "-timeline"]);
    assert!(drawn.contains("* The critical path: 3 of 3 steps"), "{drawn}");
}

#[test]
fn a_broken_log_ends_no_run() {
    let place = Place::new("resource \"terraform_data\" \"a\" {\n}\n");
    // A folder has its name.
    std::fs::create_dir(place.path().join("terraform.tfstate.log")).expect("it is made");
    let text = place.succeed(&["apply", "-auto-approve"]);
    assert!(text.contains("Warning: Run not logged"), "{text}");
    let (text, code) = place.run(&["log"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Failed to read the log"), "{text}");
    std::fs::remove_dir(place.path().join("terraform.tfstate.log")).expect("it is removed");
    let (text, code) = place.run(&["log", "-last"]);
    assert_eq!((code, text.contains("No runs in the log")), (Some(1), true), "{text}");

    // One that was killed while it wrote has left half a line.
    place.write("terraform.tfstate.log", "{\"entail_log\":1,\"id\":\"ab");
    place.succeed(&["destroy", "-auto-approve"]);
    let text = place.succeed(&["log"]);
    assert!(text.contains("1 line of the log") && text.contains("1 destroyed"), "{text}");
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let place = Place::new("");
    for (arguments, wanted) in [
        (&["log", "-last", "ab"][..], "-last names the run already"),
        (&["log", "-timeline"], "-timeline draws one run"),
        (&["log", "ab", "cd"], "at most one run or address"),
        (&["log", "ab"], "No such run"),
        (&["log", "terraform_data.a"], "No such object in the log"),
    ] {
        let (text, code) = place.run(arguments);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(place.succeed(&["log"]).contains("No run has changed this state"));
}
