//! A real PostgreSQL server, where the machine has its programs.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server, stopped when it is dropped.
pub struct Postgres {
    pub port: u16,
    programs: PathBuf,
    folder: tempfile::TempDir,
}

/// How the server is told apart from one that cannot be had.
pub const MISSING: &str = "PostgreSQL is not installed (initdb in /usr/lib/postgresql/*/bin or in PATH); `apt-get install postgresql` brings it";

fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let installed = installed.map(|it| it.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = installed
        .chain(std::env::split_paths(&path))
        .filter(|it| it.join("initdb").exists())
        .collect();
    found.sort();
    found.pop()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|it| it.stdout.trim_ascii() == b"0")
}

/// Returns a program, to be run as somebody whom PostgreSQL accepts.
fn program(folder: &Path, name: &str) -> Command {
    let path = folder.join(name);
    let mut command = match is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(path);
            command
        }
        false => Command::new(path),
    };
    command
        .current_dir("/")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

impl Postgres {
    /// Starts a server of its own; nothing where the machine has none.
    pub fn start() -> Option<Postgres> {
        let programs = programs()?;
        let folder = tempfile::tempdir().expect("a folder");
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(folder.path()).status();
            assert!(owned.expect("chown runs").success(), "the server's folder gets its owner");
        }
        let data = folder.path().join("data");
        let made = program(&programs, "initdb")
            .args(["-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N", "-D"])
            .arg(&data)
            .status();
        assert!(made.expect("initdb runs").success(), "initdb makes a cluster");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let port = port.expect("a port is free").port();
        let server = Postgres { port, programs, folder };
        server.control("start", true);
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn control(&self, action: &str, must_do: bool) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off",
            self.port
        );
        let mut command = program(&self.programs, "pg_ctl");
        command.args(["-w", "-m", "immediate", "-o", &options, "-l"]);
        command.arg(self.folder.path().join("log")).arg("-D").arg(self.data()).arg(action);
        let done = command.status().is_ok_and(|it| it.success());
        assert!(done || !must_do, "pg_ctl {action}");
    }

    /// Restarts the server: all sessions end.
    pub fn restart(&self) {
        self.control("restart", true);
    }

    fn psql(&self, statements: &str) -> Command {
        // Where only links to the server's programs are in PATH, the client is somewhere else in it.
        let is_beside = self.programs.join("psql").exists();
        let folder = if is_beside { &*self.programs } else { Path::new("") };
        let mut command = program(folder, "psql");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        command.args(["-d", &self.address(), "-c", statements]);
        command
    }

    /// Runs statements. Returns the rows of the last one, with `|` between their columns.
    #[track_caller]
    pub fn query(&self, statements: &str) -> String {
        let mut command = self.psql(statements);
        let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let output = output.expect("psql runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statements}: {errors}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Starts statements that take their time. Their session ends with the server.
    pub fn begin(&self, statements: &str) -> Running {
        Running(self.psql(statements).spawn().expect("psql runs"))
    }

    /// Returns a connection string.
    pub fn address(&self) -> String {
        address(self.port)
    }
}

/// Returns a connection string for a port, which may be that of a proxy.
pub fn address(port: u16) -> String {
    format!("postgres://tester@127.0.0.1:{port}/postgres?sslmode=disable")
}

/// Statements that are running. Dropping this lets go of them.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = (self.0.kill(), self.0.wait());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.control("stop", false);
    }
}
