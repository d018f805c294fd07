//! Few threads, descriptors, little stack and memory: an error each, or success; no panic, no abort, no hang, and nothing lost.

use std::io::Write;
use std::process::Output;

use crate::support::binary;
use crate::support::place::Place;

const CONFIG: &str =
    "resource \"terraform_data\" \"a\" {\n  count = 5\n}\nresource \"null_resource\" \"n\" {\n}\n";

/// Runs commands under a limit, as a user whom it binds; `None` where this test may not become one.
fn limited(place: &Place, limit: &str, command: &str) -> Option<Output> {
    let line = format!("{limit}; exec timeout 60 \"$E\" {command}");
    let mut process = match is_root() {
        false => binary::process("sh", place.path()),
        true if limit.contains("-u") => {
            let mut other = binary::process("setpriv", place.path());
            other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
            other
        }
        true => binary::process("sh", place.path()),
    };
    process.args(["-c", &line]).env("E", binary::path()).env("HOME", place.path());
    let output = process.env("TF_CLI_CONFIG_FILE", place.path().join("settings")).output().ok()?;
    // The tools, or the way to the program, may be closed to that user.
    let said = String::from_utf8_lossy(&output.stderr);
    let is_ours = !["setpriv:", "Permission denied", "Cannot fork", "cannot fork"]
        .iter()
        .any(|it| said.starts_with(it) || said.contains(&format!("sh: {it}")));
    (is_ours && output.status.code() != Some(126)).then_some(output)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn is_tight(limit: &str) -> bool {
    limit.contains("-u")
}

#[test]
#[cfg(target_os = "linux")]
fn whatever_the_system_refuses_is_an_error() {
    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/null\" = {:?}\n  }}\n  direct {{}}\n}}\n",
        binary::plugins()
    );
    let place = Place::new(CONFIG);
    place.write("settings", &settings);
    std::fs::create_dir(place.path().join("states")).expect("it is made");
    let open = std::os::unix::fs::PermissionsExt::from_mode;
    for name in [".", "states"] {
        std::fs::set_permissions(place.path().join(name), open(0o777)).expect("it is set");
    }
    let (mut refused, mut carried, mut tight) = (0, 0, 0);
    for limit in [
        "ulimit -u 2",
        "ulimit -u 4",
        "ulimit -u 8",
        "ulimit -u 14",
        "ulimit -u 17",
        "ulimit -u 24",
        "ulimit -n 4",
        "ulimit -n 5",
        "ulimit -n 6",
        "ulimit -n 7",
        "ulimit -n 8",
        "ulimit -n 10",
        "ulimit -n 13",
        "ulimit -n 15",
        "ulimit -n 17",
        "ulimit -n 24",
        "ulimit -n 40",
        "ulimit -s 64",
        "ulimit -s 128",
        "ulimit -v 300000",
        "ulimit -v 900000",
        "ulimit -v 2000000",
        "ulimit -v 3000000",
        "ulimit -f 0",
    ] {
        let state = format!("states/{}", limit.replace(' ', ""));
        for command in [
            "plan".to_owned(),
            "validate".to_owned(),
            format!("apply -auto-approve -state={state}"),
            format!("show -json {state}"),
            format!("state rm -state={state} 'terraform_data.a[0]'"),
        ] {
            let Some(output) = limited(&place, limit, &command) else { continue };
            let said = String::from_utf8_lossy(&output.stderr);
            let what = format!("{limit}; {command}: {:?} {said}", output.status);
            assert!(!said.contains("panicked at"), "{what}");
            // Nothing else than the shell's or the loader's own words where not even the program could start.
            let is_started = output.status.code() != Some(127) && output.status.code() != Some(2);
            assert!(!is_started || matches!(output.status.code(), Some(0 | 1)), "{what}");
            match output.status.code() {
                Some(0) => carried += 1,
                _ => refused += 1,
            }
            tight += usize::from(is_tight(limit));
        }
    }
    if tight == 0 {
        let skipped =
            b"skipped: no other user may run the program here; limits of threads were not tried\n";
        std::io::stderr().write_all(skipped).expect("it is said");
    }
    assert!(refused > 20 && carried > 5, "{refused} refused, {carried} carried out");
}
