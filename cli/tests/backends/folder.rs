//! Working directories, and the services that their states are kept in.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::services::postgres::{self, Postgres};
use crate::services::{consul, kubernetes, states};

pub const TOKEN: &str = "token-of-the-test";

pub const MAIN: &str = r#"
variable "v" { default = "one" }
resource "terraform_data" "a" { input = var.v }
output "v" { value = terraform_data.a.output }
"#;

/// A service with the arguments that lead to a place in it.
pub struct Service {
    pub kind: &'static str,
    /// Arguments of the block; `PLACE` is replaced.
    pub arguments: String,
    pub has_workspaces: bool,
}

impl Service {
    pub fn block(&self, place: &str) -> String {
        let arguments = self.arguments.replace("PLACE", place);
        format!("terraform {{\n  backend \"{}\" {{\n{arguments}\n  }}\n}}\n", self.kind)
    }

    pub fn new(kind: &'static str, arguments: String) -> Service {
        Service { kind, arguments, has_workspaces: kind != "http" }
    }
}

pub fn pg(port: u16) -> Service {
    let address = postgres::address(port);
    Service::new("pg", format!("conn_str = \"{address}\"\nschema_name = \"PLACE\""))
}

pub fn http(port: u16) -> Service {
    let address = format!("http://127.0.0.1:{port}/PLACE");
    let waits = "retry_wait_min = 0\nretry_wait_max = 0";
    Service::new(
        "http",
        format!(
            "address = \"{address}\"\nlock_address = \"{address}\"\nunlock_address = \"{address}\"\n{waits}"
        ),
    )
}

pub fn consul_at(port: u16) -> Service {
    Service::new("consul", format!("address = \"127.0.0.1:{port}\"\npath = \"states/PLACE\""))
}

pub fn kubernetes_at(port: u16) -> Service {
    Service::new(
        "kubernetes",
        format!(
            "host = \"http://127.0.0.1:{port}\"\ntoken = \"{TOKEN}\"\nsecret_suffix = \"PLACE\""
        ),
    )
}

/// Starts PostgreSQL, or says loudly that it is not tried.
pub fn start_postgres() -> Option<Postgres> {
    let started = Postgres::start();
    if started.is_none() {
        eprintln!("SKIPPED: the backend \"pg\" was not tried. {}", postgres::MISSING);
    }
    started
}

/// Starts all services that can be had.
pub fn all() -> (Vec<Service>, Option<Postgres>) {
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
pub struct Folder {
    place: tempfile::TempDir,
    /// Variables of the environment that every command gets.
    variables: Vec<(&'static str, String)>,
}

/// What a command has said.
pub struct Told {
    pub code: Option<i32>,
    pub text: String,
}

impl Told {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.text);
        self.text
    }

    #[track_caller]
    pub fn fails(self, with: &str) -> String {
        assert_eq!(self.code, Some(1), "{}", self.text);
        assert!(self.text.contains(with), "{with:?} is not in: {}", self.text);
        self.text
    }

    /// Checks that it failed with these words, and did not panic. Returns all words, with a space between them.
    #[track_caller]
    pub fn refuses(self, with: &str) -> String {
        let words = self.fails("").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(with), "{with:?} is not in: {words}");
        assert!(!words.contains("panicked"), "{words}");
        words
    }
}

impl Folder {
    pub fn new(configuration: &str) -> Folder {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder { place, variables: Vec::new() };
        folder.configure(MAIN).backend(configuration);
        folder
    }

    /// Returns it with a variable of the environment.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Folder {
        self.variables.push((name, value.into()));
        self
    }

    pub fn path(&self) -> &Path {
        self.place.path()
    }

    pub fn configure(&self, text: &str) -> &Folder {
        std::fs::write(self.path().join("main.tf"), text).expect("the folder takes files");
        self
    }

    pub fn backend(&self, text: &str) -> &Folder {
        std::fs::write(self.path().join("backend.tf"), text).expect("the folder takes files");
        self
    }

    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
        command
            .args(words.split_whitespace())
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_CLI_ARGS", "-no-color")
            .envs(self.variables.iter().map(|it| (it.0, &it.1)))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &str) -> Told {
        let output = self.command(words).output().expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        Told { code: output.status.code(), text: String::from_utf8_lossy(&text).into_owned() }
    }

    #[track_caller]
    pub fn init(&self) -> &Folder {
        self.run("init -input=false").ok();
        self
    }

    #[track_caller]
    pub fn apply(&self, value: &str) -> &Folder {
        self.run(&format!("apply -auto-approve -input=false -var v={value}")).ok();
        self
    }

    #[track_caller]
    pub fn output(&self) -> String {
        self.run("output -raw v").ok()
    }

    /// Starts an apply that waits for an answer, and so holds the lock.
    pub fn hold(&self) -> Child {
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
pub fn answer(mut child: Child, with: &str) -> Told {
    let input = child.stdin.as_mut().expect("it is piped");
    std::io::Write::write_all(input, format!("{with}\n").as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    let text = [output.stdout, output.stderr].concat();
    Told { code: output.status.code(), text: String::from_utf8_lossy(&text).into_owned() }
}
