//! Answers agree with the plan: each question is asked, and then what it is about is done.
//!
//! Random configurations are applied; `impact`, `whatif`, `query`, `why` and `minimal` are asked about them, and plans are made
//! with what was asked about. `ENTAIL_ANSWERS=10000` tries more configurations, `ENTAIL_SEED=7` begins there.

#[path = "answers/further.rs"]
mod further;
#[path = "answers/laws.rs"]
mod laws;
#[path = "answers/model.rs"]
mod model;
#[path = "answers/parts.rs"]
mod parts;

use std::collections::BTreeMap;
use std::io::Write as _;

use self::laws::{Broken, Subject};
use self::model::{FEATURES, Model};
use crate::support::dice::Dice;
use crate::support::{in_parallel, number};

/// How many configurations are asked about.
const CONFIGURATIONS: u64 = 20;

/// At most this many broken laws are shown in full.
const SHOWN: usize = 5;

fn asked(model: &Model) -> Result<(), Broken> {
    let subject = Subject::applied(model)?;
    let mut dice = Dice::of(model.seed ^ 0x5bd1);
    for variable in &model.variables {
        subject.impact_of_variable(variable)?;
    }
    subject.impact_of_object(&mut Dice::of(model.seed ^ 0x0b7e))?;
    for _ in 0..3 {
        let flags = subject.flags(&mut dice);
        subject.flags_foreseen(&flags)?;
        subject.why_tells_values(&flags)?;
    }
    let flags = subject.flags(&mut dice);
    subject.policy_sees_values(&flags, &mut dice)?;
    subject.diff_is_symmetric(&flags)?;
    subject.unused_is_unused()?;
    subject.minimal_is_minimal(&mut dice)
}

#[test]
fn what_was_asked_about_happens_as_it_was_answered() {
    let count = number("ENTAIL_ANSWERS").unwrap_or(CONFIGURATIONS);
    let first = number("ENTAIL_SEED").unwrap_or(1);
    let models: Vec<Model> = (first..first + count).map(Model::random).collect();
    let mut counts: BTreeMap<&str, usize> = FEATURES.iter().map(|it| (*it, 0)).collect();
    for feature in models.iter().flat_map(|it| &it.features) {
        *counts.entry(feature).or_default() += 1;
    }
    let broken = in_parallel(&models, |model| {
        let Broken(why) = asked(model).err()?;
        Some(format!("==== seed {}: {why}\n{}", model.seed, model.text()))
    });
    let broken: Vec<String> = broken.into_iter().flatten().collect();
    let mut told = String::new();
    for (feature, count) in &counts {
        told.push_str(&format!("{count:6}  {feature}\n"));
    }
    std::io::stderr().write_all(told.as_bytes()).expect("it is written");
    let heads: Vec<&str> = broken.iter().filter_map(|it| it.lines().next()).collect();
    let shown: Vec<&str> = broken.iter().take(SHOWN).map(String::as_str).collect();
    assert!(
        broken.is_empty(),
        "{} of {count} are broken\n{}\n{}",
        broken.len(),
        shown.join("\n"),
        heads.join("\n")
    );
    if count >= CONFIGURATIONS {
        let missing: Vec<&&str> = counts.iter().filter(|it| *it.1 == 0).map(|it| it.0).collect();
        assert!(missing.is_empty(), "these features occur in no configuration: {missing:?}");
    }
}

/// The answers of one kind, held against what is done.
type Law = fn(&Subject<'_>, &mut Dice) -> Result<(), Broken>;

/// The configurations among which one has to show a false answer.
const TRIED: u64 = 12;

#[test]
fn a_false_answer_of_each_command_is_noticed() {
    let faults: [(&str, Law); 8] = [
        ("impact", |it, _| {
            it.model.variables.iter().try_for_each(|variable| it.impact_of_variable(variable))
        }),
        ("impact of objects", |it, dice| (0..6).try_for_each(|_| it.impact_of_object(dice))),
        ("whatif", |it, dice| it.flags_foreseen(&it.flags(dice))),
        ("values", |it, dice| (0..6).try_for_each(|_| it.flags_foreseen(&it.flags(dice)))),
        ("values", |it, dice| {
            (0..6).try_for_each(|_| it.policy_sees_values(&it.flags(dice), dice))
        }),
        ("minimal", |it, dice| it.minimal_is_minimal(dice)),
        ("diff", |it, dice| it.diff_is_symmetric(&it.flags(dice))),
        ("unused", |it, _| it.unused_is_unused()),
    ];
    let unnoticed = in_parallel(&faults, |(fault, law)| {
        let mut models = (1..=TRIED).map(Model::random);
        let is_noticed = models.any(|model| {
            let mut subject = Subject::applied(&model).expect("it is applied");
            subject.fault = Some(fault);
            law(&subject, &mut Dice::of(model.seed)).is_err()
        });
        (!is_noticed).then_some(*fault)
    });
    let unnoticed: Vec<&str> = unnoticed.into_iter().flatten().collect();
    assert!(unnoticed.is_empty(), "no law notices false answers of {unnoticed:?}");
}
