//! Two ways of saying the same must plan the same: one call whose instances come from different places, and its twin with a
//! call for each of them. Random sources, random changes since the last apply, random flags.
//!
//! `PAIRS=1000 cargo test --test it -- sources` tries more of them; `FIRST=1234` begins there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::metamorphic::{changes, conclusions};
use crate::support::dice::Dice;
use crate::support::place::Place;

/// How many pairs are tried unless `PAIRS` says otherwise.
const PAIRS: u64 = 30;

const KEYS: [&str; 3] = ["x", "y", "z"];

#[test]
fn instances_from_different_places_plan_as_calls_of_their_own() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let (pairs, first) = (number("PAIRS").unwrap_or(PAIRS), number("FIRST").unwrap_or(1));
    let next = AtomicU64::new(first);
    let differing: Mutex<BTreeMap<u64, String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + pairs {
                        return;
                    }
                    if let Some(difference) = compare(&Pair::random(seed)) {
                        differing.lock().expect("no thread panics").insert(seed, difference);
                    }
                }
            });
        }
    });
    let differing = differing.into_inner().expect("no thread panics");
    let seeds: Vec<&u64> = differing.keys().collect();
    let texts: Vec<&str> = differing.values().take(3).map(String::as_str).collect();
    assert!(
        differing.is_empty(),
        "{} of {pairs} pairs differ, {seeds:?}\n{}",
        seeds.len(),
        texts.join("\n")
    );
}

/// How the one configuration says it, and how its twin does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    OneCall,
    CallForEach,
}

/// What there is at one time: the source of each key, and the texts of the sources.
struct Stage {
    kinds: BTreeMap<&'static str, &'static str>,
    root: String,
    sources: BTreeMap<&'static str, String>,
}

/// What was applied, what is planned, and with which flags.
struct Pair {
    seed: u64,
    before: Stage,
    after: Stage,
    flags: Vec<String>,
}

impl Pair {
    fn random(seed: u64) -> Pair {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            dice.below(2);
        }
        // Nobody can tell which source an instance had whose key is gone: what only sources say is left out then.
        let goes = dice.one_in(4);
        let before: BTreeMap<_, _> = KEYS.map(|key| (key, *dice.pick(&["a", "b", "c"]))).into();
        let mut after = before.clone();
        if goes {
            after.remove(*dice.pick(&KEYS));
        } else if dice.one_in(2) {
            after.insert(*dice.pick(&KEYS), *dice.pick(&["a", "b", "c"]));
        }
        let names = ["a", "b", "c"];
        let sources: BTreeMap<_, _> = names.map(|it| (it, source(&mut dice, goes))).into();
        let mut changed = |text: &str| match dice.one_in(2) {
            true => text.replace("\"old\"", "\"new\""),
            false => text.to_owned(),
        };
        let later = sources.iter().map(|(name, text)| (*name, changed(text))).collect();
        let root = "resource \"terraform_data\" \"up\" {\n  input = \"old\"\n}\n";
        let later_root = changed(root);
        let there = after.keys().copied().collect::<Vec<_>>();
        let user = format!(
            "resource \"terraform_data\" \"user\" {{ input = module.m[{:?}].said }}\n",
            dice.pick(&there)
        );
        Pair {
            seed,
            flags: flags(&mut dice),
            before: Stage { kinds: before, root: format!("{root}{user}"), sources },
            after: Stage { kinds: after, root: format!("{later_root}{user}"), sources: later },
        }
    }
}

/// A module with some of four resources, in an order of its own, and a call.
fn source(dice: &mut Dice, is_plain: bool) -> String {
    let mut open = vec!["r0", "r1", "r2", "r3", "inner"];
    let mut known = vec!["var.up".to_owned(), "var.name".to_owned(), "\"old\"".to_owned()];
    let mut text = "terraform {\n  required_providers {\n    null = {\n      source                = \"hashicorp/null\"\n      configuration_aliases = [null.one, null.two]\n    }\n  }\n}\nvariable \"name\" {}\nvariable \"up\" {}\n".to_owned();
    let mut objects = Vec::new();
    while !open.is_empty() {
        let name = open.remove(dice.below(open.len()));
        let value = dice.pick(&known).clone();
        let provider = *dice.pick(&["one", "two"]);
        if name == "inner" {
            let folder = *dice.pick(&["p", "q"]);
            let _ = writeln!(
                text,
                "module \"inner\" {{\n  source    = \"../{folder}\"\n  providers = {{ null = null.{provider} }}\n  value     = {value}\n}}"
            );
            known.push("module.inner.value".into());
            continue;
        }
        if dice.one_in(4) {
            continue;
        }
        let mut lifecycle = String::new();
        if !is_plain && dice.one_in(4) {
            lifecycle.push_str("    create_before_destroy = true\n");
        }
        if !is_plain && !objects.is_empty() && dice.one_in(4) {
            let other: &String = dice.pick(&objects);
            let _ = writeln!(lifecycle, "    replace_triggered_by = [{other}]");
        }
        if !lifecycle.is_empty() {
            lifecycle = format!("  lifecycle {{\n{lifecycle}  }}\n");
        }
        let repeats = dice.one_in(4);
        let count = if repeats { "  count = 2\n" } else { "" };
        let at = if repeats { "[0]" } else { "" };
        let (kind, body, result) = match name {
            "r0" | "r1" => (
                "null_resource",
                format!("  provider = null.{provider}\n  triggers = {{ value = {value} }}\n"),
                "triggers.value",
            ),
            _ => ("terraform_data", format!("  input = {value}\n"), "output"),
        };
        let _ = write!(text, "resource {kind:?} {name:?} {{\n{count}{body}{lifecycle}}}\n");
        known.push(format!("{kind}.{name}{at}.{result}"));
        objects.push(format!("{kind}.{name}"));
    }
    let _ = writeln!(text, "output \"said\" {{ value = {} }}", dice.pick(&known));
    text
}

fn flags(dice: &mut Dice) -> Vec<String> {
    let mut flags = Vec::new();
    for _ in 0..[0, 1, 1, 2][dice.below(4)] {
        let module = format!("module.m[{:?}]", dice.pick(&KEYS));
        let inside = dice.pick(&[
            "",
            ".null_resource.r0",
            ".null_resource.r1",
            ".terraform_data.r2",
            ".terraform_data.r3",
            ".module.inner",
            ".module.inner.null_resource.deep",
        ]);
        let what =
            if dice.one_in(5) { "terraform_data.up".into() } else { format!("{module}{inside}") };
        flags.push(format!("{}={what}", dice.pick(&["-exclude", "-exclude", "-target"])));
    }
    if dice.one_in(8) {
        flags.push("-destroy".into());
    }
    flags
}

/// Says it as the twin does.
fn apart(text: &str) -> String {
    KEYS.iter().fold(text.to_owned(), |text, key| {
        text.replace(&format!("module.m[{key:?}]"), &format!("module.m_{key}"))
    })
}

impl Stage {
    fn text(&self, way: Way) -> String {
        let mut text = "provider \"null\" {\n  alias = \"one\"\n}\nprovider \"null\" {\n  alias = \"two\"\n}\n".to_owned();
        let passed = "  providers = { null.one = null.one, null.two = null.two }\n  up        = terraform_data.up.output\n";
        match way {
            Way::OneCall => {
                let kinds: Vec<String> =
                    self.kinds.iter().map(|(key, kind)| format!("{key} = {kind:?}")).collect();
                let _ = writeln!(
                    text,
                    "module \"m\" {{\n  for_each  = {{ {} }}\n  source    = \"./${{each.value}}\"\n  name      = each.key\n{passed}}}",
                    kinds.join(", ")
                );
                text + &self.root
            }
            Way::CallForEach => {
                for (key, kind) in &self.kinds {
                    let _ = writeln!(
                        text,
                        "module \"m_{key}\" {{\n  source    = \"./{kind}\"\n  name      = {key:?}\n{passed}}}"
                    );
                }
                text + &apart(&self.root)
            }
        }
    }

    fn write(&self, way: Way, place: &Place) {
        place.write("main.tf", &self.text(way));
        for (name, text) in &self.sources {
            place.write(&format!("{name}/main.tf"), text);
        }
    }
}

/// The modules that the sources call: alike but for the order of what is in them.
fn inner(first: &str, second: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    null = {{ source = \"hashicorp/null\" }}\n  }}\n}}\nvariable \"value\" {{}}
resource \"null_resource\" \"deep\" {{\n  triggers = {{ value = {first} }}\n}}
resource \"terraform_data\" \"deep\" {{\n  input = {second}\n}}
output \"value\" {{ value = terraform_data.deep.output }}\n"
    )
}

/// What a folder makes of a plan, in the words of the twin.
fn outcome(pair: &Pair, way: Way) -> Result<BTreeMap<String, String>, String> {
    let place = Place::new("");
    for folder in ["a", "b", "c", "p", "q"] {
        std::fs::create_dir(place.path().join(folder)).expect("a folder");
    }
    place.write("p/main.tf", &inner("var.value", "null_resource.deep.id"));
    place.write("q/main.tf", &inner("terraform_data.deep.id", "var.value"));
    for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
        pair.before.write(way, &place);
        let (said, code) = place.run(arguments);
        if code != Some(0) {
            return Err(format!("{arguments:?}: {said}"));
        }
    }
    pair.after.write(way, &place);
    place.run(&["init"]);
    let flags = pair.flags.iter().map(|it| match way {
        Way::OneCall => it.clone(),
        Way::CallForEach => apart(it),
    });
    let flags: Vec<String> = flags.collect();
    let mut arguments = vec!["plan", "-out=p"];
    arguments.extend(flags.iter().map(String::as_str));
    let (said, code) = place.run(&arguments);
    let problems: BTreeSet<&str> = said.lines().filter(|it| it.contains("Error: ")).collect();
    let problems = problems.into_iter().collect::<Vec<_>>().join("\n");
    let mut all = BTreeMap::from([
        ("problems".to_owned(), problems),
        ("exit".to_owned(), format!("{code:?}")),
    ]);
    if code == Some(0) {
        let (shown, _) = place.run(&["show", "-json", "p"]);
        let document: Value = serde_json::from_str(&shown).expect("a plan's document");
        all.insert("changes".into(), apart(&changes(&document)));
        let (facts, _) = place.run(&["facts", "-plan=p"]);
        all.extend(conclusions(&apart(&facts)));
        // Nothing is left to do once it was done.
        let (said, code) = place.run(&["apply", "-auto-approve", "p"]);
        all.insert("applied".into(), format!("{code:?} {}", said.contains("Error: ")));
        let (state, _) = place.run(&["state", "list"]);
        let state: BTreeSet<String> = apart(&state).lines().map(str::to_owned).collect();
        all.insert("state".into(), state.into_iter().collect::<Vec<_>>().join("\n"));
    }
    Ok(all)
}

/// Returns how the twins differ, if they do.
fn compare(pair: &Pair) -> Option<String> {
    let mut text = String::new();
    match (outcome(pair, Way::OneCall), outcome(pair, Way::CallForEach)) {
        (Ok(one), Ok(each)) => {
            for name in one.keys().chain(each.keys()).collect::<BTreeSet<_>>() {
                let rows = |it: &BTreeMap<String, String>| -> BTreeSet<String> {
                    it.get(name).into_iter().flat_map(|it| it.lines()).map(str::to_owned).collect()
                };
                let (ours, theirs) = (rows(&one), rows(&each));
                for it in ours.difference(&theirs) {
                    let _ = writeln!(text, "{name}, one call:       {it}");
                }
                for it in theirs.difference(&ours) {
                    let _ = writeln!(text, "{name}, calls for each: {it}");
                }
            }
        }
        (one, each) => {
            for problem in [one, each].into_iter().filter_map(Result::err) {
                let _ = writeln!(text, "{problem}");
            }
        }
    }
    if text.is_empty() {
        return None;
    }
    let _ = writeln!(text, "==== seed {} {:?}", pair.seed, pair.flags);
    for (name, stage) in [("before", &pair.before), ("after", &pair.after)] {
        let _ = writeln!(text, "-- {name} --\n{}", stage.text(Way::OneCall));
        for (name, source) in &stage.sources {
            let _ = writeln!(text, "-- {name} --\n{source}");
        }
    }
    Some(text)
}
