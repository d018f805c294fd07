//! Pages of large plans: how long it takes to write one, how large it is, and how long a browser takes to open it.
//!
//! ```text
//! cargo bench -p entail-cli --bench pages               # 5,000 and 100,000 changes
//! cargo bench -p entail-cli --bench pages -- 5000       # as many
//! cargo bench -p entail-cli --bench pages -- 5000 PATH  # with another program
//! ```
//!
//! Nothing here is a test: a table is printed, and people judge it. 5,000 changes are to open in 2 s, from 10 MB at most; 100,000 are to
//! open. A page counts as open once its script is done and what is to be seen first has been drawn. Without a browser that is left out.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use entail::error::Error;
use fantoccini::error::CmdError;

use browser::Driver;

#[path = "../../tests/support/browser.rs"]
mod browser;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let sizes = match given.first().and_then(|it| it.parse().ok()) {
        Some(size) => vec![size],
        None => vec![5_000, 100_000],
    };
    let program = given.get(1).map_or(env!("CARGO_BIN_EXE_entail"), String::as_str);
    for size in sizes {
        match run(program, size) {
            Ok(told) => println!("{size:>7} changes: {told}"),
            Err(why) => println!("{size:>7} changes: {why}"),
        }
    }
}

fn run(program: &str, size: usize) -> Result<String, Error> {
    let folder = tempfile::tempdir().map_err(|it| Error::from(it.to_string()))?;
    std::fs::write(folder.path().join("main.tf"), configuration(size))
        .map_err(|it| Error::from(it.to_string()))?;
    once(program, folder.path(), &["init"])?;
    let planned = once(program, folder.path(), &["plan", "-out=p"])?;
    let written = once(program, folder.path(), &["show", "-html=p.html", "p"])?;
    let page = folder.path().join("p.html");
    let bytes = std::fs::metadata(&page).map_err(|it| Error::from(it.to_string()))?.len();
    let mut told = format!(
        "planned in {planned:.2} s, written in {written:.2} s, {:.2} MB",
        bytes as f64 / 1e6
    );
    if let Some(driver) = Driver::start() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|it| Error::from(it.to_string()))?;
        let opened = runtime.block_on(opened(&driver, &page));
        let (seconds, memory) = opened.map_err(|it| Error::from(it.to_string()))?;
        let _ = write!(told, ", opened in {seconds:.2} s with {memory:.0} MB of objects");
    }
    Ok(told)
}

/// The least of three times it takes to open a page, in seconds; and what its script holds then.
async fn opened(driver: &Driver, page: &Path) -> Result<(f64, f64), CmdError> {
    let client = driver.client().await;
    let (mut least, mut memory) = (f64::MAX, 0.0);
    for _ in 0..3 {
        client.goto("about:blank").await?;
        let start = Instant::now();
        client.goto(&format!("file://{}", page.display())).await?;
        let drawn = "const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(() => done(performance.memory?.usedJSHeapSize ?? 0)))";
        let held = client.execute_async(drawn, Vec::new()).await?;
        least = least.min(start.elapsed().as_secs_f64());
        memory = held.as_f64().unwrap_or_default() / 1e6;
    }
    client.close().await?;
    Ok((least, memory))
}

/// Runs the program to its end; how long that takes, in seconds.
fn once(program: &str, folder: &Path, arguments: &[&str]) -> Result<f64, Error> {
    let start = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .stdin(Stdio::null())
        .output()
        .map_err(|it| Error::from(it.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{program} {arguments:?}: {said}").into());
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Ten layers of objects, each of which reads that of the layer before by its key; every second one has a value of its own.
fn configuration(size: usize) -> String {
    let mut text = String::new();
    // A range holds a thousand numbers at most.
    let hundreds = size.div_ceil(1000);
    let _ = writeln!(
        text,
        "locals {{ keys = toset(flatten([for a in range({hundreds}) : [for b in range(100) : \"k${{a * 100 + b}}\"]])) }}"
    );
    for layer in 0..10 {
        let input = match layer {
            0 => "each.key".to_owned(),
            _ if layer % 2 == 0 => "\"the same\"".to_owned(),
            _ => format!("[each.key, terraform_data.b{}[each.key].output]", layer - 1),
        };
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"b{layer}\" {{\n  for_each = local.keys\n  input    = {input}\n}}"
        );
    }
    text
}
