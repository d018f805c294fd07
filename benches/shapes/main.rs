//! Configurations of known shapes and sizes, and how long programs take to plan and apply them.
//!
//! ```text
//! cargo build --release
//! cargo bench --bench shapes                                # what the README promises, beside what is installed
//! cargo bench --bench shapes -- compare layered 1000        # one shape and size
//! cargo bench --bench shapes -- alone fleet 100000          # entail only
//! cargo bench --bench shapes -- generate wide 1000 FOLDER   # only write it
//! ```
//!
//! Nothing here is a test: a table is printed, and people judge it.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod generate;
mod measure;

use generate::Shape;
use measure::{Program, Run};

/// Shapes and sizes that `terraform` and `tofu` are run beside, as their times are bearable there.
const BESIDE: &[(Shape, usize)] = &[
    (Shape::Layered, 1_000),
    (Shape::Chain, 1_000),
    (Shape::ForEach, 1_000),
    (Shape::Modules, 1_000),
    (Shape::Layered, 4_000),
];

/// Shapes and sizes for entail alone. Ten times the size may take thirteen times as long.
const ALONE: &[(Shape, usize)] = &[
    (Shape::Wide, 10_000),
    (Shape::Wide, 100_000),
    (Shape::Layered, 10_000),
    (Shape::Layered, 100_000),
    (Shape::Fleet, 10_000),
    (Shape::Fleet, 100_000),
    (Shape::Chain, 10_000),
    (Shape::Regions, 10_000),
    (Shape::Regions, 100_000),
];

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match &words[..] {
        [] => everything(),
        ["generate", shape, size, folder] => {
            read(shape, size).and_then(|it| generate::write(it.0, it.1, Path::new(folder)))
        }
        ["compare", shape, size] => read(shape, size).and_then(|it| table(&[it], &programs())),
        ["alone", shape, size] => read(shape, size).and_then(|it| table(&[it], &programs()[..1])),
        _ => {
            Err("expected: compare SHAPE SIZE, alone SHAPE SIZE, or generate SHAPE SIZE FOLDER"
                .into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn read(shape: &str, size: &str) -> Result<(Shape, usize), String> {
    let known = Shape::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
    let shape = Shape::ALL.iter().find(|it| it.name() == shape);
    let shape = shape.ok_or(format!("no such shape; there are {known}"))?;
    Ok((*shape, size.parse().map_err(|_| format!("`{size}` is no size"))?))
}

fn everything() -> Result<(), String> {
    let programs = programs();
    table(BESIDE, &programs)?;
    table(ALONE, &programs[..1])
}

/// Returns entail, built beside this bench, and which other programs there are.
fn programs() -> Vec<Program> {
    let bench = std::env::current_exe().unwrap_or_default();
    let beside = bench.parent().and_then(Path::parent).unwrap_or(Path::new("target/release"));
    let own = Program { name: "entail".into(), path: beside.join("entail") };
    let others = ["terraform", "tofu"].into_iter().filter_map(|name| {
        let path = std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|it| it.join(name))
            .find(|it: &PathBuf| it.is_file())?;
        Some(Program { name: name.into(), path })
    });
    std::iter::once(own).chain(others).collect()
}

/// Runs everything and prints one line for each shape, size and program: seconds, and how many times entail's.
fn table(cases: &[(Shape, usize)], programs: &[Program]) -> Result<(), String> {
    println!(
        "{:<10} {:>7}  {:<10} {:>9} {:>7}  {:>9} {:>7}  {:>9} {:>7}  {:>8}",
        "shape",
        "size",
        "program",
        "plan s",
        "ratio",
        "apply s",
        "ratio",
        "again s",
        "ratio",
        "peak MB"
    );
    for &(shape, size) in cases {
        let mut first: Option<Run> = None;
        for program in programs {
            let run = measure::run(program, shape, size)?;
            let ratio = |of: fn(&Run) -> f64| match &first {
                Some(own) => format!("{:.0}x", of(&run) / of(own).max(0.001)),
                None => String::new(),
            };
            println!(
                "{:<10} {:>7}  {:<10} {:>9.2} {:>7}  {:>9.2} {:>7}  {:>9.2} {:>7}  {:>8}",
                shape.name(),
                size,
                program.name,
                run.plan,
                ratio(|it| it.plan),
                run.apply,
                ratio(|it| it.apply),
                run.again,
                ratio(|it| it.again),
                run.peak_megabytes,
            );
            for (command, seconds) in &run.own {
                println!("{:<10} {:>7}  {:<10} {seconds:>9.2}  {command}", "", "", "");
            }
            first = first.or(Some(run));
        }
    }
    Ok(())
}
