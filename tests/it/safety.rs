//! What was reported as done is in the state, however the run ended: killed, interrupted, or with a full disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use crate::interrupt::{SLOW, interrupted, read_until};
use crate::support::binary;
use crate::support::place::Place;

/// Slow enough to be caught in the middle, and with every kind of dependency between the steps.
const MANY: &str = r#"
variable "v" {
  default = "1"
}
resource "time_sleep" "slow" {
  count            = 60
  create_duration  = "${count.index % 7}ms"
  destroy_duration = "${count.index % 5}ms"
  triggers         = { v = count.index % 3 == 0 ? var.v : "" }
}
resource "terraform_data" "each" {
  for_each = { for it in range(120) : "k${it}" => it }
  input    = [time_sleep.slow[each.value % 60].id, var.v]
}
resource "terraform_data" "first" {
  count            = 60
  triggers_replace = terraform_data.each["k${count.index}"].input
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "plain" {
  count = 60
  input = var.v
}
output "all" {
  value = terraform_data.plain[*].id
}
"#;
const ALL: usize = 300;

/// What a run has said of objects: the id of each that was made, and what was destroyed, in order.
#[derive(Debug, Default)]
struct Reported {
    made: BTreeMap<String, String>,
    gone: BTreeSet<String>,
}

impl Place {
    /// Starts a run with `-json`, kills it when it has reported this many objects and a moment has passed, and returns
    /// what it has reported; and whether it was still running.
    fn killed(&self, arguments: &[&str], after: usize, moment: Duration) -> (Reported, bool) {
        let mut child = self.start(arguments);
        let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut reported = Reported::default();
        let mut line = String::new();
        while reported.count() < after && reader.read_line(&mut line).is_ok_and(|it| it > 0) {
            reported.take(&line);
            line.clear();
        }
        std::thread::sleep(moment);
        let was_running = child.try_wait().expect("it is asked").is_none();
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        let mut rest = String::new();
        reader.read_to_string(&mut rest).expect("it is read");
        rest.split_inclusive('\n').filter(|it| it.ends_with('\n')).for_each(|it| reported.take(it));
        (reported, was_running)
    }

    /// The addresses of `state list`, which are those of `show -json`, with the ids of the latter.
    #[track_caller]
    fn objects(&self) -> BTreeMap<String, String> {
        let (list, code) = self.run(&["state", "list"]);
        let listed: BTreeSet<String> = match code {
            Some(0) => list.lines().map(str::to_owned).collect(),
            _ => BTreeSet::new(),
        };
        let shown: serde_json::Value =
            serde_json::from_str(&self.succeed(&["show", "-json"])).expect("it is JSON");
        let resources =
            shown["values"]["root_module"]["resources"].as_array().cloned().unwrap_or_default();
        let objects: BTreeMap<String, String> = resources
            .iter()
            .filter(|it| it["deposed_key"].is_null())
            .map(|it| {
                (
                    it["address"].as_str().expect("text").to_owned(),
                    it["values"]["id"].as_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        assert_eq!(listed, objects.keys().cloned().collect(), "list and show differ");
        objects
    }
}

impl Reported {
    fn count(&self) -> usize {
        self.made.len() + self.gone.len()
    }

    fn take(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { return };
        if message["type"] != "apply_complete" {
            return;
        }
        let hook = &message["hook"];
        let address = hook["resource"]["addr"].as_str().expect("text").to_owned();
        let id = hook["id_value"].as_str().unwrap_or_default().to_owned();
        if hook["action"] == "delete" {
            // With create_before_destroy the successor is there already.
            if !self.made.contains_key(&address) {
                self.gone.insert(address);
            }
        } else {
            self.gone.remove(&address);
            self.made.insert(address, id);
        }
    }

    #[track_caller]
    fn check(&self, objects: &BTreeMap<String, String>) {
        for (address, id) in &self.made {
            assert_eq!(objects.get(address), Some(id), "{address} was reported as made");
        }
        for address in &self.gone {
            assert_eq!(objects.get(address), None, "{address} was reported as destroyed");
        }
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

impl Dice {
    /// How many reports are waited for: any number or, each fourth time, all but the last, so that the end is met as well.
    fn moment(&mut self, most: usize) -> usize {
        if self.below(4) == 0 { most.saturating_sub(1 + self.below(2)) } else { self.below(most) }
    }
}

/// How often the killing is tried: `ENTAIL_KILLS`, or a few times.
fn rounds() -> u64 {
    std::env::var("ENTAIL_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(2)
}

#[test]
fn whatever_was_reported_before_a_kill_is_in_the_state_afterwards() {
    let start = std::env::var("ENTAIL_KILLS_FROM").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    for round in start..start + rounds() {
        let mut dice = Dice(round * 7919 + 1);
        let place = Place::new(MANY);
        let moment = |dice: &mut Dice| Duration::from_micros(dice.below(6000) as u64);
        let mut made = BTreeMap::new();
        // Created, and created again from where it was.
        for _ in 0..2 {
            let after = dice.moment(ALL - made.len());
            let (reported, _) =
                place.killed(&["apply", "-auto-approve", "-json"], after, moment(&mut dice));
            let objects = place.objects();
            place.succeed(&["output", "-json"]);
            reported.check(&objects);
            for (address, id) in &made {
                assert_eq!(
                    objects.get(address),
                    Some(id),
                    "round {round}: {address} is not what it was"
                );
            }
            made = objects;
        }
        place.succeed(&["apply", "-auto-approve"]);
        let objects = place.objects();
        assert_eq!(objects.len(), ALL, "round {round}");
        for (address, id) in &made {
            assert_eq!(objects.get(address), Some(id), "round {round}: {address} was made twice");
        }
        assert_eq!(place.run(&["plan", "-detailed-exitcode"]).1, Some(0), "round {round}");
        assert_eq!(place.hidden(), [""; 0], "round {round}");

        // Updated and replaced in both orders.
        let (reported, _) = place.killed(
            &["apply", "-auto-approve", "-json", "-var=v=2"],
            dice.moment(ALL),
            moment(&mut dice),
        );
        reported.check(&place.objects());
        place.succeed(&["apply", "-auto-approve", "-var=v=2"]);
        assert_eq!(place.objects().len(), ALL, "round {round}");
        assert_eq!(
            place.run(&["plan", "-detailed-exitcode", "-var=v=2"]).1,
            Some(0),
            "round {round}"
        );

        // Destroyed.
        let (reported, _) = place.killed(
            &["destroy", "-auto-approve", "-json", "-var=v=2"],
            dice.moment(ALL),
            moment(&mut dice),
        );
        reported.check(&place.objects());
        place.succeed(&["destroy", "-auto-approve", "-var=v=2"]);
        assert!(place.objects().is_empty(), "round {round}");
        assert_eq!(place.hidden(), [""; 0], "round {round}");
    }
}

#[test]
fn a_kill_in_the_middle_of_moves_doubles_nothing() {
    const BEFORE: &str = "resource \"terraform_data\" \"old\" {\n  count = 40\n  input = 1\n}\n";
    const AFTER: &str = r#"
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
resource "terraform_data" "new" {
  count = 40
  input = 2
}
resource "time_sleep" "slow" {
  count           = 20
  create_duration = "${count.index}ms"
  triggers        = { a = terraform_data.new[count.index].id }
}
"#;
    for round in 0..rounds() {
        let mut dice = Dice(round + 100);
        let place = Place::new(BEFORE);
        place.succeed(&["apply", "-auto-approve"]);
        let old = place.objects();
        place.write("main.tf", AFTER);
        let (reported, _) = place.killed(
            &["apply", "-auto-approve", "-json"],
            1 + dice.below(50),
            Duration::from_micros(dice.below(3000) as u64),
        );
        let objects = place.objects();
        reported.check(&objects);
        let moved = objects.iter().filter(|it| it.0.starts_with("terraform_data"));
        let ids: BTreeSet<&String> = moved.clone().map(|it| it.1).collect();
        assert_eq!((ids.len(), moved.count()), (40, 40), "an object stands twice: {objects:?}");
        place.succeed(&["apply", "-auto-approve"]);
        let now = place.objects();
        assert_eq!(now.len(), 60);
        for (address, id) in &old {
            assert_eq!(
                now.get(&address.replace("old", "new")),
                Some(id),
                "{address} was made anew"
            );
        }
    }
}

/// A state of one object, beside a configuration that adds a few.
fn with_more(config: &str) -> Place {
    let place = Place::new("resource \"terraform_data\" \"a\" {\n}\n");
    place.succeed(&["apply", "-auto-approve"]);
    place.write("main.tf", config);
    place
}

/// Runs a command that may write files of so many blocks of 512 bytes at most.
fn limited(place: &Place, blocks: usize, arguments: &str) -> (String, Option<i32>) {
    let script = format!("ulimit -f {blocks}; exec {} {arguments}", binary::path().display());
    let output =
        binary::process("/bin/sh", place.path()).args(["-c", &script]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code())
}

#[test]
fn where_the_state_cannot_grow_the_journal_keeps_everything() {
    // Written on lines of their own, these numbers make the state larger than the journal.
    let place = with_more(
        "resource \"terraform_data\" \"a\" {\n}\nresource \"terraform_data\" \"b\" {\n  count = 12\n  input = range(30)\n}\n",
    );
    let before = std::fs::read(place.path().join("terraform.tfstate")).expect("it is read");
    let (text, code) = limited(&place, 24, "apply -auto-approve");
    assert_eq!(code, Some(1), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "Error saving state: File too large",
        "Nothing is lost",
        "terraform_data.b[11]: Creation complete",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert_eq!(std::fs::read(place.path().join("terraform.tfstate")).expect("it is read"), before);
    let kept = place.objects();
    assert_eq!(kept.len(), 13);
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.objects(), kept);
    assert_eq!(place.hidden(), [""; 0]);
}

#[test]
fn where_nothing_more_can_be_written_what_is_reported_is_in_the_printed_state() {
    // Written on lines of their own, these numbers make the state larger than the journal.
    let place = with_more(
        "resource \"terraform_data\" \"a\" {\n}\nresource \"terraform_data\" \"b\" {\n  count = 60\n  input = range(30)\n}\n",
    );
    let before = std::fs::read(place.path().join("terraform.tfstate")).expect("it is read");
    let (text, code) = limited(&place, 4, "apply -auto-approve");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the raw state data is printed above"), "{text}");
    assert_eq!(std::fs::read(place.path().join("terraform.tfstate")).expect("it is read"), before);
    // What is printed can be pushed, though a part of it was taken up from the journal before.
    let start = text.find("\n{\n").expect("it is printed") + 1;
    let end = start + text[start..].find("\n}\n").expect("it ends") + 3;
    place.write("printed.tfstate", &text[start..end]);
    assert!(place.objects().len() > 1);
    place.succeed(&["plan"]);
    place.succeed(&["state", "push", "printed.tfstate"]);
    // Once a step cannot be noted, no further one is begun.
    let made = place.objects();
    assert!(made.len() > 1 && made.len() < 61, "{made:?}");
    let reported = text.lines().filter_map(|it| it.split_once(": Creation complete"));
    for (address, _) in reported {
        assert!(made.contains_key(address), "{address} was reported, and is lost");
    }
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.objects().len(), 61);
    assert_eq!(place.run(&["plan", "-detailed-exitcode"]).1, Some(0));
}

#[test]
fn where_steps_cannot_be_noted_none_is_begun() {
    let place = with_more("resource \"terraform_data\" \"b\" {\n}\n");
    let (text, code) = limited(&place, 0, "apply -auto-approve -lock=false");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Nothing was begun.") && !text.contains("Creating..."), "{text}");
    assert_eq!(place.succeed(&["state", "list"]), "terraform_data.a\n");
    assert_eq!(place.hidden(), [""; 0]);
}

#[test]
fn a_journal_that_does_not_fit_stops_whoever_writes_until_the_user_has_looked() {
    let place = with_more(&format!(
        "{}resource \"terraform_data\" \"a\" {{\n}}\n",
        SLOW.replace("DURATION", "30s")
    ));
    interrupted(&place, &["apply", "-auto-approve"], &[("time_sleep.slow: Creating", "KILL")]);
    assert_eq!(
        place.objects().keys().collect::<Vec<_>>(),
        ["terraform_data.a", "terraform_data.fast"]
    );
    let state =
        std::fs::read_to_string(place.path().join("terraform.tfstate")).expect("it is read");
    // As if another program had written the state, knowing nothing of journals.
    place.write("terraform.tfstate", &state.replace("\"serial\": 1", "\"serial\": 2"));
    let (text, _) = place.run(&["plan", "-lock=false"]);
    assert!(text.contains("Left-over journal of an interrupted run"), "{text}");
    assert!(place.hidden().contains(&".terraform.tfstate.journal".to_owned()));
    // Nobody makes again what it tells of, and nobody takes it away.
    for line in
        ["apply -auto-approve", "refresh", "state rm terraform_data.a", "taint terraform_data.a"]
    {
        for flag in ["-lock=true", "-lock=false"] {
            let words: Vec<&str> = line.split(' ').collect();
            let at = if words[0] == "state" { 2 } else { 1 };
            let (text, code) = place.run(&[&words[..at], &[flag], &words[at..]].concat());
            assert!(code == Some(1) && text.contains("Left-over journal"), "{line}: {text}");
            assert!(!text.contains("Creating..."), "{line}: {text}");
        }
    }
    assert_eq!(place.succeed(&["state", "list"]).lines().last(), Some("terraform_data.a"));
    assert!(place.hidden().contains(&".terraform.tfstate.journal".to_owned()));
    place.succeed(&["plan", "-recover=aside"]);
    let hidden = place.hidden();
    assert!(
        hidden.len() == 1 && hidden[0].starts_with(".terraform.tfstate.journal."),
        "{hidden:?}"
    );
    assert!(!place.succeed(&["plan"]).contains("Left-over"));
}

#[test]
fn a_run_without_lock_takes_up_what_was_left() {
    let place = Place::new(&SLOW.replace("DURATION", "30s"));
    interrupted(&place, &["apply", "-auto-approve"], &[("time_sleep.slow: Creating", "KILL")]);
    let before = place.objects();
    place.write("main.tf", &SLOW.replace("DURATION", "1ms"));
    place.succeed(&["apply", "-auto-approve", "-lock=false"]);
    let after = place.objects();
    assert_eq!(
        (after.len(), after.get("terraform_data.fast")),
        (3, before.get("terraform_data.fast"))
    );
    // What the dead run left of its lock is gone, too: settling its journal took the lock for a moment.
    assert_eq!(place.hidden(), [""; 0]);
}

#[test]
fn a_live_run_blocks_others_and_a_dead_one_does_not() {
    let place = Place::new(&SLOW.replace("DURATION", "4s"));
    let mut child = place.start(&["apply", "-auto-approve"]);
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    read_until(&mut reader, "time_sleep.slow: Creating");
    let (text, code) = place.run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("Error acquiring the state lock")
            && text.contains("Operation: OperationTypeApply"),
        "{text}"
    );
    assert_eq!(place.succeed(&["state", "list"]), "terraform_data.fast\n");
    assert_eq!(place.run(&["plan", "-lock-timeout=1s"]).1, Some(1));
    place.succeed(&["plan", "-lock-timeout=60s"]);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));

    let place = Place::new(&SLOW.replace("DURATION", "60s"));
    interrupted(&place, &["apply", "-auto-approve"], &[("time_sleep.slow: Creating", "KILL")]);
    place.succeed(&["plan"]);
}

#[test]
fn what_a_killed_run_has_made_is_recorded_or_named() {
    const FILES: &str = "resource \"local_file\" \"a\" {\n  count    = 200\n  filename = \"made/${count.index}\"\n  content  = \"x\"\n}\n";
    /// As many steps as run at once may have been made without being recorded.
    const MOST: usize = 10;
    let mut caught = 0;
    for round in 0..2 {
        let place = Place::new(FILES);
        let made = || -> BTreeSet<String> {
            let files =
                std::fs::read_dir(place.path().join("made")).into_iter().flatten().flatten();
            files.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
        };
        // Nobody reads what it says, so it must not fill a pipe.
        let mut command = place.command(&["apply", "-auto-approve"]);
        let silent =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = silent.spawn().expect("it starts");
        while made().len() < 1 + round * 100 && child.try_wait().expect("it is asked").is_none() {}
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        let (files, (told, _)) = (made(), place.run(&["plan"]));
        let objects = place.objects();
        let recorded = |it: &String| objects.contains_key(&format!("local_file.a[{it}]"));
        let lost: Vec<&String> = files.iter().filter(|it| !recorded(it)).collect();
        assert!(lost.len() <= MOST, "{} of {} files are not recorded", lost.len(), files.len());
        for name in lost {
            let line =
                format!("local_file.a[{name}] of registry.opentofu.org/hashicorp/local may exist");
            assert!(
                told.contains(&line) && told.contains(&format!("made/{name}")),
                "{name}: {told}"
            );
        }
        caught += usize::from(!files.is_empty() && files.len() < 200);
        place.succeed(&["apply", "-auto-approve"]);
        assert_eq!(place.objects().len(), 200);
        assert_eq!(place.hidden(), [""; 0]);
    }
    assert!(caught > 0, "no run was killed while it made something");
}
