//! Runs a program with a clock.

use std::io::Result;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run needed.
pub struct Run {
    /// Seconds by the wall.
    pub seconds: f64,
    /// Seconds of processor time, as far as it was seen.
    pub cpu: f64,
    /// The most memory, in MB; 0 where the system does not tell.
    pub megabytes: u64,
    /// What was written.
    pub lines: usize,
    /// Whether it exited with what was expected.
    pub is_well: bool,
}

/// Runs a program in a folder, which is to exit with one of these codes.
pub fn run(program: &str, words: &[&str], folder: &Path, codes: &[i32]) -> Result<Run> {
    let before = Instant::now();
    let out = tempfile::NamedTempFile::new()?;
    let mut child = Command::new(program)
        .args(words)
        .current_dir(folder)
        .stdout(Stdio::from(out.reopen()?))
        .spawn()?;
    let (mut cpu, mut megabytes) = (0.0, 0);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let about = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let most = about.ok().and_then(|it| {
            let line = it.lines().find(|it| it.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
        megabytes = megabytes.max(most.unwrap_or(0) / 1024);
        let times =
            std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        // Behind the name, which may have anything in it, the twelfth and thirteenth are ticks of a hundredth.
        let behind = times.rsplit_once(')').map_or("", |it| it.1);
        let ticks =
            behind.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<f64>().ok());
        cpu = f64::max(cpu, ticks.sum::<f64>() / 100.0);
        std::thread::sleep(Duration::from_millis(10));
    };
    let seconds = before.elapsed().as_secs_f64();
    let lines = std::fs::read_to_string(out.path())?.lines().count();
    Ok(Run {
        seconds,
        cpu,
        megabytes,
        lines,
        is_well: status.code().is_some_and(|it| codes.contains(&it)),
    })
}
