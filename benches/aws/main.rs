//! Plans with the AWS plugin, beside `terraform`, against a simulated cloud.
//!
//! ```text
//! cargo build --release
//! ENTAIL_PLUGIN_MIRROR=FOLDER cargo bench --bench aws           # two resources: first plan, later plans
//! ENTAIL_PLUGIN_MIRROR=FOLDER cargo bench --bench aws -- 500    # so many resources, planned fresh
//! ```
//!
//! `ENTAIL_PLUGIN_MIRROR` names a filesystem mirror with `registry.terraform.io/hashicorp/aws` 5.100.0; `terraform` and
//! `moto_server` must be on `PATH`. What is remembered of plugins starts empty. Nothing here is a test: a table is
//! printed, and people judge it.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How many plans of one kind are taken.
const PLANS: usize = 5;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let result = match words.first().map(|it| it.parse()) {
        None => two(),
        Some(Ok(count)) => many(count),
        Some(Err(_)) => Err("expected: nothing, or a number of resources".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// What a run needed.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    /// The most memory of the program itself, without its plugins.
    megabytes: f64,
    /// Processor seconds of its plugins.
    plugins: f64,
}

/// A program in a folder of its own.
struct Place<'a> {
    program: &'a Path,
    folder: tempfile::TempDir,
}

impl Place<'_> {
    fn new<'a>(program: &'a Path, mirror: &Path, config: &str) -> Result<Place<'a>, String> {
        let place = Place { program, folder: tempfile::tempdir().map_err(|it| it.to_string())? };
        let rc = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            mirror.display().to_string()
        );
        for (name, text) in [("main.tf", config), ("cli.tfrc", &rc)] {
            std::fs::write(place.folder.path().join(name), text).map_err(|it| it.to_string())?;
        }
        place.run(&["init"])?;
        Ok(place)
    }

    fn run(&self, arguments: &[&str]) -> Result<Cost, String> {
        let before = children_seconds();
        let start = Instant::now();
        let mut child = Command::new(self.program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("cli.tfrc"))
            .env("HOME", self.folder.path())
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|it| format!("{}: {it}", self.program.display()))?;
        let (peak, own) = watch(&mut child)?;
        let seconds = start.elapsed().as_secs_f64();
        let plugins = (children_seconds() - before - own).max(0.0);
        Ok(Cost { seconds, megabytes: peak / 1024.0, plugins })
    }
}

/// Returns the fastest of several plans, as other work on the machine only adds; and the most memory that any took.
fn fastest(place: &Place<'_>) -> Result<Cost, String> {
    let mut best = place.run(&["plan"])?;
    for _ in 1..PLANS {
        let next = place.run(&["plan"])?;
        let megabytes = best.megabytes.max(next.megabytes);
        best = Cost { megabytes, ..if next.seconds < best.seconds { next } else { best } };
    }
    Ok(best)
}

/// Waits for the end; returns kilobytes of memory and processor seconds of the program itself, as last seen.
fn watch(child: &mut Child) -> Result<(f64, f64), String> {
    let folder = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut peak, mut own) = (0.0_f64, 0.0);
    loop {
        let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|it| it.trim().strip_suffix("kB")?.trim().parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0.0));
        own = ticks(&folder.join("stat"), 13, 2).unwrap_or(own);
        if let Some(status) = child.try_wait().map_err(|it| it.to_string())? {
            let mut said = String::new();
            if let Some(mut stderr) = child.stderr.take() {
                let _ = std::io::Read::read_to_string(&mut stderr, &mut said);
            }
            return if status.success() { Ok((peak, own)) } else { Err(said) };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Processor seconds of all children that have ended, and of theirs.
fn children_seconds() -> f64 {
    ticks(Path::new("/proc/self/stat"), 15, 2).unwrap_or(0.0)
}

fn ticks(stat: &Path, from: usize, count: usize) -> Option<f64> {
    let text = std::fs::read_to_string(stat).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let fields = rest.split_whitespace().skip(from - 2).take(count);
    Some(fields.filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() / 100.0)
}

/// A simulated cloud.
struct Cloud(Child, String);

impl Cloud {
    fn start() -> Result<Cloud, String> {
        let mut server = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|it| format!("LEFT OUT: moto_server cannot be started: {it}"))?;
        let stderr = server.stderr.take().ok_or("it cannot be heard")?;
        let mut lines = BufReader::new(stderr).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|it| Some(it.split("http://").nth(1)?.split_whitespace().next()?.to_owned()))
            .ok_or("moto_server does not say where it listens")?;
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Cloud(server, address))
    }

    fn config(&self, resources: &str) -> String {
        let endpoint = format!("http://{}", self.1);
        let services = ["iam", "s3", "sqs", "sts"];
        let endpoints: String =
            services.iter().map(|it| format!("    {it} = {endpoint:?}\n")).collect();
        format!(
            "terraform {{\n  required_providers {{\n    aws = {{\n      source  = \"registry.terraform.io/hashicorp/aws\"\n      version = \"5.100.0\"\n    }}\n  }}\n}}\n\
             provider \"aws\" {{\n  region = \"us-east-1\"\n  access_key = \"test\"\n  secret_key = \"test\"\n  skip_credentials_validation = true\n  \
             skip_metadata_api_check = true\n  skip_requesting_account_id = true\n  s3_use_path_style = true\n  endpoints {{\n{endpoints}  }}\n}}\n{resources}"
        )
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn programs() -> Result<(PathBuf, PathBuf, PathBuf), String> {
    let mirror = std::env::var_os("ENTAIL_PLUGIN_MIRROR")
        .ok_or("LEFT OUT: ENTAIL_PLUGIN_MIRROR names no mirror with the AWS plugin")?;
    let entail = std::env::var_os("ENTAIL").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/release/entail"),
        PathBuf::from,
    );
    Ok((mirror.into(), entail, "terraform".into()))
}

/// Two resources that exist: the first plan of a machine, and the plans after it.
fn two() -> Result<(), String> {
    let (mirror, entail, terraform) = programs()?;
    let cloud = Cloud::start()?;
    let config = cloud.config(
        "resource \"aws_s3_bucket\" \"b\" {\n  bucket = \"bench\"\n}\nresource \"aws_sqs_queue\" \"q\" {\n  name = \"q-${aws_s3_bucket.b.id}\"\n}\n",
    );
    let other = Place::new(&terraform, &mirror, &config)?;
    other.run(&["apply", "-auto-approve"])?;
    let ours = Place::new(&entail, &mirror, &config)?;
    let state = "terraform.tfstate";
    std::fs::copy(other.folder.path().join(state), ours.folder.path().join(state))
        .map_err(|it| it.to_string())?;
    let _ = std::fs::remove_dir_all(ours.folder.path().join(".cache"));
    println!("{:<24}{:>14}{:>14}{:>10}", "two resources", "entail", "terraform", "times");
    let first = ours.run(&["plan"])?;
    row("first plan", first, other.run(&["plan"])?);
    let (later, theirs) = (fastest(&ours)?, fastest(&other)?);
    row("later plan", later, theirs);
    println!(
        "{:<24}{:>11.0} MB{:>11.0} MB",
        "peak memory",
        first.megabytes.max(later.megabytes),
        theirs.megabytes
    );
    Ok(())
}

/// Many resources that do not exist yet.
fn many(count: usize) -> Result<(), String> {
    let (mirror, entail, terraform) = programs()?;
    let cloud = Cloud::start()?;
    let resources = format!(
        "resource \"aws_sqs_queue\" \"q\" {{\n  count = {half}\n  name  = \"q-${{count.index}}\"\n}}\nresource \"aws_s3_bucket\" \"b\" {{\n  count  = {rest}\n  bucket = \"b-${{count.index}}\"\n}}\n",
        half = count / 2,
        rest = count - count / 2
    );
    let config = cloud.config(&resources);
    let ours = Place::new(&entail, &mirror, &config)?;
    let other = Place::new(&terraform, &mirror, &config)?;
    let first = ours.run(&["plan"])?;
    println!(
        "{:<24}{:>14}{:>14}{:>10}",
        format!("{count} resources"),
        "entail",
        "terraform",
        "times"
    );
    let (mine, theirs) = (fastest(&ours)?, other.run(&["plan"])?);
    row("fresh plan", mine, theirs);
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let floor = mine.plugins / cores;
    println!("{:<24}{:>12.2} s", "the plugin's work", floor);
    println!("{:<24}{:>14.2}", "wall time by that", mine.seconds / floor);
    let megabytes = first.megabytes.max(mine.megabytes);
    println!("{:<24}{:>11.0} MB{:>11.0} MB", "peak memory", megabytes, theirs.megabytes);
    Ok(())
}

fn row(name: &str, ours: Cost, theirs: Cost) {
    println!(
        "{name:<24}{:>12.2} s{:>12.2} s{:>10.1}",
        ours.seconds,
        theirs.seconds,
        theirs.seconds / ours.seconds
    );
}
