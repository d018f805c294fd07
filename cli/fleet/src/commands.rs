//! The commands of `entail fleet`: arguments, one piece of work, one view.

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::impact::Direction;
use entail::operation::policies::PolicyChoice;
use entail::operation::session::unseal;
use entail::policy::rules::JUDGING;
use entail::policy::why::Asked as AskedWhy;
use entail::workflow::elsewhere::Questions;
use entail::workflow::explain::{self, Form, PlanSource, WhyOptions};
use entail::world::World;
use entail_cli::commands::{no_words, words};
use entail_cli::run::usual_view;
use entail_cli::ui::{Manner, Ui};
use entail_cli::view::{junit, policy as verdicts, query as rows};

use crate::arguments::{
    Asked, CheckArgs, Command, ImpactArgs, IndexArgs, ListArgs, PolicyCommand, QueryArgs, RunArgs,
    WhyArgs, read,
};
use crate::ask::Facts;
use crate::decided::{Decided, decided};
use crate::engine::{Choice, facts};
use crate::index::index;
use crate::lake::{Lake, Scan};
use crate::run::{self, Doing};
use crate::{impact, list, settings};

/// What a command exits with that cannot answer, though 1 would be an answer of it.
const NO_ANSWER: u8 = 2;

/// Runs the program.
pub fn main() -> ExitCode {
    let world = World::of_this_process();
    let words = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    match read(words.collect()) {
        Asked::Help(text, code) => {
            let ui = Ui::of_this_process(&usual_view(), &world);
            ui.out(&text);
            ExitCode::from(ui.close(code))
        }
        Asked::Misused(problem, command) => {
            let ui = Ui::of_this_process(&usual_view(), &world);
            ui.diagnostics((*problem).into());
            ui.refer_to_help(&command);
            ExitCode::from(if command == "fleet policy check" { NO_ANSWER } else { 1 })
        }
        Asked::Run(cli) => {
            let mut ui = Ui::of_this_process(&cli.view, &world);
            let world = Arc::new(world);
            let code = dispatch(&mut ui, &world, &cli.command)
                .unwrap_or_else(|problems| ui.diagnostics(problems));
            ExitCode::from(ui.close(code))
        }
    }
}

fn dispatch(ui: &mut Ui, world: &Arc<World>, command: &Command) -> Result<u8, Diagnostics> {
    ui.begin(Manner { silent: true, ..Manner::default() }, None)?;
    if world.variable("TF_ENCRYPTION").is_some() {
        unseal(world, &ui.sources)?;
    }
    match command {
        Command::List(args) => list_stacks(ui, world, args),
        Command::Index(args) => index_stacks(ui, world, args),
        Command::Query(args) => query(ui, world, args),
        Command::Impact(args) => impact_of(ui, world, args),
        Command::Why(args) => why(ui, world, args),
        Command::Policy(args) => match &args.command {
            PolicyCommand::Check(args) => Ok(check(ui, world, args).unwrap_or_else(|problems| {
                ui.diagnostics(problems);
                NO_ANSWER
            })),
        },
        Command::Plan(args) => run_stacks(ui, world, args, Doing::Plan),
        Command::Apply(args) => run_stacks(ui, world, args, Doing::Apply),
    }
}

fn list_stacks(ui: &Ui, world: &Arc<World>, args: &ListArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let settings = settings::read(world, &ui.sources, &args.fleet.fleet)?;
    let list = list::list(world, &settings)?;
    match args.json {
        true => ui.json(&format!("{:#}\n", list.to_json())),
        false => ui.out(&list.text()),
    }
    ui.remarks(list.problems.clone());
    Ok(u8::from(args.strict && list.has_failures()))
}

fn index_stacks(ui: &Ui, world: &Arc<World>, args: &IndexArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let settings = settings::read(world, &ui.sources, &args.fleet.fleet)?;
    let lake = Lake::open_to_index(world, &args.out, &|| ui.remarks(waiting(&args.out).into()))?;
    let outcome = index(world, &settings, &lake)?;
    match args.json {
        true => ui.json(&format!("{:#}\n", outcome.to_json())),
        false => ui.out(&outcome.text(&args.out)),
    }
    let has_failures = outcome.problems.has_errors() || !outcome.failed.is_empty();
    ui.remarks(outcome.problems);
    Ok(u8::from(args.strict && has_failures))
}

fn query(ui: &Ui, world: &Arc<World>, args: &QueryArgs) -> Result<u8, Diagnostics> {
    let detail = "The fleet query command expects exactly one argument: the body of a rule, in quotes, such as 'resource(n, t)'.";
    let [body] = words(&args.words, "Invalid number of arguments", detail)?;
    if args.json && args.csv {
        return Err(one_format("-json and -csv"));
    }
    let questions = Questions::new(&ui.host(world), &(&args.choice).into())?;
    let asked = questions.body(body)?;
    let lake = Lake::open(world, &args.lake.lake)?;
    let catalogue = lake.indexed()?;
    let program = asked.program.for_goals(&[asked.relation]);
    let (choice, limits) = (Choice::named(args.engine.engine.as_deref())?, args.limits.limits()?);
    let scan = Scan::new(&lake, &catalogue);
    let facts = kept(facts(&choice, &program, Some(asked.relation), &scan, limits.time)?);
    let answer = questions.answer(&asked, &*facts, &limits)?;
    match (args.json, args.csv) {
        (true, _) => ui.json(&format!("{:#}\n", answer.to_json())),
        (_, true) => ui.out(&rows::csv(&answer, args.possible)),
        _ => ui.out(&rows::table(&answer, &ui.style())),
    }
    if args.csv && !args.possible && !answer.possible.is_empty() {
        ui.remarks(rows::left_out(answer.possible.len()).into());
    }
    ui.remarks(answer.problems);
    Ok(0)
}

fn impact_of(ui: &Ui, world: &Arc<World>, args: &ImpactArgs) -> Result<u8, Diagnostics> {
    if args.words.is_empty() {
        return Err(Diagnostic::error("Invalid number of arguments")
            .detail("The fleet impact command expects objects, each as ADDRESS@STACK.")
            .into());
    }
    if args.depth == Some(0) {
        return Err(Diagnostic::error("Invalid depth")
            .detail("The -depth option must be 1 or more.")
            .into());
    }
    let lake = Lake::open(world, &args.lake.lake)?;
    let catalogue = lake.indexed()?;
    let direction = Direction { reverse: args.reverse, depth: args.depth };
    let found = impact::impact(&Scan::new(&lake, &catalogue), &args.words, direction)?;
    match args.json {
        true => ui.json(&format!("{}\n", found.to_json())),
        false => ui.out(&found.text(direction)),
    }
    Ok(0)
}

fn why(ui: &Ui, world: &Arc<World>, args: &WhyArgs) -> Result<u8, Diagnostics> {
    let detail = "The fleet why command expects exactly one argument: an object, as ADDRESS@STACK.";
    let [address] = words(&args.words, "Invalid number of arguments", detail)?;
    let form = if args.json { Form::Json } else { Form::Text(args.depth) };
    let Some(rule) = args.policy.clone() else {
        let settings = settings::read(world, &ui.sources, &args.fleet.fleet)?;
        let Decided { address, world, plan } = decided(world, &settings, address)?;
        let subject = PlanSource { saved: Some(plan), ..PlanSource::default() };
        let options = WhyOptions { address, form, subject, ..WhyOptions::default() };
        ui.json_or_text(args.json, &explain::why(&ui.host(&world), &options)?.text);
        return Ok(0);
    };
    let choice = PolicyChoice { named: args.policies.clone(), none: false };
    let questions = Questions::new(&ui.host(world), &choice)?;
    questions.policies.rules_of_name(&rule)?;
    let lake = Lake::open(world, &args.lake.lake)?;
    let catalogue = lake.indexed()?;
    let choice = Choice::named(args.engine.engine.as_deref())?.with_proofs()?;
    let (scan, limits) = (Scan::new(&lake, &catalogue), args.limits.limits()?);
    let facts = kept(facts(&choice, &judging(&questions), None, &scan, limits.time)?);
    let asked = AskedWhy { rule, address: address.clone(), limits };
    let answered = questions.why(&asked, form, &*facts)?;
    ui.json_or_text(args.json, &answered.text);
    ui.remarks(answered.problems);
    Ok(u8::from(!answered.is_given))
}

/// Keeps what was read until the process ends, which is soon: to give it back piece by piece would take as long as to answer.
fn kept(facts: Facts) -> ManuallyDrop<Facts> {
    ManuallyDrop::new(facts)
}

/// The rules that verdicts rest on.
fn judging(questions: &Questions) -> entail::datalog::Program {
    let program = &questions.policies.program;
    let goals: Vec<usize> = JUDGING.iter().filter_map(|it| program.relation(it.0)).collect();
    program.for_goals(&goals)
}

fn check(ui: &Ui, world: &Arc<World>, args: &CheckArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let formats = [args.json, args.sarif, args.junit, args.markdown];
    if formats.iter().filter(|it| **it).count() > 1 {
        return Err(one_format("-json, -sarif, -junit and -markdown"));
    }
    let questions = Questions::new(&ui.host(world), &(&args.choice).into())?;
    let lake = Lake::open(world, &args.lake.lake)?;
    let catalogue = lake.indexed()?;
    let (choice, limits) = (Choice::named(args.engine.engine.as_deref())?, args.limits.limits()?);
    let scan = Scan::new(&lake, &catalogue);
    let facts = kept(facts(&choice, &judging(&questions), None, &scan, limits.time)?);
    let mut report = questions.judge(&*facts, &limits)?;
    report.resources = catalogue.objects();
    let (rules, possible) = (&questions.policies.rules, args.possible);
    match formats {
        [true, ..] => ui.json(&format!("{:#}\n", report.to_json(possible, &ui.sources))),
        [_, true, ..] => {
            ui.json(&format!("{:#}\n", verdicts::sarif::document(&report, rules, possible)));
        }
        [_, _, true, _] => {
            let suites = verdicts::junit::suites(&report, rules, possible);
            ui.out(&junit::document(Some("policies"), &suites));
        }
        [.., true] => ui.out(&verdicts::markdown::document(&report, possible)),
        _ => ui.out(&verdicts::report(&report, possible, &ui.style())),
    }
    if !args.json {
        ui.remarks(report.problems.clone());
    }
    Ok(u8::from(report.is_denied()))
}

fn run_stacks(
    ui: &Ui,
    world: &Arc<World>,
    args: &RunArgs,
    doing: Doing,
) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let formats = [args.json, args.junit, args.markdown];
    if formats.iter().filter(|it| **it).count() > 1 {
        return Err(one_format("-json, -junit and -markdown"));
    }
    if doing == Doing::Apply && !args.auto_approve && !args.dry_run {
        return Err(Diagnostic::error("Approval required")
            .detail("Stacks are applied side by side, and nobody can be asked for each. Look at `fleet plan` first, then approve in advance with -auto-approve.")
            .into());
    }
    let settings = settings::read(world, &ui.sources, &args.fleet.fleet)?;
    let options = run::Options {
        doing,
        filter: args.filter.clone(),
        lake: args.lake.clone(),
        is_dry: args.dry_run,
        is_anew: args.anew,
        parallelism: args.parallelism.max(1),
    };
    let report = run::run(&ui.host(world), &settings, &options)?;
    match formats {
        [true, ..] => ui.json(&format!("{:#}\n", report.to_json())),
        [_, true, _] => ui.out(&report.junit()),
        [.., true] => ui.out(&report.markdown()),
        _ => ui.out(&report.text()),
    }
    ui.remarks(report.problems.clone());
    Ok(u8::from(report.has_failures()))
}

fn waiting(lake: &str) -> Diagnostic {
    Diagnostic::warning("Another index is under way").detail(format!(
        "Another process indexes into {lake}. This index begins when it has ended."
    ))
}

fn one_format(which: &str) -> Diagnostics {
    Diagnostic::error("More than one format")
        .detail(format!("Of {which}, only one can be written."))
        .into()
}
