//! State files of a fleet, and a clock: how long `entail-fleet` takes to index and ask so many stacks, and how much memory.
//!
//! ```console
//! $ cargo bench -p entail-fleet --bench fleet -- generate 1000 1000 FOLDER   # writes states and fleet.hcl
//! $ cargo bench -p entail-fleet --bench fleet -- change 10 FOLDER            # changes that many of them
//! $ cargo bench -p entail-fleet --bench fleet -- measure FOLDER              # indexes and asks them
//! $ cargo bench -p entail-fleet --bench fleet -- duckdb FOLDER               # the same questions, asked of DuckDB over the states
//! ```

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

mod clock;
mod states;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().unwrap_or(0);
    let done = match words[..] {
        ["generate", stacks, objects, folder] => {
            states::generate(Path::new(folder), number(stacks), number(objects))
        }
        ["change", stacks, folder] => states::change(Path::new(folder), number(stacks)),
        ["measure", folder] => measure(Path::new(folder)),
        ["duckdb", folder] => duckdb(Path::new(folder)),
        _ => small(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            writeln!(std::io::stderr(), "{why}").unwrap_or_default();
            ExitCode::FAILURE
        }
    }
}

/// What runs where nothing is asked for: few stacks, to see that it works.
fn small() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    states::generate(folder.path(), 20, 200)?;
    measure(folder.path())
}

/// The questions, and what each is called.
const ASKED: &[(&str, &[&str])] = &[
    ("index", &["index", "-json"]),
    ("index again", &["index", "-json"]),
    (
        "query of one type",
        &["query", "-csv", "existing(n, \"aws_s3_bucket\"), n.acl == \"public-read\""],
    ),
    ("count by type", &["query", "-csv", "agg c = count() in existing(_, \"aws_kms_key\")"]),
    ("who uses a VPC", &["query", "-csv", "existing(m, \"aws_vpc\"), name(m, \"r0\"), uses(n, m)"]),
    ("impact of a VPC", &["impact", "-json", "aws_vpc.r0@states/s00000"]),
];

/// What of that DuckDB is asked, over the states as they lie there.
const SQL: &[(&str, &str)] = &[
    (
        "query of one type",
        "SELECT count(*) FROM s WHERE type = 'aws_s3_bucket' AND instances[1].attributes.acl = 'public-read'",
    ),
    ("count by type", "SELECT count(*) FROM s WHERE type = 'aws_kms_key'"),
    (
        "who uses a VPC",
        "SELECT count(*) FROM s n JOIN s m ON n.instances[1].attributes.vpc_id = m.instances[1].attributes.id WHERE m.type = 'aws_vpc' AND m.name = 'r0'",
    ),
];

fn measure(folder: &Path) -> std::io::Result<()> {
    for (what, words) in ASKED {
        tell(what, &clock::run(env!("CARGO_BIN_EXE_entail-fleet"), words, folder)?)?;
    }
    Ok(())
}

fn duckdb(folder: &Path) -> std::io::Result<()> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    for (what, sql) in SQL {
        let states = "read_json('states/*.tfstate', maximum_object_size=268435456, columns={resources: 'STRUCT(type VARCHAR, name VARCHAR, instances STRUCT(attributes STRUCT(id VARCHAR, acl VARCHAR, vpc_id VARCHAR))[])[]'})";
        let script = format!(
            "import duckdb\nprint(duckdb.sql(\"\"\"WITH t AS (SELECT unnest(resources) AS x FROM {states}), s AS (SELECT x.type AS type, x.name AS name, x.instances AS instances FROM t) {sql}\"\"\"))"
        );
        tell(&format!("DuckDB: {what}"), &clock::run(&python, &["-c", &script], folder)?)?;
    }
    Ok(())
}

fn tell(what: &str, run: &clock::Run) -> std::io::Result<()> {
    let failed = if run.is_well { "" } else { "  FAILED" };
    writeln!(
        std::io::stdout(),
        "{what:26} {:8.2} s  {:8.2} s CPU  {:6} MB  {} lines{failed}",
        run.seconds,
        run.cpu,
        run.megabytes,
        run.lines
    )
}
