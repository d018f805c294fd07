//! Remote backends, used as users use them: every command against every service, one service's states moved to the next, and what
//! happens when a connection breaks.

#![expect(clippy::print_stderr, reason = "what was tried with what is told")]

#[path = "../../tests/support/services/mod.rs"]
#[expect(dead_code, reason = "each test looks at a part of what services keep")]
mod services;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use services::postgres::{self, Postgres};
use services::proxy::{Fault, Proxy};
use services::{consul, kubernetes, states};

const TOKEN: &str = "token-of-the-test";

const MAIN: &str = r#"
variable "v" { default = "one" }
resource "terraform_data" "a" { input = var.v }
output "v" { value = terraform_data.a.output }
"#;

/// A service with the arguments that lead to a place in it.
struct Service {
    kind: &'static str,
    /// Arguments of the block; `PLACE` is replaced.
    arguments: String,
    has_workspaces: bool,
}

impl Service {
    fn block(&self, place: &str) -> String {
        let arguments = self.arguments.replace("PLACE", place);
        format!("terraform {{\n  backend \"{}\" {{\n{arguments}\n  }}\n}}\n", self.kind)
    }

    fn new(kind: &'static str, arguments: String) -> Service {
        Service { kind, arguments, has_workspaces: kind != "http" }
    }
}

fn pg(port: u16) -> Service {
    let address = postgres::address(port);
    Service::new("pg", format!("conn_str = \"{address}\"\nschema_name = \"PLACE\""))
}

fn http(port: u16) -> Service {
    let address = format!("http://127.0.0.1:{port}/PLACE");
    let waits = "retry_wait_min = 0\nretry_wait_max = 0";
    Service::new(
        "http",
        format!(
            "address = \"{address}\"\nlock_address = \"{address}\"\nunlock_address = \"{address}\"\n{waits}"
        ),
    )
}

fn consul_at(port: u16) -> Service {
    Service::new("consul", format!("address = \"127.0.0.1:{port}\"\npath = \"states/PLACE\""))
}

fn kubernetes_at(port: u16) -> Service {
    Service::new(
        "kubernetes",
        format!(
            "host = \"http://127.0.0.1:{port}\"\ntoken = \"{TOKEN}\"\nsecret_suffix = \"PLACE\""
        ),
    )
}

/// Starts PostgreSQL, or says loudly that it is not tried.
fn start_postgres() -> Option<Postgres> {
    let started = Postgres::start();
    if started.is_none() {
        eprintln!("SKIPPED: the backend \"pg\" was not tried. {}", postgres::MISSING);
    }
    started
}

/// Starts all services that can be had.
fn all() -> (Vec<Service>, Option<Postgres>) {
    let server = start_postgres();
    let mut found: Vec<Service> = server.iter().map(|it| pg(it.port)).collect();
    found.push(http(states::start().0));
    found.push(consul_at(consul::start().0));
    found.push(kubernetes_at(kubernetes::start(TOKEN).0));
    let with = |kind: &str| match kind {
        "pg" => "a real PostgreSQL",
        "http" => "a server of states",
        _ => "a double",
    };
    for it in &found {
        eprintln!("the backend {:?} is tried with {}", it.kind, with(it.kind));
    }
    (found, server)
}

/// A working directory.
struct Folder(tempfile::TempDir);

/// What a command has said.
struct Told {
    code: Option<i32>,
    text: String,
}

impl Told {
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.text);
        self.text
    }

    #[track_caller]
    fn fails(self, with: &str) -> String {
        assert_eq!(self.code, Some(1), "{}", self.text);
        assert!(self.text.contains(with), "{with:?} is not in: {}", self.text);
        self.text
    }
}

impl Folder {
    fn new(configuration: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        folder.configure(MAIN).backend(configuration);
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn configure(&self, text: &str) -> &Folder {
        std::fs::write(self.path().join("main.tf"), text).expect("the folder takes files");
        self
    }

    fn backend(&self, text: &str) -> &Folder {
        std::fs::write(self.path().join("backend.tf"), text).expect("the folder takes files");
        self
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
        command
            .args(words.split_whitespace())
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_CLI_ARGS", "-no-color")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &str) -> Told {
        let output = self.command(words).output().expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        Told { code: output.status.code(), text: String::from_utf8_lossy(&text).into_owned() }
    }

    #[track_caller]
    fn init(&self) -> &Folder {
        self.run("init -input=false").ok();
        self
    }

    #[track_caller]
    fn apply(&self, value: &str) -> &Folder {
        self.run(&format!("apply -auto-approve -input=false -var v={value}")).ok();
        self
    }

    #[track_caller]
    fn output(&self) -> String {
        self.run("output -raw v").ok()
    }

    /// Starts an apply that waits for an answer, and so holds the lock.
    fn hold(&self) -> Child {
        let mut child = self
            .command("apply -var v=held")
            .env_remove("TF_IN_AUTOMATION")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut seen = Vec::new();
        let mut byte = [0];
        let out = child.stdout.as_mut().expect("it is piped");
        while !seen.ends_with(b"Enter a value:") {
            let read = std::io::Read::read(out, &mut byte).expect("it can be read");
            assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
        child
    }
}

/// Lets an apply that waits go on, or not.
fn answer(mut child: Child, with: &str) -> Told {
    let input = child.stdin.as_mut().expect("it is piped");
    std::io::Write::write_all(input, format!("{with}\n").as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    let text = [output.stdout, output.stderr].concat();
    Told { code: output.status.code(), text: String::from_utf8_lossy(&text).into_owned() }
}

#[test]
fn a_state_is_kept_and_every_command_finds_it() {
    let (services, _server) = all();
    for service in &services {
        let (one, other) =
            (Folder::new(&service.block("shared")), Folder::new(&service.block("shared")));
        one.init().apply("first");
        other.init();
        assert_eq!(other.output(), "first", "{}", service.kind);
        assert!(other.run("plan -var v=first").ok().contains("No changes."), "{}", service.kind);
        other.apply("second");
        assert_eq!(one.output(), "second", "{}", service.kind);
        one.run("state mv terraform_data.a terraform_data.b").ok();
        assert_eq!(other.run("state list").ok().trim(), "terraform_data.b", "{}", service.kind);
        let pulled = other.run("state pull").ok();
        one.run("state rm terraform_data.b").ok();
        assert_eq!(other.run("state list").ok().trim(), "", "{}", service.kind);
        std::fs::write(one.path().join("pulled.tfstate"), pulled).expect("a file");
        one.run("state push pulled.tfstate").fails("serial");
        one.run("state push -force pulled.tfstate").ok();
        assert_eq!(other.run("state list").ok().trim(), "terraform_data.b", "{}", service.kind);
        let left = std::fs::read_dir(one.path()).expect("a folder").flatten();
        let left: Vec<_> = left.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        assert!(!left.iter().any(|it| it == "terraform.tfstate"), "{}: {left:?}", service.kind);
    }
}

#[test]
fn workspaces_are_kept_apart() {
    let (services, _server) = all();
    for service in &services {
        let folder = Folder::new(&service.block("spaces"));
        folder.init();
        if !service.has_workspaces {
            folder.run("workspace new dev").fails("workspaces not supported");
            continue;
        }
        folder.apply("default");
        folder.run("workspace new dev").ok();
        folder.apply("dev");
        let other = Folder::new(&service.block("spaces"));
        other.init();
        assert_eq!(other.run("workspace list").ok(), "* default\n  dev\n\n", "{}", service.kind);
        assert_eq!(other.output(), "default", "{}", service.kind);
        other.run("workspace select dev").ok();
        assert_eq!(other.output(), "dev", "{}", service.kind);
        other.run("workspace select default").ok();
        other.run("workspace delete dev").fails("not empty");
        other.run("workspace delete -force dev").ok();
        assert_eq!(other.run("workspace list").ok(), "* default\n\n", "{}", service.kind);
    }
}

#[test]
fn a_lock_is_held_told_waited_for_and_given_back() {
    let (services, _server) = all();
    for service in &services {
        let (one, other) =
            (Folder::new(&service.block("locked")), Folder::new(&service.block("locked")));
        one.init().apply("first");
        other.init();
        let holder = one.hold();
        let told = other.run("apply -auto-approve").fails("Error acquiring the state lock");
        assert!(told.contains("Operation: OperationTypeApply"), "{}: {told}", service.kind);
        let start = Instant::now();
        other.run("plan -lock-timeout=1s").fails("Error acquiring the state lock");
        assert!(start.elapsed() >= Duration::from_secs(1), "{}", service.kind);
        other.run("plan -lock=false").ok();
        other.run("force-unlock -force nobody").fails("Failed to unlock state");
        let waiting = {
            let mut command = other.command("apply -auto-approve -lock-timeout=60s -var v=after");
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        };
        std::thread::sleep(Duration::from_millis(500));
        answer(holder, "yes").ok();
        assert!(waiting.wait_with_output().expect("it ends").status.success(), "{}", service.kind);
        assert_eq!(one.output(), "after", "{}", service.kind);
    }
}

#[test]
fn states_of_all_workspaces_move_from_each_service_to_each_other() {
    let (services, _server) = all();
    for from in &services {
        for to in &services {
            let place = format!("move-{}-{}", from.kind, to.kind);
            let folder = Folder::new("");
            folder.init().apply("default");
            if from.has_workspaces {
                folder.run("workspace new dev").ok();
                folder.apply("dev");
            }
            folder.backend(&from.block(&place)).run("init -input=false -force-copy").ok();
            folder.backend(&to.block(&format!("{place}-2")));
            folder.run("plan").fails("Backend");
            folder.run("init -input=false").fails("-migrate-state");
            folder.run("init -input=false -migrate-state").fails("-force-copy");
            folder.run("init -input=false -migrate-state -force-copy").ok();
            let expected = if from.has_workspaces { "dev" } else { "default" };
            assert_eq!(folder.output(), expected, "{place}");
            folder.backend("").run("init -input=false -migrate-state -force-copy").ok();
            assert_eq!(folder.output(), expected, "{place}, and back to files");
        }
    }
}

#[test]
fn outputs_are_read_from_each_service() {
    let (services, _server) = all();
    for service in &services {
        Folder::new(&service.block("producer")).init().apply("told");
        let members = service.arguments.replace("PLACE", "producer");
        let consumer = Folder::new("");
        consumer.configure(&format!(
            "data \"terraform_remote_state\" \"p\" {{\n  backend = \"{}\"\n  config = {{\n{members}\n  }}\n}}\noutput \"v\" {{ value = data.terraform_remote_state.p.outputs.v }}\n",
            service.kind
        ));
        consumer.init().run("apply -auto-approve").ok();
        assert_eq!(consumer.output(), "told", "{}", service.kind);
    }
}

#[test]
fn the_session_of_a_lock_that_ends_stops_the_run_before_it_writes() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("lost"));
    folder.init().apply("first");
    let holder = folder.hold();
    server.restart();
    let told = answer(holder, "yes");
    assert_eq!(told.code, Some(1), "{}", told.text);
    assert!(told.text.contains("The lock of the state was lost"), "{}", told.text);
    assert!(folder.path().join("errored.tfstate").exists(), "{}", told.text);
    // What was done is not forgotten: the next command takes it up.
    assert!(folder.run("plan -var v=held").ok().contains("No changes."));
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
    let told = answer(holder, "yes");
    assert_eq!(told.code, Some(1), "{}", told.text);
    assert!(told.text.contains("The lock of the state was lost"), "{}", told.text);
    // The lock is kept back for some seconds.
    assert!(folder.run("plan -var v=held -lock-timeout=20s").ok().contains("No changes."));
}

#[test]
fn an_answer_that_does_not_come_is_settled_by_reading_back() {
    let (port, places) = states::start();
    let proxy = Proxy::start(port);
    let folder = Folder::new(&http(proxy.port).block("faults"));
    folder.init().apply("first");
    for (number, fault) in
        [Fault::CutAnswer, Fault::HalfAnswer, Fault::CutBefore, Fault::Twice, Fault::Delay]
            .into_iter()
            .enumerate()
    {
        let writes = || places.lock().expect("nobody panics with it")["/faults"].writes;
        let before = writes();
        let value = format!("v{number}");
        // Whatever the request is that meets it: each one in turn.
        for at in 0..6 {
            let mut faults = vec![Fault::None; at];
            faults.push(fault);
            proxy.set(faults);
            let told =
                folder.run(&format!("apply -auto-approve -lock-timeout=5s -var v={value}-{at}"));
            proxy.set([]);
            told.ok();
            assert_eq!(folder.output(), format!("{value}-{at}"), "{fault:?} at {at}");
        }
        let more = writes() - before;
        assert!((6..=12).contains(&more), "{fault:?}: {more} writes of 6 states");
    }
}

#[test]
fn what_no_server_takes_is_kept_and_taken_up() {
    let (port, places) = states::start();
    let folder = Folder::new(&http(port).block("down"));
    folder.init().apply("first");
    {
        let mut places = places.lock().expect("nobody panics with it");
        places.get_mut("/down").expect("it is there").faults = vec![("POST", 503); 9];
    }
    let told = folder.run("apply -auto-approve -var v=second");
    let told = told.fails("Failed to save state");
    assert!(told.contains("errored.tfstate"), "{told}");
    assert_eq!(folder.run("output -raw v").ok(), "second", "the journal has it");
    places
        .lock()
        .expect("nobody panics with it")
        .get_mut("/down")
        .expect("it is there")
        .faults
        .clear();
    assert!(folder.run("plan -var v=second").ok().contains("No changes."));
    folder.run("state push errored.tfstate").ok();
    assert!(
        Folder::new(&http(port).block("down"))
            .init()
            .run("plan -var v=second")
            .ok()
            .contains("No changes.")
    );
}

#[test]
fn no_secret_is_told() {
    let (port, _) = states::start();
    let folder = Folder::new(&format!(
        "terraform {{\n  backend \"http\" {{\n    address = \"http://user:hidden-1@127.0.0.1:{port}/a?token=hidden-2\"\n    lock_address = \"http://127.0.0.1:1/a?token=hidden-2\"\n    password = \"hidden-3\"\n    username = \"u\"\n    headers = {{ X-Key = \"hidden-4\" }}\n    retry_max = 0\n  }}\n}}\n"
    ));
    folder.init();
    let told = folder.run("apply -auto-approve").fails("Error acquiring the state lock");
    folder.backend("terraform {\n  backend \"pg\" {\n    conn_str = \"postgres://u:hidden-5@127.0.0.1:1/d?sslmode=disable\"\n  }\n}\n");
    let more = folder.run("init -reconfigure -input=false").fails("cannot connect");
    for text in [told, more] {
        assert!(!text.contains("hidden"), "{text}");
    }
}
