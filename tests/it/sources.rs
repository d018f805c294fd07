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
use crate::support::number;
use crate::support::place::Place;

/// How many pairs are tried unless `PAIRS` says otherwise.
const PAIRS: u64 = 30;

const KEYS: [&str; 3] = ["x", "y", "z"];

/// The two provider configurations, in the root module.
const CONFIGURED: &str =
    "provider \"null\" {\n  alias = \"one\"\n}\nprovider \"null\" {\n  alias = \"two\"\n}\n";

/// What a module says that is given them.
const REQUIRED: &str = "terraform {\n  required_providers {\n    null = {\n      source                = \"hashicorp/null\"\n      configuration_aliases = [null.one, null.two]\n    }\n  }\n}\n";

#[test]
fn instances_from_different_places_plan_as_calls_of_their_own() {
    let (pairs, first) = (number("PAIRS").unwrap_or(PAIRS), number("FIRST").unwrap_or(1));
    let next = AtomicU64::new(first);
    let differing: Mutex<BTreeMap<u64, String>> = Mutex::default();
    let planned = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + pairs {
                        return;
                    }
                    match compare(&Pair::random(seed)) {
                        Ok(has_plan) => drop(planned.fetch_add(has_plan.into(), Ordering::Relaxed)),
                        Err(difference) => {
                            differing.lock().expect("no thread panics").insert(seed, difference);
                        }
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
    let planned = planned.into_inner();
    assert!(planned * 2 > pairs, "only {planned} of {pairs} pairs have a plan to compare");
}

/// How the one configuration says it, and how its twin does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    OneCall,
    CallForEach,
}

/// What is around the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Around {
    Nothing,
    /// A module that repeats.
    Module,
    /// A module that repeats over what only the walk knows.
    Late,
}

/// What there is at one time: the source of each key, and the texts of the sources.
struct Stage {
    around: Around,
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
        let mut dice = Dice::of(seed);
        // Nobody can tell which source an instance had whose key is gone: what only sources say is left out then.
        let goes = dice.one_in(4);
        let around = *dice.pick(&[Around::Nothing, Around::Nothing, Around::Module, Around::Late]);
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
            flags: flags(&mut dice, around),
            before: Stage { around, kinds: before, root: format!("{root}{user}"), sources },
            after: Stage {
                around,
                kinds: after,
                root: format!("{later_root}{user}"),
                sources: later,
            },
        }
    }
}

/// A module with some of four resources, in an order of its own, and a call.
fn source(dice: &mut Dice, is_plain: bool) -> String {
    let mut open = vec!["r0", "r1", "r2", "r3", "inner"];
    let mut known = vec!["var.up".to_owned(), "var.name".to_owned(), "\"old\"".to_owned()];
    let mut text = format!("{REQUIRED}variable \"name\" {{}}\nvariable \"up\" {{}}\n");
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

fn flags(dice: &mut Dice, around: Around) -> Vec<String> {
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
        let what = match dice.one_in(5) {
            true => "terraform_data.up".to_owned(),
            false => format!("{module}{inside}"),
        };
        let above = if around == Around::Nothing { "" } else { "module.o[\"k\"]." };
        let what = format!("{above}{what}");
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
    /// The root module, where something is around the call; else the module with the call is the root.
    fn above(&self) -> Option<String> {
        let keys = match self.around {
            Around::Nothing => return None,
            Around::Module => "[\"k\"]",
            Around::Late => "[data.local_file.key.content]",
        };
        Some(format!(
            "{CONFIGURED}data \"local_file\" \"key\" {{ filename = \"key\" }}
module \"o\" {{\n  for_each  = toset({keys})\n  source    = \"./o\"\n  providers = {{ null.one = null.one, null.two = null.two }}\n}}\n"
        ))
    }

    fn text(&self, way: Way) -> String {
        let is_root = self.around == Around::Nothing;
        let (mut text, up) = match is_root {
            true => (CONFIGURED.to_owned(), "."),
            false => (REQUIRED.to_owned(), ".."),
        };
        let passed = "  providers = { null.one = null.one, null.two = null.two }\n  up        = terraform_data.up.output\n";
        match way {
            Way::OneCall => {
                let kinds: Vec<String> =
                    self.kinds.iter().map(|(key, kind)| format!("{key} = {kind:?}")).collect();
                let _ = writeln!(
                    text,
                    "module \"m\" {{\n  for_each  = {{ {} }}\n  source    = \"{up}/${{each.value}}\"\n  name      = each.key\n{passed}}}",
                    kinds.join(", ")
                );
                text + &self.root
            }
            Way::CallForEach => {
                for (key, kind) in &self.kinds {
                    let _ = writeln!(
                        text,
                        "module \"m_{key}\" {{\n  source    = \"{up}/{kind}\"\n  name      = {key:?}\n{passed}}}"
                    );
                }
                text + &apart(&self.root)
            }
        }
    }

    fn write(&self, way: Way, place: &Place) {
        match self.above() {
            None => place.write("main.tf", &self.text(way)),
            Some(root) => {
                place.write("main.tf", &root);
                place.write("o/main.tf", &self.text(way));
            }
        }
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
    place.write("key", "k");
    for folder in ["a", "b", "c", "o", "p", "q"] {
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
    let mut arguments = vec!["plan", "-out=saved"];
    arguments.extend(flags.iter().map(String::as_str));
    let (said, code) = place.run(&arguments);
    let problems: BTreeSet<&str> = said.lines().filter(|it| it.contains("Error: ")).collect();
    let problems = problems.into_iter().collect::<Vec<_>>().join("\n");
    let mut all = BTreeMap::from([
        ("problems".to_owned(), problems),
        ("exit".to_owned(), format!("{code:?}")),
    ]);
    if code == Some(0) {
        let (shown, _) = place.run(&["show", "-json", "saved"]);
        let document: Value = serde_json::from_str(&shown).expect("a plan's document");
        all.insert("changes".into(), apart(&changes(&document)));
        let (facts, _) = place.run(&["facts", "-plan=saved"]);
        all.extend(conclusions(&apart(&facts)));
        // Nothing is left to do once it was done.
        let (said, code) = place.run(&["apply", "-auto-approve", "saved"]);
        all.insert("applied".into(), format!("{code:?} {}", said.contains("Error: ")));
        let (state, _) = place.run(&["state", "list"]);
        let state: BTreeSet<String> = apart(&state).lines().map(str::to_owned).collect();
        all.insert("state".into(), state.into_iter().collect::<Vec<_>>().join("\n"));
    }
    // That a call is gone, and that an instance of a call is, are two reasons for the same.
    if pair.after.kinds.len() < KEYS.len() {
        for text in all.values_mut() {
            *text = text
                .replace("its module instance is gone", "its block is gone")
                .replace("delete_because_no_module", "delete_because_no_resource_config");
        }
    }
    Ok(all)
}

/// Returns whether the twins have a plan, or how they differ.
fn compare(pair: &Pair) -> Result<bool, String> {
    let mut text = String::new();
    let mut has_plan = false;
    match (outcome(pair, Way::OneCall), outcome(pair, Way::CallForEach)) {
        (Ok(one), Ok(each)) => {
            has_plan = one.contains_key("applied");
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
        return Ok(has_plan);
    }
    let _ = writeln!(text, "==== seed {} {:?} {:?}", pair.seed, pair.before.around, pair.flags);
    for (name, stage) in [("before", &pair.before), ("after", &pair.after)] {
        let _ = writeln!(text, "-- {name} --\n{}", stage.text(Way::OneCall));
        for (name, source) in &stage.sources {
            let _ = writeln!(text, "-- {name} --\n{source}");
        }
    }
    Err(text)
}
