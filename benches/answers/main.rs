//! How long answers take, from the start of the program to its last word: `why`, `impact`, `diff`, completion, and a plan whose
//! variables are given beside one whose variables are not.
//!
//! ```text
//! cargo bench --bench answers                    # every case
//! cargo bench --bench answers -- why             # the cases with this in their names
//! cargo bench --bench answers -- - PATH          # with another program
//! ```
//!
//! Nothing here is a test: a table is printed, and people judge it. What it is to be judged by stands behind each case.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// How many objects stand in one layer of the configuration; there are ten.
type Width = usize;

/// A case: its name, the width of the layers, what is run before it, what is measured, and what is wanted of it.
struct Case {
    name: &'static str,
    width: Width,
    before: &'static [&'static [&'static str]],
    measured: &'static [&'static str],
    wanted: &'static str,
}

const SAVED: &[&[&str]] = &[&["init"], &["plan", "-out=one"], &["plan", "-out=two", "-var=tag=2"]];
const LAST: &str = "terraform_data.b9[\"k7\"]";

const CASES: &[Case] = &[
    Case {
        name: "why, saved",
        width: 10_000,
        before: SAVED,
        measured: &["why", "-plan=two", LAST],
        wanted: "1 s",
    },
    Case {
        name: "why, asked anew",
        width: 10_000,
        before: &[&["init"]],
        measured: &["why", "-var=tag=2", LAST],
        wanted: "no more than a plan",
    },
    Case {
        name: "impact",
        width: 10_000,
        before: &[&["init"]],
        measured: &["impact", "terraform_data.b0[\"k7\"]"],
        wanted: "0.5 s",
    },
    Case {
        name: "impact, variable",
        width: 10_000,
        before: &[&["init"]],
        measured: &["impact", "-depth=2", "var.tag"],
        wanted: "0.5 s",
    },
    Case {
        name: "diff",
        width: 1_000,
        before: SAVED,
        measured: &["diff", "one", "two"],
        wanted: "2 s",
    },
    Case {
        name: "plan",
        width: 10_000,
        before: &[&["init"]],
        measured: &["plan", "-out=one"],
        wanted: "the measure of the next",
    },
    Case {
        name: "plan, with values",
        width: 10_000,
        before: &[&["init"]],
        measured: &["plan", "-out=one", "-var=tag=2"],
        wanted: "5 % more",
    },
    Case {
        name: "completion",
        width: 1_000,
        before: &[&["init"], &["apply", "-auto-approve"]],
        measured: &["__complete", "bash", "entail state show terraform_data.b9"],
        wanted: "0.1 s",
    },
];

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let wanted = given.first().filter(|it| *it != "-");
    let program = given.get(1).cloned().unwrap_or_else(beside);
    for case in CASES.iter().filter(|it| wanted.is_none_or(|name| it.name.contains(name.as_str())))
    {
        match run(&program, case) {
            Ok(seconds) => println!(
                "{:<18} {:>7} objects  {seconds:>7.3} s  (wanted: {})",
                case.name,
                case.width * 10,
                case.wanted
            ),
            Err(why) => println!("{}: {why}", case.name),
        }
    }
}

/// The program that lies beside the benches: `cargo build --release` makes it.
fn beside() -> String {
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    folder.join("entail").display().to_string()
}

/// The least of three runs, in seconds.
fn run(program: &str, case: &Case) -> Result<f64, String> {
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    let text = configuration(case.width);
    std::fs::write(folder.path().join("main.tf"), text).map_err(|it| it.to_string())?;
    for arguments in case.before {
        once(program, folder.path(), arguments)?;
    }
    let mut least = f64::MAX;
    for _ in 0..3 {
        least = least.min(once(program, folder.path(), case.measured)?);
    }
    Ok(least)
}

/// Runs the program to its end; how long that takes, in seconds.
fn once(program: &str, folder: &Path, arguments: &[&str]) -> Result<f64, String> {
    let start = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .stdin(Stdio::null())
        .output()
        .map_err(|it| it.to_string())?;
    // 2 says that there is a difference.
    if !matches!(output.status.code(), Some(0 | 2)) || output.stdout.is_empty() {
        return Err(format!(
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Ten layers of so many objects, each of which reads that of the layer before by its key.
fn configuration(width: Width) -> String {
    let mut text = String::from("variable \"tag\" { default = \"1\" }\n");
    // A range holds a thousand numbers at most.
    let hundreds = width / 100;
    let _ = writeln!(
        text,
        "locals {{ keys = toset(flatten([for a in range({hundreds}) : [for b in range(100) : \"k${{a * 100 + b}}\"]])) }}"
    );
    for layer in 0..10 {
        let input = match layer {
            0 => "\"${each.key}:${var.tag}\"".to_owned(),
            _ => format!("terraform_data.b{}[each.key].output", layer - 1),
        };
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"b{layer}\" {{\n  for_each = local.keys\n  input    = {input}\n}}"
        );
    }
    text
}
