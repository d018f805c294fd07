//! What goes does so before what it was made from, through whatever that was read, and whoever wrote the state; what that is of an object
//! that is left out stays.
//!
//! `COURSES=1000 cargo test --test it -- leaving` tries more configurations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::support::dice::Dice;
use crate::support::place::Place;

/// How many configurations are tried unless `COURSES` says otherwise.
const COURSES: u64 = 24;

const INNER: &str = "variable \"v\" {}\nresource \"terraform_data\" \"in\" { input = var.v }\noutput \"id\" { value = terraform_data.in.id }\n";

/// A configuration, and what each of its objects is made from.
#[derive(Default)]
struct Course {
    text: String,
    made_from: BTreeMap<String, BTreeSet<String>>,
    /// What can be read: how, and the objects behind it.
    values: Vec<(String, BTreeSet<String>)>,
}

impl Course {
    fn random(seed: u64) -> Course {
        let mut dice = Dice::of(seed);
        let mut course = Course::default();
        for number in 0..4 + dice.below(5) {
            course.add(&mut dice, &format!("n{number}"));
        }
        course
    }

    fn add(&mut self, dice: &mut Dice, name: &str) {
        let mut behind = BTreeSet::new();
        let mut read = Vec::new();
        for _ in 0..dice.below(3).min(self.values.len()) {
            let (value, objects) = dice.pick(&self.values);
            read.push(value.as_str());
            behind.extend(objects.iter().cloned());
        }
        let all = format!("join(\"\", [{}])", read.join(", "));
        let address = format!("terraform_data.{name}");
        let text = &mut self.text;
        let (value, objects) = match dice.below(6) {
            0 | 1 => {
                let _ = writeln!(text, "resource \"terraform_data\" {name:?} {{ input = {all} }}");
                (format!("{address}.id"), vec![address])
            }
            2 => {
                let _ = writeln!(
                    text,
                    "resource \"terraform_data\" {name:?} {{\n  count = 2\n  input = {all}\n}}"
                );
                let instances = [0, 1].map(|it| format!("{address}[{it}]")).to_vec();
                (format!("join(\"\", {address}[*].id)"), instances)
            }
            3 => {
                let count = if dice.one_in(2) { "  count = 2\n" } else { "" };
                let _ = writeln!(
                    text,
                    "data \"local_file\" {name:?} {{\n{count}  filename = {all} == \"\" ? \"file\" : \"./file\"\n}}"
                );
                let each = if count.is_empty() { "" } else { "[1]" };
                (format!("data.local_file.{name}{each}.content"), Vec::new())
            }
            4 => {
                let _ = writeln!(text, "locals {{\n  {name} = {all}\n}}");
                (format!("local.{name}"), Vec::new())
            }
            _ => {
                let _ =
                    writeln!(text, "module {name:?} {{\n  source = \"./m\"\n  v      = {all}\n}}");
                (format!("module.{name}.id"), vec![format!("module.{name}.terraform_data.in")])
            }
        };
        for object in &objects {
            self.made_from.insert(object.clone(), behind.clone());
        }
        let behind = if objects.is_empty() { behind } else { objects.into_iter().collect() };
        self.values.push((value, behind));
    }

    /// Applies it; every other time, our own record of it is lost.
    fn applied(&self, seed: u64) -> Place {
        let place = Place::new(&self.text);
        place.write("m/main.tf", INNER);
        place.write("file", "text");
        place.succeed(&["init"]);
        place.succeed(&["apply", "-auto-approve"]);
        if seed.is_multiple_of(2) {
            forget_own_record(&place);
        }
        place
    }

    /// Checks that each object was gone before anything that it was made from.
    fn check(&self, times: &BTreeMap<String, (usize, usize)>, context: &str) {
        for (object, behind) in &self.made_from {
            for other in behind {
                let (Some(user), Some(used)) = (times.get(object), times.get(other)) else {
                    continue;
                };
                assert!(user.1 < used.0, "{other} goes before {object} is gone: {context}");
            }
        }
    }

    /// Gives what has a name another one.
    fn rename(&mut self, old: &str, new: &str) {
        self.text = self.text.replace(old, new);
        let of = |it: &String| it.replace(old, new);
        let renamed = self.made_from.iter();
        self.made_from =
            renamed.map(|(it, behind)| (of(it), behind.iter().map(of).collect())).collect();
    }

    /// Takes objects out; what was made from one of them rests on what that was made from.
    fn remove(&mut self, of: &str) {
        let (gone, mut left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.made_from)
                .into_iter()
                .partition(|it| it.0.split('[').next() == Some(of));
        for behind in left.values_mut() {
            let removed: Vec<String> =
                behind.iter().filter(|it| gone.contains_key(*it)).cloned().collect();
            for object in removed {
                behind.remove(&object);
                behind.extend(gone[&object].iter().cloned());
            }
        }
        self.made_from = left;
    }

    /// Returns an object, and all that it rests on.
    fn ground_of(&self, object: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![object];
        while let Some(next) = open.pop() {
            if found.insert(next.to_owned()) {
                open.extend(self.made_from[next].iter().map(String::as_str));
            }
        }
        found
    }

    /// Returns the objects that rest on those of an address.
    fn resting_on(&self, address: &str) -> BTreeSet<String> {
        let mut found: BTreeSet<String> =
            self.made_from.keys().filter(|it| it.starts_with(address)).cloned().collect();
        loop {
            let more = self.made_from.iter().filter(|it| !it.1.is_disjoint(&found));
            let more: Vec<String> = more.map(|it| it.0.clone()).collect();
            let before = found.len();
            found.extend(more);
            if found.len() == before {
                return found;
            }
        }
    }
}

/// The objects that a run destroyed: when each was begun, and when it was done.
fn destroyed(messages: &str) -> BTreeMap<String, (usize, usize)> {
    let mut times: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let messages = messages.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    for (time, message) in messages.enumerate() {
        let hook = &message["hook"];
        let Some(address) = hook["resource"]["addr"].as_str() else { continue };
        match message["type"].as_str() {
            Some("apply_start") if hook["action"] == "delete" => {
                times.insert(address.to_owned(), (time, usize::MAX));
            }
            Some("apply_complete") if hook["action"] == "delete" => {
                times.entry(address.to_owned()).and_modify(|it| it.1 = time);
            }
            _ => {}
        }
    }
    times
}

/// Takes out of a state what only this program writes.
fn forget_own_record(place: &Place) {
    let mut state: Value = serde_json::from_str(&place.text("terraform.tfstate")).expect("JSON");
    state.as_object_mut().expect("it is an object").remove("entail");
    place.write("terraform.tfstate", &state.to_string());
}

#[test]
fn what_has_moved_goes_before_what_it_was_made_from() {
    for seed in 1..=COURSES / 2 {
        let mut course = Course::random(seed);
        let place = course.applied(seed);
        let alone = |it: &&String| it.starts_with("terraform_data.");
        let Some(first) = course.made_from.keys().find(alone).cloned() else { continue };
        let old = first.trim_start_matches("terraform_data.").split('[').next().expect("a name");
        let new = format!("{old}moved");
        course.rename(old, &new);
        let (from, to) = (format!("terraform_data.{old}"), format!("terraform_data.{new}"));
        for way in ["state mv", "moved", "moved, then gone"] {
            let place = place.copied();
            place.write("main.tf", &course.text);
            match way {
                "state mv" => drop(place.succeed(&["state", "mv", &from, &to])),
                _ => place.add(&format!("moved {{\n  from = {from}\n  to   = {to}\n}}\n")),
            }
            if way == "moved, then gone" {
                place.succeed(&["apply", "-auto-approve"]);
                place.write("main.tf", "");
            }
            let flags = ["-destroy", "-refresh=false", "-auto-approve", "-json"];
            let messages = match way {
                "moved, then gone" => place.succeed(&["apply", "-auto-approve", "-json"]),
                _ => place.succeed(&[&["apply"], &flags[..]].concat()),
            };
            let context = format!("seed {seed}, {way} {from}\n{}{messages}", course.text);
            let times = destroyed(&messages);
            assert_eq!(times.len(), course.made_from.len(), "{context}");
            course.check(&times, &context);
        }
    }
}

#[test]
fn what_was_made_from_what_is_removed_goes_before_what_is_behind_that() {
    for seed in 1..=2 * COURSES {
        let mut course = Course::random(seed);
        let place = course.applied(seed);
        let used: BTreeSet<&String> = course.made_from.values().flatten().collect();
        let between =
            |it: &&&String| it.starts_with("terraform_data.") && !course.made_from[**it].is_empty();
        // Of all instances of a resource, a record is one name.
        let whole = used.iter().find(|it| between(it) && it.contains('['));
        let Some(first) = whole.or_else(|| used.iter().find(between)) else { continue };
        let of = first.split('[').next().expect("it has a beginning").to_owned();
        place.succeed(&["state", "rm", &of]);
        course.remove(&of);
        place.write("main.tf", "");
        let messages = place.succeed(&["apply", "-auto-approve", "-json"]);
        let context = format!("seed {seed}, without {of}\n{}{messages}", course.text);
        let times = destroyed(&messages);
        assert_eq!(times.len(), course.made_from.len(), "{context}");
        course.check(&times, &context);
    }
}

#[test]
fn what_goes_does_so_before_what_it_was_made_from() {
    let courses = std::env::var("COURSES").ok().and_then(|it| it.parse().ok()).unwrap_or(COURSES);
    for seed in 1..=courses {
        let course = Course::random(seed);
        let place = course.applied(seed);
        for way in ["", "-destroy", "-refresh=false", "-target", "-exclude"] {
            let place = place.copied();
            let mut dice = Dice(seed);
            let names: Vec<&String> = course.made_from.keys().collect();
            if names.is_empty() {
                continue;
            }
            let one = dice.pick(&names).as_str();
            let of = one.split('[').next().expect("it has a beginning");
            let (target, exclude) = (format!("-target={of}"), format!("-exclude={one}"));
            let messages = match way {
                "" => {
                    place.write("main.tf", "");
                    place.succeed(&["apply", "-auto-approve", "-json"])
                }
                "-target" => place.succeed(&["destroy", "-auto-approve", "-json", &target]),
                "-exclude" => place.succeed(&["destroy", "-auto-approve", "-json", &exclude]),
                _ => place.succeed(&["apply", "-destroy", "-auto-approve", "-json", way]),
            };
            let times = destroyed(&messages);
            let context = format!("seed {seed}, {way} {of}\n{}{messages}", course.text);
            let gone: BTreeSet<String> = times.keys().cloned().collect();
            let expected = match way {
                "-target" => course.resting_on(of),
                "-exclude" => {
                    let stays = course.ground_of(one);
                    course.made_from.keys().filter(|it| !stays.contains(*it)).cloned().collect()
                }
                _ => course.made_from.keys().cloned().collect(),
            };
            assert_eq!(gone, expected, "{context}");
            course.check(&times, &context);
        }
    }
}
