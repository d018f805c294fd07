//! What is asked on a terminal, and what counts as an answer.

use std::sync::Arc;

use entail::event::Event;
use entail::request::PlanMode;
use entail::workflow::Ask;
use expect_test::expect;

use entail::event::Sink;

use super::*;

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).expect("it is text")
    }
}

fn terminal(input: &'static str) -> (Ui, Buffer, Buffer) {
    let (out, err) = (Buffer::default(), Buffer::default());
    let streams = Streams {
        out: Door::new(Box::new(out.clone())),
        err: Door::new(Box::new(err.clone())),
        input_is_terminal: false,
        held: None,
        into: None,
        failed: None,
    };
    let view = ViewArgs {
        no_color: false,
        compact_warnings: false,
        consolidate_warnings: true,
        consolidate_errors: false,
        concise: false,
        deprecation: None,
    };
    let world = World { environment: Default::default(), ..World::of_this_process() };
    (Ui::new(&view, &world, streams, Box::new(input.as_bytes())), out, err)
}

#[test]
fn approval_is_yes_and_nothing_else() {
    let (ui, out, _) = terminal("yes\r\nYes\n");
    assert!(ui.approves(PlanMode::Normal, "default").expect("there is an answer"));
    assert!(!ui.approves(PlanMode::Destroy, "w").expect("there is an answer"));
    ui.cancelled(PlanMode::Destroy);
    let problem =
        ui.approves(PlanMode::RefreshOnly, "default").expect_err("there is no more input");
    assert_eq!(problem.summary, "error asking for approval: EOF");
    expect![[r#"

        Do you want to perform these actions?
          entail will perform the actions described above.
          Only 'yes' will be accepted to approve.

          Enter a value: 

        Do you really want to destroy all resources in workspace "w"?
          entail will destroy all your managed infrastructure, as shown above.
          There is no undo. Only 'yes' will be accepted to confirm.

          Enter a value: 

        Destroy cancelled.

        Would you like to update the entail state to reflect these detected changes?
          entail will write these changes to the state without modifying any real infrastructure.
          There is no undo. Only 'yes' will be accepted to confirm.

          Enter a value: 
    "#]]
    .assert_eq(&out.text());
}

#[test]
fn a_variable_is_asked_for_unless_questions_are_forbidden() {
    let (mut ui, out, _) = terminal("a \nb\n");
    assert_eq!(ui.variable("x", Some("What it is"), false).as_deref(), Some("a"));
    assert_eq!(ui.variable("y", None, true).as_deref(), Some("b"));
    expect![[r#"
        var.x
          What it is

          Enter a value: 
        var.y
          Enter a value: 
    "#]]
    .assert_eq(&out.text());
    ui.begin(Manner { silent: true, ..Manner::default() }, None).expect("there is no stream");
    assert_eq!(ui.variable("z", None, false), None);
}

#[test]
fn problems_go_to_their_stream_once() {
    let (ui, out, err) = terminal("");
    let problems = vec![Diagnostic::error("E"), Diagnostic::warning("W"), Diagnostic::error("E")];
    assert_eq!(ui.diagnostics(Diagnostics(problems)), 1);
    assert_eq!((out.text().as_str(), err.text().as_str()), ("\nWarning: W\n\n", "\nError: E\n\n"));
    assert_eq!(ui.diagnostics(Diagnostic::warning("W").into()), 0);
}

#[test]
fn with_json_everything_is_a_message() {
    let (mut ui, out, err) = terminal("");
    ui.begin(Manner { json: true, ..Manner::default() }, None).expect("there is one stream");
    ui.say("for people\n");
    ui.event(Event::Message("Stopping".into()));
    // Machines are told as often as there is something to tell.
    ui.diagnostics(Diagnostics(vec![Diagnostic::error("E"), Diagnostic::error("E")]));
    assert!(!ui.may_ask());
    let kinds: Vec<String> = out
        .text()
        .lines()
        .map(|it| {
            serde_json::from_str::<serde_json::Value>(it).expect("it is JSON")["type"].to_string()
        })
        .collect();
    assert_eq!(
        (kinds, err.text().as_str()),
        (["\"version\"", "null", "\"diagnostic\"", "\"diagnostic\""].map(String::from).into(), "",)
    );
}

#[test]
fn json_can_go_into_a_file_beside_the_text() {
    let path = std::env::temp_dir().join(format!("entail-stream-{}", std::process::id()));
    let (mut ui, out, _) = terminal("");
    ui.begin(Manner::default(), Some(&path)).expect("the file can be made");
    ui.event(Event::Message("Stopping".into()));
    let stream = std::fs::read_to_string(&path).expect("the file is there");
    assert_eq!((stream.lines().count(), out.text().as_str()), (2, "Stopping\n"));
    std::fs::remove_file(&path).expect("it is ours");
    let both = ui.begin(Manner { json: true, ..Manner::default() }, Some(&path));
    assert_eq!(both.expect_err("one of both").summary, "Invalid output format");
}
