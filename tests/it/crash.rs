//! A crash explorer: each command that writes is met by a fault at its calls that touch files – it is killed, the disk is full or
//! fails, half is written –; what is left is the old or the new state, and nothing that was reported is lost.
//!
//! `tests/support/faults.rs` makes the faults; where it cannot, the test says so and explores nothing. An ordinary run takes a
//! sample; `ENTAIL_CRASHES=all` takes every fault at every call, which is for the night, and `CASE=part` only commands with that part.

#[path = "crash/judged.rs"]
mod judged;
#[path = "crash/packages.rs"]
mod packages;
#[path = "crash/passed.rs"]
mod passed;
#[path = "crash/registry.rs"]
mod registry;
#[path = "crash/scenarios.rs"]
mod scenarios;
#[path = "crash/special.rs"]
mod special;

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::support::faults::{self, Call, Fault};
use crate::support::place::Place;
use crate::support::{binary, in_parallel};
use judged::{Expected, judge, words};
use scenarios::{Scenario, prepared};

/// How many faults of each command an ordinary run takes.
const SAMPLE: usize = 4;

/// A command that was once run without a fault.
struct Known {
    scenario: &'static Scenario,
    fresh: Place,
    expected: Expected,
    calls: Vec<Call>,
}

impl Known {
    fn new(scenario: &'static Scenario) -> Result<Known, String> {
        let fresh = prepared(scenario);
        let place = fresh.copied();
        let (output, calls) =
            faults::watch(&mut place.command(&words(scenario.command)), place.path(), None)?;
        if output.status.code() != Some(0) {
            return Err(format!(
                "`{}` fails: {}",
                scenario.command,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        let expected = Expected::new(scenario, &fresh, &place)?;
        Ok(Known { scenario, fresh, expected, calls })
    }

    /// Every fault that there can be, and the call that it meets.
    fn faults(&self) -> Vec<(Fault, &Call)> {
        let of = |fault: Fault| {
            self.calls.iter().filter(move |it| fault.can_meet(it)).map(move |it| (fault, it))
        };
        Fault::ALL.iter().flat_map(|it| of(*it)).collect()
    }

    /// Lets a fault meet a run, and looks at what is left; whether there was such a call.
    fn explore(&self, fault: Fault, number: usize) -> Result<bool, String> {
        let place = self.fresh.copied();
        let mut command = place.command(&words(self.scenario.command));
        let (output, calls) = faults::watch(&mut command, place.path(), Some((fault, number)))?;
        let met = calls.iter().find(|it| it.is_met);
        let judged = judge(&place, self.scenario, &self.expected, (fault, &output));
        judged.map(|()| met.is_some()).map_err(|why| {
            let at = met.map(|it| format!("{} {} {}", it.number, it.name, it.path));
            format!(
                "{} with {fault:?} at call {}:\n{why}",
                self.scenario.title(),
                at.unwrap_or_else(|| format!("{number}, which was not made"))
            )
        })
    }
}

/// Whether nothing is to be left out.
fn is_thorough() -> bool {
    std::env::var("ENTAIL_CRASHES").is_ok_and(|it| it == "all")
}

fn tell(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).expect("it is said");
}

#[test]
fn wherever_a_fault_meets_a_command_the_state_is_the_old_or_the_new_one() {
    if let Err(why) = faults::are_possible() {
        return tell(&format!("skipped: {why}; no crash was explored"));
    }
    let is_thorough = is_thorough();
    let part = std::env::var("CASE").unwrap_or_default();
    let wanted: Vec<&'static Scenario> =
        scenarios::all().filter(|it| it.title().contains(&part)).collect();
    binary::path();
    let known =
        in_parallel(&wanted, |it| Known::new(it).map_err(|why| format!("{}: {why}", it.title())));
    let (known, mut problems): (Vec<_>, Vec<_>) = known.into_iter().partition(Result::is_ok);
    let known: Vec<Known> = known.into_iter().flatten().collect();
    let mut chosen = Vec::new();
    for (at, known) in known.iter().enumerate() {
        let all = known.faults();
        let step = if is_thorough { 1 } else { all.len().div_ceil(SAMPLE).max(1) };
        let is_taken = |(place, (fault, call)): &(usize, (Fault, &Call))| {
            // Each command begins elsewhere, so that together they meet each fault.
            (place + at * 7) % step == 0 || known.scenario.has_shown(*fault, call)
        };
        let faults = all.into_iter().enumerate().filter(is_taken);
        chosen.extend(faults.map(|(_, (fault, call))| (known, fault, call.number)));
    }
    let (start, done) = (Instant::now(), AtomicUsize::new(0));
    let outcomes = in_parallel(&chosen, |(known, fault, number)| {
        let outcome = known.explore(*fault, *number);
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        if is_thorough && count % 500 == 0 {
            tell(&format!(
                "{count} of {} after {} s: {}",
                chosen.len(),
                start.elapsed().as_secs(),
                known.scenario.title()
            ));
        }
        outcome
    });
    let met = outcomes.iter().filter(|it| matches!(it, Ok(true))).count();
    if is_thorough {
        tell(&format!(
            "{} faults met {} commands in {} s",
            met,
            known.len(),
            start.elapsed().as_secs()
        ));
    }
    problems.extend(outcomes.into_iter().filter_map(|it| it.err().map(Err)));
    let problems: Vec<String> = problems.into_iter().filter_map(Result::err).collect();
    assert!(
        problems.is_empty(),
        "{} of {} have problems\n\n{}",
        problems.len(),
        chosen.len(),
        problems.join("\n\n")
    );
    assert!(met * 10 >= chosen.len() * 8, "only {met} of {} faults met a call", chosen.len());
}
