//! Another program puts a state in the place of the locked one while an apply runs: both states are kept, and the exit code is 1.

use std::io::{BufReader, Read};
use std::path::Path;

use crate::interrupt::read_until;
use crate::support::place::Place;

const CONFIG: &str = r#"
resource "terraform_data" "a" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.a]
  count      = var.is_on ? 1 : 0
  provisioner "local-exec" { command = "touch started; while test ! -e go-on; do sleep 0.05; done" }
}
variable "is_on" { default = true }
"#;

/// A way in which another program replaces a file by one with this text.
type Way = fn(&Path, &str);

const WAYS: &[(&str, Way)] = &[
    ("renamed", |at, text| {
        std::fs::write(at.with_file_name("new"), text).expect("it is written");
        std::fs::rename(at.with_file_name("new"), at).expect("it is renamed");
    }),
    ("linked", |at, text| {
        std::fs::write(at.with_file_name("other"), text).expect("it is written");
        std::fs::remove_file(at).expect("it is removed");
        std::os::unix::fs::symlink("other", at).expect("a link");
    }),
    ("written", |at, text| std::fs::write(at, text).expect("it is written")),
    ("cut off", |at, _| std::fs::write(at, "").expect("it is cut")),
    ("removed", |at, _| std::fs::remove_file(at).expect("it is removed")),
];

/// Runs an apply, and replaces the state while its last step runs. Returns what it prints and its exit code.
fn replaced(place: &Place, way: Way, lock: &str) -> (String, Option<i32>) {
    let mut child = place.start(&["apply", "-auto-approve", "-no-color", lock]);
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut text = read_until(&mut reader, "slow[0]: Provisioning");
    let at = place.path().join("terraform.tfstate");
    let theirs = place.text("terraform.tfstate").replace("\"serial\": 1", "\"serial\": 6");
    way(
        &at,
        &theirs.replace(
            "\"outputs\": {}",
            "\"outputs\": {\"new\": {\"value\": \"theirs\", \"type\": \"string\"}}",
        ),
    );
    place.write("go-on", "");
    reader.read_to_string(&mut text).expect("it is read");
    child.stderr.take().expect("it is piped").read_to_string(&mut text).expect("it is read");
    (text, child.wait().expect("it ends").code())
}

#[test]
fn a_state_that_is_put_in_the_place_of_the_locked_one_stays() {
    for (what, way) in WAYS {
        for lock in ["-lock=true", "-lock=false"] {
            let place = Place::new(CONFIG);
            place.succeed(&["apply", "-auto-approve", "-var=is_on=false"]);
            let (text, code) = replaced(&place, *way, lock);
            assert_eq!(code, Some(1), "{what} {lock}: {text}");
            assert!(text.contains("The state was changed by somebody else"), "{what}: {text}");
            let there = place.text("terraform.tfstate");
            match *what {
                "cut off" | "removed" => assert_eq!(there, "", "{what}"),
                _ => assert!(there.contains("theirs"), "{what} {lock}: {there}"),
            }
            let ours = place.succeed(&["state", "list", "-state=errored.tfstate"]);
            assert_eq!(ours, "terraform_data.a\nterraform_data.slow[0]\n", "{what} {lock}");
            assert_eq!(place.hidden(), [""; 0], "{what} {lock}");
        }
    }
}
