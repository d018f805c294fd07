//! `console`: evaluates expressions line by line.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::request::Request;
use entail::workflow::console::{Console, HELP, Lines as Together, console, open};
use entail::workflow::explain::{PlanSource, WhyOptions, why};
use entail::workflow::names;
use entail::workflow::options::PlanOptions;
use entail::workflow::{LockOptions, StateOptions};
use entail::world::World;

use super::{begin, words};
use crate::arguments::groups::{LockArgs, OutputArgs, VariableArgs};
use crate::interrupt::heeding;
use crate::ui::Ui;
use crate::ui::editing::{Lines, word_start};

/// Try expressions at an interactive command prompt
///
/// Evaluates one expression per line in the scope of the root module. In a terminal, lines can be edited, Tab completes names,
/// attributes and functions, `:type EXPRESSION` says what type a value has, and `:why ADDRESS` what the plan does with an object.
#[derive(clap::Args, Debug)]
pub struct ConsoleArgs {
    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Evaluates every line until the input ends, or `exit`. On a pipe, the first error ends it.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ConsoleArgs) -> Result<u8, Diagnostics> {
    let (summary, detail) =
        ("Too many command line arguments", "Expected at most one positional argument.");
    words::<0>(&args.words, summary, detail)?;
    if args.output.messages.json {
        return Err(Diagnostic::error("Output only in json is not allowed")
            .detail("A conversation has no form for machines. With -json-into=FILE, the answers are written to a file as well, one message each.")
            .into());
    }
    begin(ui, &args.output, false)?;
    let files = Choice { state: args.state.clone(), ..Choice::default() };
    let state = StateOptions { files, lock: LockOptions::from(&args.lock) };
    let request = Request { variables: args.variables.sources()?, ..Request::default() };
    ui.converse();
    let ui = &*ui;
    let asked = Asked { ui, world, state: &state, request: &request };
    heeding(ui, || {
        let opened = open(&ui.host(world), &state)?;
        // The lock is released: an interrupt may end the conversation at once.
        ui.interrupts.hold_nothing();
        if ui.interrupts.stop.asked() > 0 {
            return Ok(1);
        }
        console(&ui.host(world), opened, &request, |console| match ui.is_conversation() {
            true => asked.talk(console),
            false => converse(ui, |prompt| ui.line(prompt), |text| console.answer(text)),
        })
    })?
}

/// What the console was started with.
struct Asked<'a> {
    ui: &'a Ui,
    world: &'a Arc<World>,
    state: &'a StateOptions,
    request: &'a Request,
}

impl Asked<'_> {
    /// Talks to people, who edit their lines.
    fn talk(&self, console: &Console<'_>) -> u8 {
        let host = self.ui.host(self.world);
        let mut known = names::references(&host);
        known.extend(entail::expression::functions::all().iter().map(|it| format!("{}(", it.name)));
        known.extend([":type ", ":why ", "help", "exit"].map(str::to_owned));
        let words = |word: &str| completions(&known, console, word);
        let answer = |text: &str| self.answer(console, text);
        let history = entail::backend::workspace::data_folder(self.world);
        let history = history.is_dir().then(|| history.join("entail.console.history"));
        match Lines::begin(&words, history) {
            Some(mut lines) => converse(self.ui, |prompt| lines.next(prompt), answer),
            None => converse(self.ui, |prompt| self.ui.line(prompt), answer),
        }
    }

    fn answer(&self, console: &Console<'_>, text: &str) -> Result<String, Diagnostics> {
        match text.trim().split_once(' ').unwrap_or((text.trim(), "")) {
            (":type", expression) => console.answer(&format!("type({expression})")),
            (":why", asked) => self.why(asked),
            _ => console.answer(text),
        }
    }

    /// Says why the plan does what it does with what an expression names.
    fn why(&self, asked: &str) -> Result<String, Diagnostics> {
        let (request, state) = (self.request.clone(), self.state.clone());
        let planning = PlanOptions { request, state, ..PlanOptions::default() };
        let subject = PlanSource { planning, ..PlanSource::default() };
        let mut told = String::new();
        for address in addresses(asked) {
            let address = address.to_owned();
            let options = WhyOptions { address, subject: subject.clone(), ..WhyOptions::default() };
            told.push_str(&why(&self.ui.host(self.world), &options)?.text);
        }
        match told.trim_end() {
            "" => Err(Diagnostic::error("Nothing to explain")
                .detail("Name an object, as in `:why aws_instance.web`, or an expression that refers to one.")
                .into()),
            told => Ok(told.to_owned()),
        }
    }
}

/// Returns the addresses that stand in an expression; one alone is taken as it is.
fn addresses(asked: &str) -> Vec<&str> {
    if asked.parse::<entail::address::target::Target>().is_ok() {
        return vec![asked];
    }
    let ends: Vec<usize> = asked.char_indices().map(|it| it.0).chain([asked.len()]).collect();
    let mut found: Vec<&str> = Vec::new();
    let mut end = asked.len();
    for at in ends.into_iter().rev() {
        if at > end {
            continue;
        }
        let start = word_start(&asked[..at]);
        if start < at {
            found.push(&asked[start..at]);
        }
        end = start;
    }
    found.retain(|it| it.contains('.') && it.starts_with(char::is_alphabetic));
    found.reverse();
    found
}

/// Returns what a word may become: a name, a function, or an attribute of what stands before its last dot.
fn completions(known: &BTreeSet<String>, console: &Console<'_>, word: &str) -> Vec<String> {
    let mut found: Vec<String> = known.iter().filter(|it| it.starts_with(word)).cloned().collect();
    if let Some((object, typed)) = word.rsplit_once('.') {
        let keys = console.answer(&format!("keys({object})")).unwrap_or_default();
        // Every other piece of a list of texts stands between quotes.
        let keys = keys.split('"').skip(1).step_by(2).filter(|it| it.starts_with(typed));
        found.extend(keys.map(|it| format!("{object}.{it}")));
    }
    found
}

fn converse(
    ui: &Ui,
    mut line: impl FnMut(&str) -> Option<String>,
    answer: impl Fn(&str) -> Result<String, Diagnostics>,
) -> u8 {
    let mut lines = Together::default();
    let mut prompt = "> ".to_owned();
    while let Some(line) = line(&prompt) {
        let text = match lines.take(&line) {
            Ok(text) => text,
            Err(depth) => {
                prompt = format!("{} ", ".".repeat(depth));
                continue;
            }
        };
        prompt = "> ".to_owned();
        match text.trim() {
            "exit" => return 0,
            "help" => tell(ui, HELP),
            "" => tell(ui, ""),
            _ => match answer(&text) {
                Ok(answer) => tell(ui, &answer),
                Err(problems) => {
                    let code = ui.diagnostics(problems);
                    if !ui.is_conversation() {
                        return code;
                    }
                }
            },
        }
    }
    0
}

/// Prints an answer; with `-json-into`, it is a message as well.
fn tell(ui: &Ui, answer: &str) {
    ui.message(answer);
    ui.out(&format!("{answer}\n"));
}

#[cfg(test)]
mod tests {
    use super::addresses;

    #[test]
    fn an_expression_is_asked_by_what_it_refers_to() {
        assert_eq!(addresses("module.m.t.n[\"a b\"]"), ["module.m.t.n[\"a b\"]"]);
        assert_eq!(addresses("upper(t.a.name, \"x\") + t.b[0]"), ["t.a.name", "t.b[0]"]);
        assert!(addresses("").is_empty());
    }
}
