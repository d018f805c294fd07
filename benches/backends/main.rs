//! An apply whose state is in a real service: entail beside OpenTofu, against the same server, in turns.
//!
//! ```text
//! cargo build --release
//! ENTAIL_PG=postgres://USER@HOST/DATABASE?sslmode=disable ENTAIL_S3=http://127.0.0.1:5000 TOFU=/path/to/tofu \
//!     cargo bench --bench backends                 # 1,000 objects
//! … cargo bench --bench backends -- 4000           # another number
//! ```
//!
//! `ENTAIL_S3` is the address of something that speaks S3 and takes any keys, such as `moto_server`, with a bucket `bench` (it is made
//! where that is possible). What is not named is skipped, and said to be. Nothing here is a test: a table is printed.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// How often each program applies; the least time counts.
const ROUNDS: usize = 3;

struct Program {
    name: &'static str,
    path: PathBuf,
}

/// What one apply took.
struct Run {
    apply: f64,
    again: f64,
    /// How many snapshots were stored: the serial of the first state is 1, and each one that is stored has the next.
    writes: u64,
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let size = words.first().map_or(Ok(1000), |it| it.parse());
    let Ok(size) = size else {
        println!("expected: a number of objects");
        return ExitCode::FAILURE;
    };
    match everything(size) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn everything(size: usize) -> Result<(), String> {
    let programs = programs();
    let services: [(&str, Option<Block>); 2] = [("pg", pg()), ("s3", s3())];
    println!(
        "{:<8} {:>7}  {:<8} {:>9} {:>7}  {:>9} {:>7}  {:>7}",
        "backend", "objects", "program", "apply s", "ratio", "again s", "ratio", "writes"
    );
    for (kind, block) in services {
        let Some(block) = block else {
            println!("{kind:<8} SKIPPED: ENTAIL_{} names no server", kind.to_uppercase());
            continue;
        };
        let mut best: Vec<Option<Run>> = programs.iter().map(|_| None).collect();
        for round in 0..ROUNDS {
            for (program, best) in programs.iter().zip(&mut best) {
                let place = format!("{}_{}_{round}", program.name, std::process::id());
                let run = run(program, &block(&place), size)?;
                if best.as_ref().is_none_or(|it| run.apply < it.apply) {
                    *best = Some(run);
                }
            }
        }
        table(kind, size, &programs, &best);
    }
    Ok(())
}

fn table(kind: &str, size: usize, programs: &[Program], best: &[Option<Run>]) {
    let own = best.first().and_then(Option::as_ref);
    for (program, run) in programs.iter().zip(best) {
        let (Some(run), Some(own)) = (run, own) else { continue };
        println!(
            "{kind:<8} {size:>7}  {:<8} {:>9.2} {:>6.2}x  {:>9.2} {:>6.2}x  {:>7}",
            program.name,
            run.apply,
            run.apply / own.apply,
            run.again,
            run.again / own.again,
            run.writes,
        );
    }
}

/// Returns entail, built beside this bench, and OpenTofu, where it is named.
fn programs() -> Vec<Program> {
    let bench = std::env::current_exe().unwrap_or_default();
    let beside = bench.parent().and_then(Path::parent).unwrap_or(Path::new("target/release"));
    let chosen = std::env::var_os("ENTAIL_BINARY").map(PathBuf::from);
    let own = Program { name: "entail", path: chosen.unwrap_or(beside.join("entail")) };
    let other = std::env::var_os("TOFU").map(|it| Program { name: "tofu", path: it.into() });
    if other.is_none() {
        println!("SKIPPED: TOFU names no program to compare with");
    }
    std::iter::once(own).chain(other).collect()
}

type Block = Box<dyn Fn(&str) -> String>;

fn pg() -> Option<Block> {
    let address = std::env::var("ENTAIL_PG").ok()?;
    Some(Box::new(move |place| {
        format!("backend \"pg\" {{\n  conn_str = \"{address}\"\n  schema_name = \"{place}\"\n}}")
    }))
}

fn s3() -> Option<Block> {
    let address = std::env::var("ENTAIL_S3").ok()?;
    make_bucket(&address);
    Some(Box::new(move |place| {
        format!(
            "backend \"s3\" {{\n  bucket = \"bench\"\n  key = \"{place}\"\n  region = \"us-east-1\"\n  access_key = \"a\"\n  secret_key = \"b\"\n  use_lockfile = true\n  \
             use_path_style = true\n  skip_credentials_validation = true\n  skip_requesting_account_id = true\n  endpoints = {{ s3 = \"{address}\" }}\n}}"
        )
    }))
}

/// Makes the bucket, where the service lets anybody do so. Whether it is there, the first run tells.
fn make_bucket(address: &str) -> Option<()> {
    let host = address.strip_prefix("http://")?.trim_end_matches('/');
    let mut stream = TcpStream::connect(host).ok()?;
    let scope = "Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    let request = format!(
        "PUT /bench HTTP/1.1\r\nHost: {host}\r\nAuthorization: AWS4-HMAC-SHA256 {scope}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok().map(drop)
}

/// Applies in a place of its own, and once more with nothing to do.
fn run(program: &Program, block: &str, size: usize) -> Result<Run, String> {
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    let text = format!(
        "terraform {{\n{block}\n}}\nresource \"terraform_data\" \"a\" {{\n  count = {size}\n  input = \"object ${{count.index}}\"\n}}\n"
    );
    std::fs::write(folder.path().join("main.tf"), text).map_err(|it| it.to_string())?;
    let time = |words: &[&str]| -> Result<(f64, Vec<u8>), String> {
        let start = Instant::now();
        let output = Command::new(&program.path)
            .args(words)
            .current_dir(folder.path())
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .stdin(Stdio::null())
            .output()
            .map_err(|it| format!("{}: {it}", program.path.display()))?;
        let elapsed = start.elapsed().as_secs_f64();
        match output.status.success() {
            true => Ok((elapsed, output.stdout)),
            false => Err(format!(
                "{} {}: {}",
                program.name,
                words.join(" "),
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    };
    time(&["init", "-input=false"])?;
    let (apply, _) = time(&["apply", "-auto-approve", "-input=false"])?;
    let (again, _) = time(&["apply", "-auto-approve", "-input=false"])?;
    let (_, state) = time(&["state", "pull"])?;
    let state: serde_json::Value = serde_json::from_slice(&state).map_err(|it| it.to_string())?;
    Ok(Run { apply, again, writes: state["serial"].as_u64().unwrap_or_default() })
}
