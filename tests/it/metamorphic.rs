//! Two ways of saying the same must plan the same: instances whose keys only the walk knows, and their twins with keys that
//! are known before it. Random configurations, random changes since the last apply, random flags.
//!
//! `PAIRS=10000 cargo test --release --test it -- metamorphic` tries more of them; `FIRST=1234` begins there; `KEEP=folder`
//! leaves their folders there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::support::dice::Dice;
use crate::support::number;
use crate::support::place::Place;

#[path = "metamorphic/chains.rs"]
mod chains;

/// How many pairs are tried unless `PAIRS` says otherwise.
const PAIRS: u64 = 60;

/// Further ones, which differed once.
const DIFFERED: [u64; 1] = [545];

#[test]
fn what_is_known_late_plans_as_what_is_known_before() {
    hold(Pair::random, &DIFFERED);
}

#[test]
fn what_is_known_late_plans_alike_beside_chains_that_must_stay() {
    hold(chains::random, &[]);
}

/// Compares random pairs, and those of further seeds.
#[track_caller]
fn hold(random: fn(u64) -> Pair, further: &[u64]) {
    let (pairs, first) = (number("PAIRS").unwrap_or(PAIRS), number("FIRST").unwrap_or(1));
    let seeds: Vec<u64> = (first..first + pairs).chain(further.iter().copied()).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let differing: std::sync::Mutex<BTreeMap<u64, String>> = std::sync::Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(&seed) = seeds.get(at) else { return };
                    if let Some(difference) = compare(&random(seed)) {
                        differing.lock().expect("no thread panics").insert(seed, difference);
                    }
                }
            });
        }
    });
    let differing = differing.into_inner().expect("no thread panics");
    let mut text = String::new();
    for (seed, difference) in differing.iter().take(40) {
        let _ = write!(text, "==== {:?}\n{difference}", random(*seed).flags);
    }
    if let Some(first) = differing.keys().next() {
        text.push_str(&random(*first).text());
    }
    let wrong: Vec<&u64> = differing.keys().collect();
    let (all, count) = (seeds.len(), wrong.len());
    assert!(differing.is_empty(), "{count} of {all} pairs differ, {wrong:?}\n{text}");
}

/// What is late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Managed,
    Data,
    Module,
}

/// One configuration said in two ways, the one before it, and the options of the plan.
struct Pair {
    seed: u64,
    kind: Kind,
    before: String,
    late: String,
    known: String,
    inner: [String; 2],
    flags: Vec<String>,
    asked: Vec<&'static str>,
}

const KEYS: [&[&str]; 6] =
    [&["x", "y"], &["y", "z"], &["x"], &["x", "y", "z"], &["z"], &["y", "x"]];

impl Pair {
    fn random(seed: u64) -> Pair {
        let mut dice = Dice::of(seed);
        let kind = [Kind::Managed, Kind::Managed, Kind::Data, Kind::Module][dice.below(4)];
        let (old, new) = (KEYS[dice.below(6)], KEYS[dice.below(6)]);
        let block = late_block(&mut dice, kind);
        let inner = inner_module(&mut dice);
        let mut flags = flags(&mut dice, kind);
        // An object of a key set that is known later still may have to stay, with what it rests on.
        let excludes = flags.iter().any(|it| it.starts_with("-exclude"));
        let around = around(&mut dice, kind, excludes);
        let first = new[dice.below(new.len())];
        // Where all instances are wanted, so is all that any of them may read.
        let is_wanted_whole = |it: &String| it.starts_with("-target") && it.ends_with("late");
        let block = match flags.iter().any(is_wanted_whole) {
            true => {
                block.replace("up[each.key]", "up[\"x\"]").replace("names[each.key]", "names.x")
            }
            false => block,
        };
        let changed = |text: &str, dice: &mut Dice| {
            let mut text = text.to_owned();
            for (what, otherwise) in [
                ("= \"base\"", "= \"base, changed\""),
                ("\"replaced\"", "\"replaced, again\""),
                ("\"up-${each.key}\"", "\"up-${each.key == \"y\" ? \"changed\" : each.key}\""),
            ] {
                if dice.one_in(3) {
                    text = text.replace(what, otherwise);
                }
            }
            text
        };
        let list =
            |keys: &[&str]| keys.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(", ");
        let seed_block =
            format!("resource \"terraform_data\" \"seed\" {{ input = [{}] }}\n", list(new));
        let from_known = |keys: &[&str]| {
            let pairs: Vec<String> =
                keys.iter().map(|it| format!("{it} = terraform_data.seed.id")).collect();
            format!("toset(keys({{ {} }}))", pairs.join(", "))
        };
        let before_protected = block.replace("prevent_destroy = true", "prevent_destroy = false");
        let before = format!(
            "{seed_block}{}{}",
            around.replace("FIRST", old[0]),
            before_protected.replace("KEYS", &from_known(old))
        );
        let around = changed(&around.replace("FIRST", first), &mut dice);
        let after = format!("{around}{block}");
        let inner_after = changed(&inner, &mut dice);
        // What may be an instance counts as one until it is known that there is none.
        let is_there = |it: &String| {
            ["x", "y", "z"]
                .iter()
                .all(|key| !it.contains(&format!("late[{key:?}]")) || new.contains(key))
        };
        flags.retain(|it| !it.starts_with("-target") || is_there(it));
        Pair {
            seed,
            kind,
            before,
            late: format!(
                "{seed_block}{}",
                after.replace("KEYS", "toset(terraform_data.seed.output)")
            ),
            known: format!("{seed_block}{}", after.replace("KEYS", &from_known(new))),
            inner: [inner, inner_after],
            flags,
            asked: match kind {
                Kind::Module => vec![
                    "module.late[\"x\"].terraform_data.in",
                    "module.late[\"y\"].terraform_data.in",
                    "module.late[\"z\"].terraform_data.in",
                ],
                Kind::Data => vec!["data.local_file.late[\"x\"]", "data.local_file.late[\"y\"]"],
                Kind::Managed => vec![
                    "terraform_data.late[\"x\"]",
                    "terraform_data.late[\"y\"]",
                    "terraform_data.late[\"z\"]",
                ],
            },
        }
    }

    fn text(&self) -> String {
        let mut text = format!("==== seed {} ({:?}) {:?}\n", self.seed, self.kind, self.flags);
        let _ = write!(text, "-- before --\n{}-- late --\n{}", self.before, self.late);
        if self.kind == Kind::Module {
            let _ =
                write!(text, "-- inner --\n{}-- inner, after --\n{}", self.inner[0], self.inner[1]);
        }
        text
    }
}

/// The block that repeats.
fn late_block(dice: &mut Dice, kind: Kind) -> String {
    let value = |dice: &mut Dice| {
        dice.pick(&[
            "each.key",
            "each.value",
            "terraform_data.up[each.key].output",
            "terraform_data.base.output",
            "[each.key, terraform_data.up[\"x\"].id]",
            "local.names[each.key]",
            "local.all",
            "length(terraform_data.up)",
        ])
        .to_owned()
    };
    let condition = |dice: &mut Dice| {
        dice.pick(&[
            "terraform_data.base.output != \"never\"",
            "terraform_data.up[each.key].output != \"never\"",
            "each.key != \"never\"",
        ])
        .to_owned()
    };
    let mut text = String::new();
    let mut lifecycle = String::new();
    match kind {
        Kind::Managed => {
            let _ = writeln!(text, "resource \"terraform_data\" \"late\" {{\n  for_each = KEYS");
            let _ = writeln!(text, "  input    = {}", value(dice));
            if dice.one_in(3) {
                let _ = writeln!(text, "  triggers_replace = {}", value(dice));
            }
            if dice.one_in(3) {
                let trigger = dice.pick(&[
                    "terraform_data.base",
                    "terraform_data.up[each.key]",
                    "terraform_data.up",
                    "terraform_data.base.output",
                    "terraform_data.up[each.key].output",
                ]);
                let _ = writeln!(lifecycle, "    replace_triggered_by = [{trigger}]");
            }
            if dice.one_in(4) {
                let _ = writeln!(lifecycle, "    create_before_destroy = true");
            }
            if dice.one_in(5) {
                let _ = writeln!(lifecycle, "    prevent_destroy = true");
            }
        }
        Kind::Data => {
            let _ = writeln!(text, "data \"local_file\" \"late\" {{\n  for_each = KEYS");
            let name = dice.pick(&[
                "\"${each.key}.txt\"",
                "terraform_data.up[each.key].output == \"up\" ? \"x.txt\" : \"${each.key}.txt\"",
                "terraform_data.base.output == \"\" ? \"x.txt\" : \"y.txt\"",
            ]);
            let _ = writeln!(text, "  filename = {name}");
        }
        Kind::Module => {
            let _ =
                writeln!(text, "module \"late\" {{\n  source   = \"./inner\"\n  for_each = KEYS");
            let _ = writeln!(text, "  name     = each.key\n  value    = {}", value(dice));
        }
    }
    if dice.one_in(3) {
        let _ = writeln!(
            text,
            "  depends_on = [{}]",
            dice.pick(&["terraform_data.base", "terraform_data.up", "terraform_data.other"])
        );
    }
    if kind != Kind::Module && dice.one_in(3) {
        let _ = writeln!(
            lifecycle,
            "    precondition {{\n      condition     = {}\n      error_message = \"no\"\n    }}",
            condition(dice)
        );
    }
    if kind != Kind::Module && dice.one_in(4) {
        let own = if kind == Kind::Data { "self.content" } else { "self.id" };
        let _ = writeln!(
            lifecycle,
            "    postcondition {{\n      condition     = {own} != \"never\"\n      error_message = \"no\"\n    }}"
        );
    }
    if !lifecycle.is_empty() {
        let _ = writeln!(text, "  lifecycle {{\n{lifecycle}  }}");
    }
    text + "}\n"
}

/// The module that repeats, where one does.
fn inner_module(dice: &mut Dice) -> String {
    let repeats = dice.pick(&[
        "",
        "  count = length(var.name)\n",
        "  for_each = toset([var.name, \"always\"])\n",
    ]);
    let one = match *repeats {
        "" => "terraform_data.more",
        it if it.contains("count") => "terraform_data.more[0]",
        _ => "terraform_data.more[\"always\"]",
    };
    let validation = match dice.one_in(2) {
        true => {
            "  validation {\n    condition     = var.name != \"never\"\n    error_message = \"no\"\n  }\n"
        }
        false => "",
    };
    let lifecycle = dice.pick(&[
        "",
        "  lifecycle {\n    create_before_destroy = true\n  }\n",
        "  lifecycle {\n    replace_triggered_by = [terraform_data.in]\n  }\n",
    ]);
    format!(
        "variable \"name\" {{\n  type = string\n{validation}}}\nvariable \"value\" {{}}\nlocals {{ both = [var.name, var.value] }}
resource \"terraform_data\" \"in\" {{\n  input = local.both\n  triggers_replace = \"replaced\"\n}}
resource \"terraform_data\" \"more\" {{\n{repeats}  input = {}\n{lifecycle}}}
output \"id\" {{ value = terraform_data.in.id }}\noutput \"name\" {{ value = var.name }}\noutput \"one\" {{ value = {one}.output }}\n",
        dice.pick(&["terraform_data.in.output", "var.name", "terraform_data.in.id"]),
    )
}

/// What it reads, and what reads it.
fn around(dice: &mut Dice, kind: Kind, excludes: bool) -> String {
    let replaces = if dice.one_in(2) { "\n  triggers_replace = \"replaced\"" } else { "" };
    let first = "FIRST";
    let (one, all) = match kind {
        Kind::Managed => (format!("terraform_data.late[{first:?}].output"), "terraform_data.late"),
        Kind::Data => (format!("data.local_file.late[{first:?}].content"), "data.local_file.late"),
        Kind::Module => (format!("module.late[{first:?}].one"), "module.late"),
    };
    let each = match kind {
        Kind::Managed => "id",
        Kind::Data => "filename",
        Kind::Module => "id",
    };
    let mut text = format!(
        "resource \"terraform_data\" \"base\" {{\n  input = \"base\"{replaces}\n}}
resource \"terraform_data\" \"up\" {{\n  for_each = toset([\"x\", \"y\", \"z\"])\n  input    = \"up-${{each.key}}\"{}\n}}
resource \"terraform_data\" \"other\" {{ input = \"other\" }}
locals {{\n  names = {{ x = terraform_data.up[\"x\"].id, y = terraform_data.base.id, z = \"z\" }}\n  all   = values(terraform_data.up)[*].output\n}}\n",
        dice.pick(&["", "\n  triggers_replace = \"replaced\""]),
    );
    let mut user = |name: &str, value: &str| {
        let _ = writeln!(text, "resource \"terraform_data\" {name:?} {{ input = {value} }}");
    };
    if dice.one_in(2) {
        user("user", &one);
    }
    if dice.one_in(3) {
        user("users", &format!("[for it in {all} : it.{each}]"));
    }
    if kind != Kind::Module && dice.one_in(4) {
        user("counter", &format!("length({all})"));
    }
    if kind != Kind::Module && !excludes && dice.one_in(3) {
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"alike\" {{\n  for_each = {all}\n  input    = {all}[each.key].{each}\n}}"
        );
    }
    if dice.one_in(2) {
        let _ = writeln!(text, "output \"one\" {{ value = {one} }}");
    }
    if dice.one_in(2) {
        let _ = writeln!(text, "output \"all\" {{ value = [for it in {all} : it.{each}] }}");
    }
    text
}

fn flags(dice: &mut Dice, kind: Kind) -> Vec<String> {
    let whole = match kind {
        Kind::Managed => "terraform_data.late",
        Kind::Data => "data.local_file.late",
        Kind::Module => "module.late",
    };
    let mut flags = Vec::new();
    for _ in 0..[0, 1, 1, 1, 2][dice.below(5)] {
        let address = match dice.below(9) {
            0 => whole.to_owned(),
            1..=3 => format!("{whole}[{:?}]", dice.pick(&["x", "y", "z"])),
            4 => format!("terraform_data.up[{:?}]", dice.pick(&["x", "y"])),
            5 => "terraform_data.base".into(),
            6 => "terraform_data.up".into(),
            7 => "terraform_data.other".into(),
            _ => "terraform_data.base".into(),
        };
        let inside = match kind {
            Kind::Module if address.starts_with("module") => format!("{address}.terraform_data.in"),
            _ => address.clone(),
        };
        flags.push(match dice.below(8) {
            0..=3 => format!("-exclude={address}"),
            4..=5 => format!("-target={address}"),
            6 if inside.ends_with(']') || inside.ends_with("base") || inside.ends_with(".in") => {
                format!("-replace={inside}")
            }
            _ => format!("-exclude={inside}"),
        });
    }
    if flags.iter().any(|it| it.starts_with("-target")) {
        flags.retain(|it| !it.starts_with("-exclude") || dice.one_in(2));
    }
    match dice.below(14) {
        0 if !flags.iter().any(|it| it.starts_with("-replace")) => flags.push("-destroy".into()),
        1 => flags.push("-refresh=false".into()),
        _ => {}
    }
    flags
}

/// Leaves out what a destroy run says of instances that never were: keys that cannot be known are those of the state.
fn without_absent(rows: &mut BTreeMap<String, String>, place: &Place) {
    let (there, _) = place.run(&["state", "list"]);
    let there: BTreeSet<&str> = there.lines().collect();
    let is_absent = |line: &str| {
        let address = line.split([',', ' ']).next().unwrap_or_default();
        address.contains('[') && !address.starts_with("provider") && !there.contains(address)
    };
    for rows in rows.values_mut() {
        let kept = |it: &&str| {
            let served = it.strip_prefix("provider").and_then(|it| it.split(", ").nth(1));
            !is_absent(served.unwrap_or(it))
        };
        *rows = rows.lines().filter(kept).collect::<Vec<_>>().join("\n");
    }
}

/// What a folder makes of a plan: everything that its twin must make, too.
fn outcome(pair: &Pair, config: &str, state: &str) -> BTreeMap<String, String> {
    let place = folder(pair, config, 1);
    place.write("terraform.tfstate", state);
    let mut all = BTreeMap::new();
    let flags: Vec<&str> = pair.flags.iter().map(String::as_str).collect();
    let (said, code) = place.run(&[&["plan", "-no-color", "-out=p"], &flags[..]].concat());
    let destroys = pair.flags.iter().any(|it| it == "-destroy");
    let problems =
        said.lines().filter(|it| it.contains("Error: ") || it.contains("Warning: ") && !destroys);
    let problems: BTreeSet<&str> = problems.collect();
    all.insert("problems".into(), problems.into_iter().collect::<Vec<_>>().join("\n"));
    all.insert("exit".into(), format!("{code:?}"));
    if code != Some(0) {
        return all;
    }
    let (shown, _) = place.run(&["show", "-json", "p"]);
    let document: Value = serde_json::from_str(&shown).expect("a plan's document");
    all.insert("changes".into(), changes(&document));
    let (facts, _) = place.run(&["facts", "-plan=p"]);
    all.extend(conclusions(&facts));
    if destroys {
        without_absent(&mut all, &place);
        return all;
    }
    for address in &pair.asked {
        let (why, _) = place.run(&["why", "-plan=p", address]);
        // Of several ways that are equally short, either may be told: what is said first, how far it goes, and where to.
        let lines: Vec<&str> = why.lines().collect();
        let end = lines.last().and_then(|it| it.rsplit("  ").next());
        let why = format!("{:?} {} {:?}", lines.first(), lines.len(), end);
        all.insert(format!("why {address}"), why);
    }
    all
}

fn folder(pair: &Pair, config: &str, stage: usize) -> Place {
    let place = Place::new(config);
    if pair.kind == Kind::Module {
        std::fs::create_dir(place.path().join("inner")).expect("a folder");
        place.write("inner/main.tf", &pair.inner[stage]);
    }
    for name in ["x", "y", "z"] {
        place.write(&format!("{name}.txt"), name);
    }
    let (said, code) = place.run(&["init"]);
    assert_eq!(code, Some(0), "{}\n{said}", pair.text());
    place
}

/// What is planned for each object and output.
pub fn changes(document: &Value) -> String {
    let mut lines = BTreeSet::new();
    for it in document["resource_changes"].as_array().into_iter().flatten() {
        lines.insert(format!(
            "{} {} {} {}",
            it["address"].as_str().unwrap_or_default(),
            it["change"]["actions"],
            it["action_reason"],
            it["change"]["replace_paths"]
        ));
    }
    for (name, it) in document["output_changes"].as_object().into_iter().flatten() {
        lines.insert(format!("output {name} {}", it["actions"]));
    }
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

/// The conclusions that must be the same, and the order of the steps, whatever lies between them.
pub fn conclusions(facts: &str) -> BTreeMap<String, String> {
    let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut after: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut steps: BTreeSet<String> = BTreeSet::new();
    for line in facts.lines() {
        let Some((relation, row)) = line.trim_end().trim_end_matches(')').split_once('(') else {
            continue;
        };
        if row.contains("not yet known") {
            continue;
        }
        match relation {
            "selected" | "excluded" | "untargeted" | "action" | "blocked" | "replaced"
            | "fired" | "deferred" | "reads_now" | "reuses" | "recalculated" | "keeps_value"
            | "cbd" | "violation" | "serves" => {
                rows.entry(relation.into()).or_default().insert(row.into());
            }
            "step" => {
                steps.insert(row.into());
            }
            "before" => {
                let cells: Vec<&str> = row.split(", ").collect();
                if let [n, f, m, g] = cells[..] {
                    after.entry(format!("{n}, {f}")).or_default().push(format!("{m}, {g}"));
                }
            }
            _ => {}
        }
    }
    let mut order = BTreeSet::new();
    for step in &steps {
        let (mut seen, mut open) = (BTreeSet::new(), vec![step]);
        while let Some(next) = open.pop() {
            for later in after.get(next).into_iter().flatten() {
                if seen.insert(later) {
                    open.push(later);
                    if steps.contains(later) {
                        order.insert(format!("{step} before {later}"));
                    }
                }
            }
        }
    }
    rows.insert("order".into(), order);
    rows.insert("steps".into(), steps);
    let joined = |it: BTreeSet<String>| it.into_iter().collect::<Vec<_>>().join("\n");
    rows.into_iter().map(|(name, rows)| (name, joined(rows))).collect()
}

/// Leaves the two folders of a pair in the folder that `KEEP` names, to be looked at by hand.
fn keep(pair: &Pair, state: &str) {
    let Ok(folder) = std::env::var("KEEP") else { return };
    for (name, config) in [("late", &pair.late), ("known", &pair.known)] {
        let folder = std::path::Path::new(&folder).join(pair.seed.to_string()).join(name);
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text);
        let inner = folder.join("inner");
        std::fs::create_dir_all(&inner).expect("a folder");
        write("main.tf", config).expect("it is written");
        write("terraform.tfstate", state).expect("it is written");
        std::fs::write(inner.join("main.tf"), &pair.inner[1]).expect("it is written");
        for name in ["x", "y", "z"] {
            write(&format!("{name}.txt"), name).expect("it is written");
        }
    }
}

/// Returns how the twins differ, if they do.
fn compare(pair: &Pair) -> Option<String> {
    let before = folder(pair, &pair.before, 0);
    let (said, code) = before.run(&["apply", "-auto-approve"]);
    if code != Some(0) {
        return Some(format!("{}the first apply failed:\n{said}", pair.text()));
    }
    let state = std::fs::read_to_string(before.path().join("terraform.tfstate")).expect("a state");
    keep(pair, &state);
    let late = outcome(pair, &pair.late, &state);
    let known = outcome(pair, &pair.known, &state);
    let names: BTreeSet<&String> = late.keys().chain(known.keys()).collect();
    let mut text = String::new();
    for name in names {
        let none = String::new();
        let (late, known) = (late.get(name).unwrap_or(&none), known.get(name).unwrap_or(&none));
        if late != known {
            let _ = writeln!(text, "-- {name} --");
            let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) =
                (late.lines().collect(), known.lines().collect());
            let mut tell = |who: &str, it: &str| {
                let _ = writeln!(text, "{who} {it}");
            };
            ours.difference(&theirs).for_each(|it| tell("late: ", it));
            theirs.difference(&ours).for_each(|it| tell("known:", it));
        }
    }
    (!text.is_empty()).then(|| format!("seed {} ({:?})\n{text}", pair.seed, pair.kind))
}
