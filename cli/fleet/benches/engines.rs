//! How long the engines take for the same rules over the same rows: from how many rows on whole columns are worth a plan.
//!
//! ```console
//! $ cargo bench -p entail-fleet --bench engines -- 10000 1000000   # numbers of rows
//! ```

use std::io::Write;
use std::time::Instant;

use entail::datalog::check::{Program, Source};
use entail::datalog::{Database, Limits, random};
use entail::reason::{Engine, Interpreted};
use entail_fleet::engine::Columnar;

/// Joins whole columns however few rows there are.
static COLUMNAR: Columnar = Columnar::from(0);

/// What is concluded, each from `edge(a, b)`, `node(a, kind)` and nothing else.
const RULES: &[(&str, &str)] = &[
    ("join", "found(a, d) <-- edge(a, b), edge(b, c), node(c, d), if d < 3;"),
    ("negation", "found(a, k) <-- node(a, k), !edge(_, a);"),
    ("aggregate", "found(a, n) <-- node(a, 1), agg n = count() in edge(a, _);"),
    (
        "reachability",
        "found(a, b) <-- node(a, 1), edge(a, b); found(a, c) <-- found(a, b), edge(b, c);",
    ),
];

fn main() -> std::io::Result<()> {
    let sizes: Vec<u64> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    let mut out = std::io::stdout();
    for rows in sizes {
        for (name, rules) in RULES {
            let text = format!(
                "relation edge(u32, u32); relation node(u32, u32); relation found(u32, u32); {rules}"
            );
            let (program, _) =
                Program::read(&[Source { name: "bench", text: &text, ..Source::default() }]);
            let told = told(&program, rows);
            let run = |engine: &dyn Engine| {
                let mut database = told.clone();
                let began = Instant::now();
                let done = engine.evaluate(&program, &mut database, None, &Limits::NONE);
                let found = program.relation("found").map_or(0, |it| database.table(it).len());
                (began.elapsed().as_secs_f64(), found, done.is_ok())
            };
            let (one, other) = (run(&Interpreted), run(&COLUMNAR));
            let same = if (one.1, one.2) == (other.1, other.2) { "" } else { "  NOT THE SAME" };
            writeln!(
                out,
                "{rows:9} rows  {name:13} {:9} found  interpreted {:7.3} s  columnar {:7.3} s{same}",
                one.1, one.0, other.0
            )?;
        }
    }
    Ok(())
}

/// Nodes in ten layers, each with edges to the next; one in a thousand is of kind 1.
fn told(program: &Program, rows: u64) -> Database {
    let mut database = Database::new(program);
    let mut chance = random::numbers(1);
    let (Some(edge), Some(node)) = (program.relation("edge"), program.relation("node")) else {
        return database;
    };
    let layer = (rows / 10).max(1);
    for number in 0..rows {
        let kind = if number % 1_000 == 7 { 1 } else { 2 + number % 97 };
        database.give(node, &[number, kind]);
        if number + layer < rows {
            let next = (number / layer + 1) * layer;
            database.give(edge, &[number, next + chance(layer)]);
        }
    }
    database
}
