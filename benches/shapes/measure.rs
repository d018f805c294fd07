//! Runs a program on a generated configuration, with a clock.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::generate::{self, Shape};

/// A program that plans and applies.
pub struct Program {
    pub name: String,
    pub path: PathBuf,
}

/// What one program needed for one shape and size.
pub struct Run {
    /// Seconds of the first plan.
    pub plan: f64,
    /// Seconds of an apply of everything.
    pub apply: f64,
    /// Seconds of a plan that finds nothing to do.
    pub again: f64,
    /// The most memory that any of them held; 0 where the system does not tell.
    pub peak_megabytes: u64,
    /// Seconds of commands that only entail has.
    pub own: Vec<(String, f64)>,
}

/// Generates, plans, applies and plans again, in a fresh folder.
pub fn run(program: &Program, shape: Shape, size: usize) -> Result<Run, String> {
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    generate::write(shape, size, folder.path())?;
    let mut peak = 0;
    let mut time = |arguments: &[&str]| -> Result<f64, String> {
        let (seconds, memory) = timed(program, arguments, folder.path())?;
        peak = peak.max(memory);
        Ok(seconds)
    };
    time(&["init"])?;
    let plan = time(&["plan"])?;
    let apply = time(&["apply", "-auto-approve"])?;
    let again = time(&["plan"])?;
    let mut own = Vec::new();
    if program.name == "entail" {
        let (first, last) = shape.ends(size);
        let exclude = format!("-exclude={first}");
        own.push(("whatif".to_owned() + " " + &exclude, time(&["whatif", &exclude])?));
        own.push((format!("why {last} {exclude}"), time(&["why", &last, &exclude])?));
        // The second and the third read what the first has to read, each a half of it.
        let target = format!("-target={first}");
        for command in [&["plan", &target][..], &["state", "list"], &["validate"]] {
            own.push((command.join(" "), time(command)?));
        }
        own.push(("version".to_owned(), time(&["version"])?));
    }
    Ok(Run { plan, apply, again, peak_megabytes: peak / 1024, own })
}

/// Returns seconds and kilobytes.
fn timed(program: &Program, arguments: &[&str], folder: &Path) -> Result<(f64, u64), String> {
    let start = Instant::now();
    let mut child = Command::new(&program.path)
        .args(arguments)
        .current_dir(folder)
        .env("TF_CLI_CONFIG_FILE", if cfg!(windows) { "NUL" } else { "/dev/null" })
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|it| format!("{}: {it}", program.path.display()))?;
    let (status, peak) = watch(&mut child)?;
    if !status {
        return Err(format!("{} {} failed", program.name, arguments.join(" ")));
    }
    Ok((start.elapsed().as_secs_f64(), peak))
}

/// Waits for the end; returns whether all was well, and the most memory seen, in kilobytes.
fn watch(child: &mut Child) -> Result<(bool, u64), String> {
    let status_file = format!("/proc/{}/status", child.id());
    let (mut peak, mut pause) = (0, Duration::from_millis(1));
    loop {
        let text = std::fs::read_to_string(&status_file).unwrap_or_default();
        let line = text.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|it| it.trim().strip_suffix("kB")?.trim().parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        if let Some(status) = child.try_wait().map_err(|it| it.to_string())? {
            return Ok((status.success(), peak));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
