//! Answers with a misleading status: an object counts as stored, deleted or absent only if the body confirms it.

use std::sync::{Arc, Mutex};

use crate::folder::{Folder, Service, TOKEN, consul_at, kubernetes_at};
use crate::services::http::{Reply, Request};
use crate::services::{consul, kubernetes};

/// The method of a request, and the status and the body that it gets.
type Strange = (&'static str, u16, &'static str);

/// What requests get instead of an answer, while there is something.
#[derive(Clone, Default)]
struct Instead(Arc<Mutex<Option<Strange>>>);

impl Instead {
    fn set(&self, answer: Option<Strange>) {
        *self.0.lock().expect("no thread panics while it holds this") = answer;
    }

    /// Returns the answer to a request about the state; locks go on as they do.
    fn answer(&self, request: &Request) -> Option<Reply> {
        let (method, status, body) =
            (*self.0.lock().expect("no thread panics while it holds this"))?;
        let is_lock = ["lock", "session", "lease"].iter().any(|it| request.path.contains(it));
        (request.method == method && !is_lock).then(|| Reply::new(status, body))
    }
}

fn services(instead: &Instead) -> [Service; 2] {
    let (one, other) = (instead.clone(), instead.clone());
    let (consul, _) = consul::start_behind(move |it| one.answer(it));
    let (cluster, _) = kubernetes::start_behind(TOKEN, move |it| other.answer(it));
    [consul_at(consul), kubernetes_at(cluster)]
}

const PAGE: &str = "<!DOCTYPE html>\n<title>Log in</title>";

#[test]
fn a_write_counts_only_where_the_answer_says_what_is_stored() {
    let answers = [
        PAGE,
        "",
        "{}",
        "null",
        "[]",
        r#"{"Results": null, "Errors": null}"#,
        r#"{"Results": [], "Errors": [{"OpIndex": 0, "What": "no"}]}"#,
        r#"{"kind": "Status", "apiVersion": "v1", "status": "Failure"}"#,
        r#"{"kind": "Secret", "metadata": {"name": "another"}, "data": {}}"#,
    ];
    let instead = Instead::default();
    for service in services(&instead) {
        let folder = Folder::new(&service.block("written"));
        folder.init().apply("first");
        for (number, body) in answers.iter().enumerate() {
            instead.set(Some(("PUT", 200, body)));
            let applied = folder.run(&format!("apply -auto-approve -input=false -var v=n{number}"));
            instead.set(None);
            applied.fails("Error: ");
            // What was done is kept here, and taken up by the next run.
            folder.apply(&format!("n{number}"));
            assert_eq!(folder.output(), format!("n{number}"), "{}: {body}", service.kind);
            let _ = std::fs::remove_file(folder.path().join("errored.tfstate"));
        }
    }
}

#[test]
fn nothing_counts_as_absent_that_no_server_of_its_kind_calls_so() {
    let answers =
        [(404, PAGE), (404, "not here"), (200, PAGE), (200, ""), (200, "{}"), (200, "null")];
    let instead = Instead::default();
    for service in services(&instead) {
        Folder::new(&service.block("there")).init().apply("first");
        for (status, body) in answers {
            let fresh = Folder::new(&service.block("there"));
            instead.set(Some(("GET", status, body)));
            let set_up = fresh.run("init -input=false");
            let planned = match set_up.code {
                Some(0) => fresh.run("plan -input=false -lock=false"),
                _ => set_up,
            };
            instead.set(None);
            planned.fails("Error: ");
        }
    }
}

#[test]
fn a_workspace_is_deleted_only_where_the_answer_says_so() {
    let instead = Instead::default();
    for service in services(&instead) {
        let folder = Folder::new(&service.block("deleted"));
        folder.init().run("workspace new other").ok();
        folder.apply("first").run("workspace select default").ok();
        for (status, body) in [(200, PAGE), (200, ""), (200, "false"), (404, PAGE)] {
            instead.set(Some(("DELETE", status, body)));
            let deleted = folder.run("workspace delete -force other");
            instead.set(None);
            deleted.fails("Error: ");
        }
        folder.run("workspace delete -force other").ok();
    }
}

#[test]
fn a_value_that_was_emptied_is_not_taken_for_no_state() {
    let (port, consul) = consul::start();
    let service = consul_at(port);
    Folder::new(&service.block("emptied")).init().apply("first");
    let mut kept = consul.lock().expect("no thread panics while it holds this");
    kept.keys.get_mut("states/emptied").expect("it was stored").value.clear();
    drop(kept);
    let fresh = Folder::new(&service.block("emptied"));
    fresh.run("init -input=false");
    fresh.run("plan -input=false").fails("which is no state");
}
