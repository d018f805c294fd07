//! Random configurations by OpenTofu: applied, changed, planned with random flags and applied again, compared in what is
//! planned, and in the state.
//!
//! Needs the program: `ENTAIL_TOFU=/path/to/tofu`. `CONFIGS=200` tries more of them, `FIRST=7` begins there. What differs on
//! purpose is kept out, and stands in `docs/compatibility.md`: `create_before_destroy`, outputs under `-exclude`, the status of
//! conditions under `-target`, what a run that only records takes for the keys of a block, and what an apply with `-target` leaves
//! out of its plan. Half of the configurations are planned with selections: they name whole blocks, whose keys stay, for OpenTofu
//! selects blocks.

#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::dice::Dice;
use crate::support::{binary, number};

#[test]
fn random_configurations_go_as_with_opentofu() {
    let Ok(tofu) = std::env::var("ENTAIL_TOFU") else {
        eprintln!("ENTAIL_TOFU names no program: random configurations are not compared");
        return;
    };
    let (configs, first) = (number("CONFIGS").unwrap_or(20), number("FIRST").unwrap_or(1));
    let programs = [Path::new(&tofu), binary::path()];
    let mut differing = String::new();
    for seed in first..first + configs {
        let course = Course::random(seed);
        let [theirs, ours] = programs.map(|it| course.run(it));
        if theirs != ours {
            let _ = writeln!(differing, "==== {seed} {:?}\n{}", course.flags, course.after);
            for (theirs, ours) in theirs.iter().zip(&ours).filter(|it| it.0 != it.1).take(1) {
                let _ = writeln!(differing, "theirs: {theirs:#}\nours: {ours:#}");
            }
        }
    }
    assert_eq!(differing, "", "of {configs} configurations");
}

/// A configuration, what becomes of it, and the flags of the two plans that follow.
pub struct Course {
    /// What is applied first.
    pub before: String,
    after: String,
    flags: [Vec<String>; 2],
}

/// How a block repeats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    Not,
    Count(usize),
    Keys(&'static [&'static str]),
}

#[derive(Clone)]
struct Block {
    name: String,
    repeats: Repeats,
    input: String,
    trigger: Option<String>,
    replaced_by: Option<String>,
    depends_on: Option<String>,
}

const KEYS: [&[&str]; 4] = [&["a"], &["a", "b"], &["a", "b", "c"], &["a", "c"]];

/// The module `m` of each.
pub const INNER: &str = "variable \"value\" {}
resource \"terraform_data\" \"in\" { input = var.value }
resource \"terraform_data\" \"more\" {
  count = 2
  input = terraform_data.in.output
}
output \"id\" { value = terraform_data.in.id }
";

impl Block {
    fn address(&self) -> String {
        format!("terraform_data.{}", self.name)
    }

    fn random(dice: &mut Dice, name: String, earlier: &[Block], selects: bool) -> Block {
        let repeats = match dice.below(4) {
            0 => Repeats::Count(1 + dice.below(3)),
            1 => Repeats::Keys(KEYS[dice.below(KEYS.len())]),
            _ => Repeats::Not,
        };
        let trigger = dice.one_in(3).then(|| reference(dice, earlier, selects));
        // What has count = 0 is no trigger there.
        let whole =
            |dice: &mut Dice| earlier.get(dice.below(earlier.len().max(1))).map(Block::address);
        let replaced_by = if dice.one_in(4) { whole(dice) } else { None };
        let depends_on = if dice.one_in(5) { whole(dice) } else { None };
        let input = reference(dice, earlier, selects);
        Block { name, repeats, input, trigger, replaced_by, depends_on }
    }

    fn change(&mut self, dice: &mut Dice, keys_stay: bool) {
        match (dice.below(8), self.repeats) {
            (0, _) => self.input = "\"changed\"".into(),
            (1, _) => self.trigger = Some("\"new\"".into()),
            _ if keys_stay => {}
            (2 | 3, Repeats::Count(_)) => self.repeats = Repeats::Count(1 + dice.below(3)),
            (2 | 3, Repeats::Keys(_)) => self.repeats = Repeats::Keys(KEYS[dice.below(KEYS.len())]),
            _ => {}
        }
    }

    fn text(&self) -> String {
        let mut text = format!("resource \"terraform_data\" {:?} {{\n", self.name);
        let _ = match self.repeats {
            Repeats::Not => Ok(()),
            Repeats::Count(count) => writeln!(text, "  count = {count}"),
            Repeats::Keys(keys) => writeln!(text, "  for_each = toset({keys:?})"),
        };
        let _ = writeln!(text, "  input = {}", self.input);
        if let Some(trigger) = &self.trigger {
            let _ = writeln!(text, "  triggers_replace = {trigger}");
        }
        if let Some(other) = &self.depends_on {
            let _ = writeln!(text, "  depends_on = [{other}]");
        }
        if let Some(other) = &self.replaced_by {
            let _ = writeln!(text, "  lifecycle {{\n    replace_triggered_by = [{other}]\n  }}");
        }
        text + "}\n"
    }
}

/// Something that can be said where these blocks are there, of one instance or of whole blocks only.
fn reference(dice: &mut Dice, blocks: &[Block], whole: bool) -> String {
    let mut all = vec!["\"const\"".to_owned(), "var.v".to_owned()];
    for block in blocks {
        let it = block.address();
        all.extend(match block.repeats {
            Repeats::Count(_) if whole => vec![format!("{it}[*].output")],
            Repeats::Keys(_) if whole => vec![format!("[for it in {it} : it.output]")],
            Repeats::Not => vec![format!("{it}.output"), format!("{it}.id"), format!("[{it}.id]")],
            Repeats::Count(_) => vec![format!("{it}[*].output"), format!("{it}[0].id")],
            Repeats::Keys(_) => {
                vec![format!("[for it in {it} : it.output]"), format!("{it}[\"a\"].output")]
            }
        });
    }
    dice.pick(&all).clone()
}

impl Course {
    /// Returns the course of a seed.
    pub fn random(seed: u64) -> Course {
        let mut dice = Dice::of(seed);
        let selects = dice.one_in(2);
        let mut blocks: Vec<Block> = Vec::new();
        for number in 0..2 + dice.below(4) {
            let block = Block::random(&mut dice, format!("r{number}"), &blocks, selects);
            blocks.push(block);
        }
        let mut around = String::new();
        for number in 0..dice.below(3) {
            let value = reference(&mut dice, &blocks, selects);
            let _ = writeln!(around, "output \"o{number}\" {{ value = {value} }}");
        }
        let has_module = dice.one_in(3);
        if has_module {
            let repeats = dice.pick(&["", "  count = 2\n", "  for_each = toset([\"a\", \"b\"])\n"]);
            let value = reference(&mut dice, &blocks, selects);
            let _ = writeln!(
                around,
                "module \"m\" {{\n  source = \"./m\"\n{repeats}  value = {value}\n}}"
            );
        }
        let text = |blocks: &[Block], version: usize| {
            let blocks: String = blocks.iter().map(Block::text).collect();
            format!("variable \"v\" {{ default = \"{version}\" }}\n{blocks}{around}")
        };
        let before = text(&blocks, 1);
        let flags = [(); 2].map(|()| flags(&mut dice, &blocks, has_module, selects));
        let keys_stay = selects || flags.iter().flatten().any(|it| it == "-refresh-only");
        blocks.iter_mut().for_each(|it| it.change(&mut dice, keys_stay));
        let after = text(&blocks, 1 + dice.below(2));
        Course { before, after, flags }
    }

    /// What a program makes of it, step by step, as far as it comes.
    fn run(&self, program: &Path) -> Vec<Value> {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("it is written");
        };
        let run = |arguments: &[&str]| run(program, folder.path(), arguments);
        std::fs::create_dir(folder.path().join("m")).expect("a folder");
        write("m/main.tf", INNER);
        write("main.tf", &self.before);
        run(&["init", "-no-color"]);
        let first = run(&["apply", "-auto-approve", "-no-color"]);
        let mut seen = vec![json!([first.status.code(), state(folder.path())])];
        write("main.tf", &self.after);
        for flags in &self.flags {
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let planned = run(&[&["plan", "-no-color", "-out=p"], &flags[..]].concat());
            if !planned.status.success() {
                seen.push(json!([planned.status.code()]));
                return seen;
            }
            let document = serde_json::from_slice(&run(&["show", "-json", "p"]).stdout);
            let document = document.expect("a plan's document");
            let has = |flag: &str| flags.iter().any(|it| it.starts_with(flag));
            seen.push(changes(&document, has("-exclude")));
            if has("-exclude") || has("-target") {
                return seen;
            }
            let applied = run(&["apply", "-no-color", "p"]);
            seen.push(json!([applied.status.code(), state(folder.path())]));
        }
        seen
    }
}

fn flags(dice: &mut Dice, blocks: &[Block], has_module: bool, selects: bool) -> Vec<String> {
    let module = has_module.then(|| "module.m".to_owned());
    let all: Vec<String> = blocks.iter().map(Block::address).chain(module).collect();
    let mut flags = match dice.below(6) {
        _ if !selects => Vec::new(),
        0 | 1 => vec![format!("-target={}", dice.pick(&all))],
        2 => vec![format!("-exclude={}", dice.pick(&all))],
        3 => vec![format!("-target={}", dice.pick(&all)), format!("-target={}", dice.pick(&all))],
        _ => Vec::new(),
    };
    match dice.below(7) {
        0 => flags.push("-destroy".into()),
        1 => flags.push("-refresh=false".into()),
        2 => flags.push("-refresh-only".into()),
        3 => {
            let single = blocks.iter().find(|it| it.repeats == Repeats::Not);
            flags.extend(single.map(|it| format!("-replace={}", it.address())));
        }
        _ => {}
    }
    flags
}

fn run(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("TF_IN_AUTOMATION", "1")
        .env("TF_INPUT", "0")
        .env_remove("TF_WORKSPACE")
        .output()
        .expect("the program starts")
}

/// What a plan's document says is done, and with which outputs.
fn changes(document: &Value, excludes: bool) -> Value {
    let of_resource = |it: &Value| {
        let change = &it["change"];
        json!([
            it["address"],
            change["actions"],
            it["action_reason"],
            change["replace_paths"],
            change["after_unknown"]
        ])
    };
    let listed = |name: &str| document[name].as_array().cloned().unwrap_or_default();
    let resources: Vec<Value> = listed("resource_changes").iter().map(of_resource).collect();
    let drifted: Vec<Value> = listed("resource_drift").iter().map(of_resource).collect();
    let outputs = document["output_changes"].as_object().cloned().unwrap_or_default();
    let outputs = outputs.iter().filter(|_| !excludes);
    let outputs: Vec<Value> = outputs.map(|it| json!([it.0, it.1["actions"]])).collect();
    json!({ "resources": resources, "drift": drifted, "outputs": outputs })
}

/// What the state holds, with names of their own for ids that are made by chance.
fn state(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("terraform.tfstate")).unwrap_or_default();
    let state: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut rows: BTreeMap<String, Value> = BTreeMap::new();
    for resource in state["resources"].as_array().into_iter().flatten() {
        for instance in resource["instances"].as_array().into_iter().flatten() {
            let name =
                format!("{} {} {}", resource["module"], resource["name"], instance["index_key"]);
            let row = json!([instance["status"], instance["attributes"], instance["dependencies"]]);
            rows.insert(name, row);
        }
    }
    crate::opentofu::normal(
        json!({ "outputs": state["outputs"], "objects": rows }),
        &mut BTreeMap::new(),
    )
}
