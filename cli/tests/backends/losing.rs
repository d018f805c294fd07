//! Locks that are lost while a run goes on, and runs that are killed after they have stored a part of what they do.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::folder::{
    Folder, TOKEN, Told, answer, consul_at, http, kubernetes_at, pg, start_postgres,
};
use crate::services::{consul, kubernetes, states};

/// Objects of which each says when it is begun, and waits until it may go on: `second` until `first` is done, `beside` for neither.
const STEPS: &str = r#"
resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "touch first-begun; until [ -e first-go ]; do sleep 0.02; done"
  }
}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "touch second-begun"
  }
}
"#;

const BESIDE: &str = r#"
resource "terraform_data" "beside" {
  provisioner "local-exec" {
    command = "touch beside-begun; until [ -e beside-go ]; do sleep 0.02; done"
  }
}
"#;

impl Folder {
    fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    fn make(&self, name: &str) {
        std::fs::write(self.path().join(name), "").expect("the folder takes files");
    }

    fn wait_for(&self, name: &str) {
        while !self.has(name) {
            std::thread::yield_now();
        }
    }

    /// Starts an apply, and waits until its first step has begun.
    fn begin(&self) -> Child {
        let mut command = self.command("apply -auto-approve -input=false");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program starts");
        self.wait_for("first-begun");
        child
    }
}

/// Waits until a run says this, and then lets its first step go on. Returns how it has ended.
fn hears(folder: &Folder, mut child: Child, words: &str) -> Told {
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut text = String::new();
    while !text.contains(words) {
        let read = out.read_line(&mut text).expect("it can be read");
        assert!(read > 0, "{text}");
    }
    folder.make("first-go");
    std::io::Read::read_to_string(&mut out, &mut text).expect("it can be read");
    let output = child.wait_with_output().expect("it ends");
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Told { code: output.status.code(), text }
}

/// A run loses its lock while a step of it runs: that one comes to its end, and nothing else is begun.
fn is_stopped(kind: &str, folder: &Folder, steal: impl FnOnce()) -> String {
    let child = folder.begin();
    steal();
    let told = hears(folder, child, "The state is not this run's any more");
    let text = told.fails("The lock of the state was lost");
    // Lines are broken to fit.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("No further step is begun"), "{kind}: {text}");
    assert!(!folder.has("second-begun"), "{kind}: {text}");
    assert!(folder.has("errored.tfstate"), "{kind}: {text}");
    text
}

/// What was finished before is known to the next command.
fn goes_on(kind: &str, folder: &Folder) {
    let planned = folder.run("plan -lock-timeout=20s").ok();
    assert!(planned.contains("1 to add"), "{kind}: {planned}");
    folder.run("apply -auto-approve -lock-timeout=20s").ok();
    assert!(folder.has("second-begun"), "{kind}");
    let listed = folder.run("state list").ok();
    assert_eq!(listed.trim(), "terraform_data.first\nterraform_data.second", "{kind}");
}

fn folder(block: &str) -> Folder {
    let folder = Folder::new(block);
    folder.configure(STEPS).init();
    folder
}

#[test]
fn a_session_that_ends_stops_the_run_between_its_steps() {
    let Some(server) = start_postgres() else { return };
    let folder = folder(&pg(server.port).block("stopped"));
    is_stopped("pg", &folder, || server.restart());
    goes_on("pg", &folder);
}

#[test]
fn a_session_of_consul_that_ends_stops_the_run_between_its_steps() {
    let (port, cluster) = consul::start();
    let folder = folder(&consul_at(port).block("stopped"));
    is_stopped("consul", &folder, || {
        let mut cluster = cluster.lock().expect("nobody panics with it");
        let session = cluster.sessions.keys().next().expect("there is one").clone();
        cluster.end(&session);
    });
    goes_on("consul", &folder);
}

#[test]
fn a_lease_that_is_taken_stops_the_run_between_its_steps() {
    let (port, cluster) = kubernetes::start(TOKEN);
    let folder = folder(&kubernetes_at(port).block("stopped"));
    let set = |record: &str| {
        let mut cluster = cluster.lock().expect("nobody panics with it");
        let lease = cluster.objects.iter_mut().find(|it| it.0.contains("/leases/"));
        let lease = lease.expect("there is one").1;
        lease["spec"]["holderIdentity"] = if record.is_empty() { "" } else { "theirs" }.into();
        lease["metadata"]["annotations"]["app.terraform.io/lock-info"] = record.into();
    };
    let text = is_stopped("kubernetes", &folder, || set(r#"{"ID":"theirs","Who":"thief@there"}"#));
    assert!(text.contains("belongs to thief@there now (ID theirs)"), "{text}");
    set("");
    goes_on("kubernetes", &folder);
}

#[test]
fn a_lock_that_is_lost_before_the_first_step_lets_nothing_begin() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("lost"));
    folder.init().apply("first");
    let holder = folder.hold();
    server.restart();
    let text = answer(holder, "yes").fails("The lock of the state was lost");
    assert!(!folder.has("errored.tfstate"), "{text}");
    assert_eq!(folder.output(), "first");
    folder.apply("held");
    assert_eq!(folder.output(), "held");
}

#[test]
fn a_lost_session_of_consul_stops_the_run_before_it_writes() {
    let (port, cluster) = consul::start();
    let folder = Folder::new(&consul_at(port).block("lost"));
    folder.init().apply("first");
    let holder = folder.hold();
    {
        let mut cluster = cluster.lock().expect("nobody panics with it");
        let session = cluster.sessions.keys().next().expect("there is one").clone();
        cluster.end(&session);
    }
    let told = answer(holder, "yes").fails("The lock of the state was lost");
    // The lock is kept back for some seconds.
    let planned = folder.run("plan -var v=held -lock-timeout=20s").ok();
    assert!(
        planned.contains("No changes.") || planned.contains("1 to change"),
        "{told}\n{planned}"
    );
}

#[test]
fn a_run_that_is_asked_to_stop_stores_what_is_half_done_and_the_next_goes_on_from_there() {
    let (port, places) = states::start();
    let folder = Folder::new(&http(port).block("stopped"));
    folder.configure(&(STEPS.to_owned() + BESIDE)).init();
    let child = folder.begin();
    folder.wait_for("beside-begun");
    let signal = rustix::process::Signal::INT;
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, signal).expect("it is there");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stored = {
        let places = places.lock().expect("nobody panics with it");
        let place = places.get("/stopped").expect("it was asked");
        assert!(place.lock.is_none(), "{output:?}");
        String::from_utf8(place.state.clone().unwrap_or_default()).expect("a state is text")
    };
    // Both were made, and their commands had not come to an end.
    assert_eq!(stored.matches("\"status\": \"tainted\"").count(), 2, "{stored}");
    assert!(!folder.has("second-begun"), "{output:?}");
    folder.make("first-go");
    folder.make("beside-go");
    let told = folder.run("apply -auto-approve").ok();
    assert!(told.contains("3 added, 0 changed, 2 destroyed"), "{told}");
}

#[test]
fn an_interval_that_makes_no_sense_lets_nothing_begin() {
    let (port, _) = states::start();
    let folder = folder(&http(port).block("interval"));
    for wrong in ["19", "often", "-1"] {
        let mut command = folder.command("apply -auto-approve");
        let output = command.env("TF_STATE_PERSIST_INTERVAL", wrong).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("Invalid interval of stored states"), "{wrong}: {text}");
        assert!(!folder.has("first-begun"), "{wrong}: {text}");
    }
}
