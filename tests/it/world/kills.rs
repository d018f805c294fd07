//! What holds when an apply is killed, or interrupted once and killed some seconds later as supervisors do.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Child, Command as Process};
use std::time::{Duration, Instant};

use super::course::{Command, Step};
use super::model::Model;
use super::run::{Broken, Place, Program, Recorded};
use crate::support::dice::Dice;

/// How long a supervisor waits between the signal and the kill.
const GRACE: Duration = Duration::from_secs(10);

const LONGEST_PAUSE: Duration = Duration::from_secs(1);

const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::ZERO, Duration::from_millis(100), Duration::from_millis(400)];

/// How long an apply may take to reach the call that is held.
const LONGEST: Duration = Duration::from_secs(120);

/// A configuration, its change, and the call during which the apply ends.
pub struct Ending {
    pub seed: u64,
    first: Model,
    second: Model,
    /// `create`, `update` or `delete`.
    pub verb: &'static str,
    hold: &'static str,
    /// How long the apply goes on while the call is held. Calls that do not wait for it are reported in this time.
    pause: Duration,
}

/// What was in the world when an apply ended.
pub struct Ended {
    /// Whether a call was held then.
    pub is_held: bool,
    said: String,
    calls: String,
}

impl Ending {
    fn random(seed: u64, verbs: &[&'static str], holds: &[&'static str]) -> Ending {
        let mut dice = Dice::of(seed);
        let mut first = Model::random(&mut dice);
        let lasting = first.clone();
        first.add(&mut dice);
        // The block that was added last goes, others come, and all that stay change.
        let mut second = Model { made: first.made, ..lasting };
        second.add(&mut dice);
        second.add(&mut dice);
        second.blocks.iter_mut().for_each(|it| it.text += 1);
        let (verb, hold) = (*dice.pick(verbs), *dice.pick(holds));
        let pause = *dice.pick(&PAUSES);
        Ending { seed, first, second, verb, hold, pause }
    }

    /// Returns this apply, ended when all calls that do not wait for the held one are reported.
    pub fn late(self) -> Ending {
        Ending { pause: LONGEST_PAUSE, ..self }
    }

    /// Returns an apply that is killed.
    pub fn killed(seed: u64) -> Ending {
        Ending::random(seed, &["create", "update", "delete"], &["hold-deaf"])
    }

    /// Returns an apply that gets one signal, with a provider that honours `Stop`.
    pub fn interrupted(seed: u64) -> Ending {
        Ending::random(seed, &["create", "create", "update", "delete"], &["hold", "hold-spoil"])
    }

    /// Returns the configurations and the call that is held.
    pub fn text(&self) -> String {
        let of = |it: &Model| super::text::files(it).remove("main.tf").unwrap_or_default();
        let (first, second) = (of(&self.first), of(&self.second));
        format!("{} {}\n---- first\n{first}---- second\n{second}", self.verb, self.hold)
    }

    /// Applies both configurations, and ends the second apply with `end` once a call is held.
    fn go(
        &self,
        place: &mut Place,
        end: impl Fn(&mut Child),
    ) -> Result<(Vec<Recorded>, Ended), Broken> {
        place.write(&self.first, "");
        if !place.run(&["init"])?.1 {
            return Err(Broken("init fails".to_owned()));
        }
        place.step(&Step { model: self.first.clone(), command: Command::Apply, number: 0 })?;
        place.write(&self.second, &format!("{} * {}\n", self.verb, self.hold));
        let before = place.state();
        let ended = self.end_apply(place, end);
        place.log += &format!("$ apply -auto-approve, ended\n{}\n{}", ended.said, ended.calls);
        place.write(&self.second, "");
        Ok((before, ended))
    }

    fn end_apply(&self, place: &Place, end: impl Fn(&mut Child)) -> Ended {
        place.write_file("calls", "");
        let stdout = File::create(place.path().join("stdout")).expect("a file");
        let stderr = File::create(place.path().join("stderr")).expect("a file");
        let mut command = place.command(&["apply", "-auto-approve"]);
        let mut child = command.stdout(stdout).stderr(stderr).spawn().expect("it starts");
        let (begun, wanted) = (Instant::now(), format!("done {} ", self.verb));
        let read =
            |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap_or_default();
        let mut is_held = true;
        while is_held && !read("calls").contains(&wanted) {
            assert!(begun.elapsed() < LONGEST, "no call is reached: {}", read("stderr"));
            std::thread::sleep(Duration::from_millis(10));
            is_held = child.try_wait().expect("it can be asked").is_none();
        }
        if is_held {
            std::thread::sleep(self.pause);
            end(&mut child);
        }
        child.wait().expect("it ends");
        Ended { is_held, said: read("stdout") + &read("stderr"), calls: read("calls") }
    }
}

fn kill(child: &mut Child) {
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

/// Sends one signal, and kills the program if it still runs after [`GRACE`].
fn interrupt(child: &mut Child) {
    let sent = Process::new("kill").arg("-INT").arg(child.id().to_string()).status();
    assert!(sent.expect("kill runs").success());
    let begun = Instant::now();
    while begun.elapsed() < GRACE {
        if child.try_wait().expect("it can be asked").is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    kill(child);
}

impl Ended {
    /// Returns the names of objects for which this call began and was not reported as complete.
    fn in_flight(&self, verb: &str) -> BTreeSet<&str> {
        let begun = self.calls.lines().filter_map(|it| it.strip_prefix("begin "));
        let begun = begun.filter_map(|it| it.strip_prefix(verb)?.trim_start().split(' ').next());
        let word = match verb {
            "create" => "Creation complete",
            _ => "Destruction complete",
        };
        let is_reported = |name: &str| {
            let id = format!("[id={name}]");
            self.said.lines().any(|it| it.contains(word) && it.contains(&id))
        };
        begun.filter(|it| !is_reported(it)).collect()
    }
}

fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or_default()
}

/// Kills an apply. What it had reported is in the state after the next command, and only calls in flight are unknown.
pub fn after_kill(place: &mut Place, ending: &Ending) -> Result<Ended, Broken> {
    let (before, ended) = ending.go(place, kill)?;
    if !place.run(&["refresh"])?.1 {
        return Err(Broken("refresh fails after the kill".to_owned()));
    }
    let (world, state) = (place.world(), place.state());
    let created = ended.in_flight("create");
    let recorded: BTreeSet<&str> = state.iter().map(|it| it.file.as_str()).collect();
    let lost: Vec<&String> = world
        .iter()
        .filter(|it| !recorded.contains(it.as_str()) && !place.abandoned.contains(*it))
        .collect();
    if let Some(object) = lost.iter().find(|it| !created.contains(name(it))) {
        return Err(Broken(format!("{object} exists, was reported, and is not in the state")));
    }
    // The program may not know of these. The user finds and removes them.
    for object in lost {
        std::fs::remove_file(place.path().join(object)).expect("it is removed");
    }
    place.check_law(&ending.second, &before)?;
    place.finish(&ending.second)?;
    Ok(ended)
}

/// Interrupts an apply once and kills it if it does not end. Nothing is lost, as the provider honours `Stop`.
pub fn after_interrupt(place: &mut Place, ending: &Ending) -> Result<Ended, Broken> {
    let (before, ended) = ending.go(place, interrupt)?;
    place.check_law(&ending.second, &before)?;
    place.finish(&ending.second)?;
    Ok(ended)
}

/// Returns what came of all endings.
pub fn run_all(
    program: &Program,
    endings: &[Ending],
    how: fn(&mut Place, &Ending) -> Result<Ended, Broken>,
) -> Vec<Result<Ended, String>> {
    crate::support::in_parallel(endings, |ending| {
        let mut place = Place::new(program);
        how(&mut place, ending).map_err(|it| {
            format!("==== seed {}: {}\n{}\n{}", ending.seed, it.0, ending.text(), place.log)
        })
    })
}
