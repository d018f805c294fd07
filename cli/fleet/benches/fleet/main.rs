//! State files of a fleet, and a clock: how long `entail-fleet` takes to index and ask so many stacks, and how much memory.
//!
//! ```console
//! $ cargo bench -p entail-fleet --bench fleet -- generate 1000 1000 FOLDER   # writes states and fleet.hcl
//! $ cargo bench -p entail-fleet --bench fleet -- change 10 FOLDER            # changes that many of them
//! $ cargo bench -p entail-fleet --bench fleet -- measure FOLDER              # indexes, asks, judges, and changes one of a hundred
//! $ cargo bench -p entail-fleet --bench fleet -- duckdb FOLDER               # the same questions, asked of DuckDB over the states
//! $ cargo bench -p entail-fleet --features cluster --bench fleet -- cluster df://HOST:PORT FOLDER   # asks a cluster beside this machine
//! ```

use std::fmt::Write as _;
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
        ["cluster", address, folder] => cluster(address, Path::new(folder)),
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

/// What is asked of a lake, and what each is called.
const ASKED: &[(&str, &[&str])] = &[
    (
        "buckets that are public",
        &["query", "-csv", "existing(n, \"aws_s3_bucket\"), n.acl == \"public-read\""],
    ),
    ("how many keys", &["query", "-csv", "agg c = count() in existing(_, \"aws_kms_key\")"]),
    ("who uses networks r0", &["query", "-csv", USES]),
    ("impact of a network", &["impact", "-json", "aws_vpc.r0@states/s00000"]),
];

const USES: &str = "existing(m, \"aws_vpc\"), name(m, \"r0\"), uses(n, m)";

/// What of that DuckDB is asked, over the states as they lie there.
const SQL: &[(&str, &str)] = &[
    (
        "buckets that are public",
        "SELECT name FROM s WHERE type = 'aws_s3_bucket' AND instances[1].attributes.acl = 'public-read'",
    ),
    ("how many keys", "SELECT count(*) FROM s WHERE type = 'aws_kms_key'"),
    (
        "who uses networks r0",
        "SELECT n.name, m.name FROM s n JOIN s m ON n.instances[1].attributes.vpc_id = m.instances[1].attributes.id WHERE m.type = 'aws_vpc' AND m.name = 'r0' AND n.instances[1].attributes.id != m.instances[1].attributes.id",
    ),
];

/// The parts of the library that judge: 9 rules, which most objects obey.
const LIBRARY: &[&str] = &["-policy=library:aws/kms", "-policy=library:aws/queues"];

/// 31 rules beside those of the library, which few objects break.
fn own_rules() -> String {
    let mut text = String::new();
    for kind in &states::TYPES[..17] {
        let _ = writeln!(
            text,
            "// @rule own.open-{kind}: `n` can be read by all\ndeny(n, \"{{n}} can be read by all\") <-- existing(n, \"{kind}\"), n.acl == \"public-read\";"
        );
    }
    for kind in &states::TYPES[6..] {
        let _ = writeln!(
            text,
            "// @rule own.size-{kind}: `n` is too large\nwarn(n, \"{{n}} is too large: {{s}}\") <-- existing(n, \"{kind}\"), n.size == s, if s > 70;"
        );
    }
    text
}

/// Indexes, asks, judges, changes one stack of a hundred, and indexes again.
fn measure(folder: &Path) -> std::io::Result<()> {
    let program = env!("CARGO_BIN_EXE_entail-fleet");
    let states = std::fs::read_dir(folder.join("states"))?;
    let states = states.filter_map(|it| it.ok()?.metadata().ok());
    let sizes: Vec<u64> = states.map(|it| it.len()).collect();
    let (count, bytes) = (sizes.len(), sizes.iter().sum::<u64>());
    if folder.join("lake").exists() {
        std::fs::remove_dir_all(folder.join("lake"))?;
    }
    let run = |what: &str, words: &[&str], codes: &[i32]| {
        tell(what, &clock::run(program, words, folder, codes)?)
    };
    run("index", &["index", "-json"], &[0])?;
    let lake = size(&folder.join("lake"))?;
    writeln!(
        std::io::stdout(),
        "{count} states of {bytes} bytes, a lake of {lake} bytes: 1/{}",
        bytes / lake.max(1)
    )?;
    run("index, nothing changed", &["index", "-json"], &[0])?;
    for (what, words) in ASKED {
        run(what, words, &[0])?;
    }
    std::fs::write(folder.join("own.rules"), own_rules())?;
    let words = [&["policy", "check", "-markdown", "-policy=own.rules"], LIBRARY].concat();
    run("40 policies", &words, &[1])?;
    let changed = (count / 100).max(1);
    states::change(folder, changed)?;
    run(&format!("index, {changed} changed"), &["index", "-json"], &[0])
}

/// How many bytes the files below a folder have.
fn size(folder: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        sum += if about.is_dir() { size(&entry.path())? } else { about.len() };
    }
    Ok(sum)
}

fn duckdb(folder: &Path) -> std::io::Result<()> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    for (what, sql) in SQL {
        let states = "read_json('states/*.tfstate', maximum_object_size=268435456, columns={resources: 'STRUCT(type VARCHAR, name VARCHAR, instances STRUCT(attributes STRUCT(id VARCHAR, acl VARCHAR, vpc_id VARCHAR))[])[]'})";
        let script = format!(
            "import duckdb\nfound = duckdb.sql(\"\"\"WITH t AS (SELECT unnest(resources) AS x FROM {states}), s AS (SELECT x.type AS type, x.name AS name, x.instances AS instances FROM t) {sql}\"\"\")\nprint('found')\nfor row in found.fetchall(): print(row)"
        );
        tell(&format!("DuckDB: {what}"), &clock::run(&python, &["-c", &script], folder, &[0])?)?;
    }
    Ok(())
}

/// What a cluster can say by itself, and what is asked of it: few rows come back, however many are looked at.
const RULES: &str = "
used(m) <-- uses(_, m);
idle(n) <-- existing(n, \"aws_vpc\"), !used(n);
below(k) <-- uses(k, n), name(n, \"r0\"), stack(n, \"states/s00000\");
below(k) <-- uses(k, n), below(n);
";

/// What each question is called, and the question.
const OF_CLUSTER: &[(&str, &str)] = &[
    ("a lookup", "stack(n, \"states/s00000\"), existing(n, \"aws_kms_key\")"),
    ("a join", "existing(n, \"aws_ebs_volume\"), uses(n, m), name(m, \"r0\"), name(n, \"r19\")"),
    ("a negation", "idle(n)"),
    ("a recursion", "below(n)"),
];

/// Asks a cluster and this machine the same, of a lake that is there.
fn cluster(address: &str, folder: &Path) -> std::io::Result<()> {
    let program = env!("CARGO_BIN_EXE_entail-fleet");
    std::fs::write(folder.join("cluster.rules"), RULES)?;
    for (what, body) in OF_CLUSTER {
        for engine in ["columnar", &format!("{address}?rows=0")] {
            let engine = format!("-engine={engine}");
            let words =
                ["query", "-csv", "-policy=cluster.rules", "-policy-limit=time=600", &engine, body];
            let what = format!("{what}, {engine}");
            tell(&what, &clock::run(program, &words, folder, &[0])?)?;
        }
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
