//! Several programs on one state, some of them killed: what any of them has reported is kept, and the state is a state.
//!
//! `ENTAIL_KILLS` says how many rounds there are; where `ENTAIL_TOFU` names the real OpenTofu, it takes part.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::binary;
use crate::support::place::Place;

const APPLIES: usize = 4;
const MOVES: usize = 3;

fn config() -> String {
    let applied = (0..APPLIES).map(|it| {
        format!("resource \"terraform_data\" \"p{it}\" {{\n  count = 4\n  provisioner \"local-exec\" {{\n    command = \"sleep 0.0${{count.index}}\"\n  }}\n}}\n")
    });
    let moved = (0..MOVES).map(|it| format!("resource \"terraform_data\" \"m{it}\" {{\n}}\n"));
    applied.chain(moved).collect()
}

/// Numbers that are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

struct Running {
    child: Child,
    /// What is moved; nothing where objects are made.
    moves: Option<usize>,
}

fn start(program: &Path, place: &Place, arguments: &[String], moves: Option<usize>) -> Running {
    let mut process = binary::process(program, place.path());
    process.args(arguments).env("TF_IN_AUTOMATION", "1");
    let child = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    Running { child: child.expect("it starts"), moves }
}

fn apply(number: usize, lock: &str) -> Vec<String> {
    let target = format!("-target=terraform_data.p{number}");
    ["apply", "-auto-approve", "-json", lock, &target].map(str::to_owned).into()
}

/// The objects that lines of messages report as made.
fn made(stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout);
    let messages = text.lines().filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    messages
        .filter(|it| it["type"] == "apply_complete" && it["hook"]["action"] == "create")
        .filter_map(|it| it["hook"]["resource"]["addr"].as_str().map(str::to_owned))
        .collect()
}

/// Every object that the state, or a state that was kept beside it, holds.
fn kept(place: &Place) -> BTreeSet<String> {
    let mut names = vec!["terraform.tfstate".to_owned()];
    let entries = std::fs::read_dir(place.path()).expect("it is read").flatten();
    names.extend(
        entries
            .map(|it| it.file_name().to_string_lossy().into_owned())
            .filter(|it| it.starts_with("errored")),
    );
    names
        .iter()
        .flat_map(|it| {
            let listed = place.succeed(&["state", "list", &format!("-state={it}")]);
            listed.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

fn round(lock: &str, other: Option<&Path>, seed: u64) {
    let mut chance = Chance(seed);
    let place = Place::new(&config());
    let targets: Vec<String> =
        (0..MOVES).map(|it| format!("-target=terraform_data.m{it}")).collect();
    let mut first = vec!["apply", "-auto-approve"];
    first.extend(targets.iter().map(String::as_str));
    place.succeed(&first);
    let mut running = Vec::new();
    for number in 0..APPLIES {
        let program = other.filter(|_| number % 2 == 1).unwrap_or(binary::path());
        running.push(start(program, &place, &apply(number, lock), None));
        if number < MOVES {
            let (from, to) =
                (format!("terraform_data.m{number}"), format!("terraform_data.n{number}"));
            let words = ["state", "mv", lock, &from, &to].map(str::to_owned);
            running.push(start(binary::path(), &place, &words, Some(number)));
        }
    }
    // The real program keeps no journal: what it has reported when it is killed is lost, and no fault of ours.
    for number in [0, 2, 4] {
        std::thread::sleep(Duration::from_millis(chance.below(400)));
        running[number].child.kill().expect("it is ours");
    }
    let ended: Vec<_> = running
        .into_iter()
        .map(|it| (it.moves, it.child.wait_with_output().expect("it ends")))
        .collect();
    // Whoever writes next takes up what a killed run has left; a stranger's state in between makes that a question.
    let (said, code) = place.run(&["refresh"]);
    if code != Some(0) {
        assert!(
            said.contains("-recover=take") && (other.is_some() || lock == "-lock=false"),
            "{said}"
        );
        place.succeed(&["refresh", "-recover=take"]);
    }
    let kept = kept(&place);
    for (moves, output) in &ended {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked at"), "{said}");
        for address in made(&output.stdout) {
            assert!(kept.contains(&address), "{lock}, {seed}: {address} was reported: {kept:?}");
        }
        if let (Some(number), Some(0)) = (moves, output.status.code()) {
            assert!(
                kept.contains(&format!("terraform_data.n{number}")),
                "{lock}, {seed}: {kept:?}"
            );
        }
    }
    for number in 0..MOVES {
        let [old, new] =
            ["m", "n"].map(|it| kept.contains(&format!("terraform_data.{it}{number}")));
        assert!(old || new, "{lock}, {seed}: neither name of {number} is there: {kept:?}");
    }
    place.succeed(&["plan"]);
}

fn rounds() -> u64 {
    std::env::var("ENTAIL_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(2)
}

#[test]
fn several_runs_on_one_state_lose_nothing_that_any_has_reported() {
    for seed in 0..rounds() {
        round("-lock-timeout=60s", None, seed);
        round("-lock=false", None, seed);
    }
}

#[test]
fn the_real_program_beside_this_one_loses_nothing() {
    let Some(other) = std::env::var_os("ENTAIL_TOFU") else {
        let skipped =
            b"skipped: ENTAIL_TOFU names no program; only this one was run beside itself\n";
        std::io::stderr().write_all(skipped).expect("it is said");
        return;
    };
    for seed in 0..rounds() {
        round("-lock-timeout=60s", Some(other.as_ref()), seed);
    }
}
