//! `remote-exec` and `file` against a real `sshd`, which each test starts on a port of its own with fresh keys.

#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::interrupt::interrupted;
use crate::support::place::Place;

/// A machine that can be reached, on this one.
struct Machine {
    folder: tempfile::TempDir,
    port: u16,
    user: String,
    children: Vec<Child>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs a program to its end.
fn tool(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn sshd() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"]
        .iter()
        .map(PathBuf::from)
        .find(|it| it.is_file())
}

impl Machine {
    /// Starts a machine; without `sshd` and its tools the test is skipped, and says so.
    fn start() -> Option<Machine> {
        let machine = Machine::try_start();
        if machine.is_none() {
            eprintln!(
                "SKIPPED: no working sshd (Debian: openssh-server; as root it needs /run/sshd)"
            );
        }
        machine
    }

    fn try_start() -> Option<Machine> {
        let program = sshd()?;
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["host", "user", "ca", "other"] {
            let path = folder.path().join(name);
            tool(
                "ssh-keygen",
                &["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path.to_str()?],
            )?;
        }
        let rsa = folder.path().join("rsa");
        tool(
            "ssh-keygen",
            &["-q", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "", "-f", rsa.to_str()?],
        )?;
        let user = tool("id", &["-un"])?;
        let at = |name: &str| folder.path().join(name).display().to_string();
        tool(
            "ssh-keygen",
            &["-q", "-s", &at("ca"), "-h", "-I", "host", "-n", "127.0.0.1", &at("host.pub")],
        )?;
        tool("ssh-keygen", &["-q", "-s", &at("ca"), "-I", "user", "-n", &user, &at("other.pub")])?;
        let keys =
            ["user.pub", "rsa.pub"].map(|it| std::fs::read_to_string(at(it)).expect("a key"));
        std::fs::write(at("authorized"), keys.concat()).expect("it is written");
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nHostCertificate {}\nAuthorizedKeysFile {}\nTrustedUserCAKeys {}\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n",
            at("host"),
            at("host-cert.pub"),
            at("authorized"),
            at("ca.pub"),
        );
        std::fs::write(at("settings"), settings).expect("it is written");
        let child = Command::new(program)
            .args(["-D", "-e", "-f", &at("settings")])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut machine = Machine { folder, port, user, children: vec![child] };
        machine
            .wait_until(|it| TcpStream::connect(("127.0.0.1", it.port)).is_ok())
            .then_some(machine)
    }

    fn wait_until(&mut self, mut test: impl FnMut(&Machine) -> bool) -> bool {
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if test(self) {
                return true;
            }
            if self.children.iter_mut().any(|it| !matches!(it.try_wait(), Ok(None))) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Returns arguments of a `connection` that lead to the machine, without a key.
    fn base(&self) -> String {
        format!(
            "    host    = \"127.0.0.1\"\n    port    = {}\n    user    = {:?}\n    timeout = \"20s\"\n    agent   = false\n",
            self.port, self.user
        )
    }

    /// Returns them with the user's key.
    fn connection(&self) -> String {
        self.with_key("user")
    }

    fn with_key(&self, name: &str) -> String {
        format!("{}    private_key = file({:?})\n", self.base(), self.file(name))
    }
}

/// A configuration of one object with a `connection` and provisioners.
fn object(connection: &str, provisioners: &str) -> String {
    format!(
        "resource \"terraform_data\" \"a\" {{\n  input = \"x\"\n  connection {{\n{connection}  }}\n{provisioners}}}\n"
    )
}

fn says(line: &str) -> String {
    object_script(&format!("\"echo {line}\""))
}

fn object_script(line: &str) -> String {
    format!("  provisioner \"remote-exec\" {{\n    inline = [{line}]\n  }}\n")
}

/// Asserts that a connection leads to the machine.
#[track_caller]
fn assert_reaches(connection: &str) {
    let place = Place::new(&object(connection, &says("here")));
    let text = place.succeed(&["apply", "-auto-approve"]);
    assert!(text.contains("terraform_data.a (remote-exec): here\n"), "{text}");
}

/// Asserts that a connection leads nowhere, and returns what is said.
#[track_caller]
fn assert_refused(connection: &str) -> String {
    let connection = connection.replace("20s", "2s");
    let place = Place::new(&object(&connection, &says("here")));
    let (text, code) = place.run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(place.succeed(&["plan"]).contains("is tainted, so it must be replaced"));
    // Messages are folded at the width of the terminal.
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "")
}

#[test]
fn scripts_run_on_the_machine_and_their_output_is_told() {
    let Some(machine) = Machine::start() else { return };
    let place = Place::new(&object(
        &machine.connection(),
        "  provisioner \"remote-exec\" {
    inline = [\"echo one ${self.input}\", \"echo two >&2\", \"printf three\"]
  }
  provisioner \"remote-exec\" {
    scripts = [\"first.sh\", \"second.sh\"]
  }
",
    ));
    place.write("first.sh", "#!/bin/sh\necho \"first $0\" | sed 's/[0-9][0-9]*/N/'\n");
    place.write("second.sh", "echo second\n");
    let text = place.succeed(&["apply", "-auto-approve"]);
    let told: Vec<&str> = text
        .lines()
        .filter_map(|it| it.strip_prefix("terraform_data.a (remote-exec): "))
        .filter(|it| !it.starts_with(' '))
        .collect();
    assert_eq!(
        told,
        [
            "Connecting to remote host via SSH...",
            "Connected!",
            "one x",
            "two",
            "three",
            "Connecting to remote host via SSH...",
            "Connected!",
            "first /tmp/terraform_N.sh",
            "second",
        ],
        "{text}"
    );
    let expected = format!(
        "terraform_data.a (remote-exec):   User: {}\nterraform_data.a (remote-exec):   Password: false\nterraform_data.a (remote-exec):   Private key: true\n",
        machine.user
    );
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn files_folders_and_texts_are_put_on_the_machine() {
    let Some(machine) = Machine::start() else { return };
    let to = |name: &str| machine.file(name);
    let place = Place::new("");
    std::fs::create_dir_all(place.path().join("tree/sub")).expect("a folder");
    std::fs::create_dir_all(to("into")).expect("a folder");
    std::fs::create_dir_all(to("whole")).expect("a folder");
    place.write("tree/a", "A");
    place.write("tree/sub/b", &"B".repeat(300_000));
    place.write("one", "");
    let file = |arguments: &str, destination: &str| {
        format!(
            "  provisioner \"file\" {{\n    {arguments}\n    destination = {destination:?}\n  }}\n"
        )
    };
    let provisioners = [
        file("content = \"hello ${self.input}\"", &to("it's a text")),
        file("source = \"one\"", &to("one")),
        file("source = \"tree\"", &to("whole")),
        file("source = \"tree/\"", &to("into")),
    ];
    place.write("main.tf", &object(&machine.connection(), &provisioners.concat()));
    let text = place.succeed(&["apply", "-auto-approve"]);
    assert!(text.contains("terraform_data.a: Provisioning with 'file'..."), "{text}");
    let read = |name: &str| std::fs::read_to_string(to(name)).expect("it is there");
    assert_eq!(read("it's a text"), "hello x");
    assert_eq!(read("one"), "");
    for folder in ["whole/tree", "into"] {
        assert_eq!(read(&format!("{folder}/a")), "A");
        assert_eq!(read(&format!("{folder}/sub/b")).len(), 300_000);
    }
    assert!(!Path::new(&to("into/tree")).exists());
}

#[test]
fn what_a_provisioner_says_of_its_connection_goes_before_what_the_resource_says() {
    let Some(machine) = Machine::start() else { return };
    let connection = machine.connection().replace(&machine.port.to_string(), "1");
    let place = Place::new(&object(
        &connection,
        &format!(
            "  provisioner \"remote-exec\" {{\n    inline = [\"echo here\"]\n    connection {{\n      port = {}\n    }}\n  }}\n",
            machine.port
        ),
    ));
    assert!(place.succeed(&["apply", "-auto-approve"]).contains("(remote-exec): here\n"));
}

#[test]
fn a_script_that_fails_taints_unless_failures_are_allowed() {
    let Some(machine) = Machine::start() else { return };
    let place = Place::new(&object(&machine.connection(), &object_script("\"echo one; exit 3\"")));
    let (text, code) = place.run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("remote-exec provisioner error"), "{text}");
    assert!(text.contains("Process exited with status 3"), "{text}");
    assert!(place.succeed(&["plan"]).contains("is tainted, so it must be replaced"));

    let allowed =
        object_script("\"exit 3\"").replace("inline", "on_failure = continue\n    inline");
    place.write("main.tf", &object(&machine.connection(), &allowed));
    place.succeed(&["apply", "-auto-approve"]);
    assert!(place.succeed(&["plan"]).contains("No changes."));

    let missing = "  provisioner \"file\" {\n    content = \"x\"\n    destination = \"/nowhere/there/x\"\n  }\n";
    let place = Place::new(&object(&machine.connection(), missing));
    let (text, code) = place.run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("Upload failed: scp: /nowhere/there: No such file or directory"),
        "{text}"
    );
}

#[test]
fn what_runs_before_an_object_is_destroyed_knows_it_as_self() {
    let Some(machine) = Machine::start() else { return };
    let left = machine.file("left");
    let connection = machine.connection().replace("\"127.0.0.1\"", "self.input");
    let config = object(
        &connection,
        &format!(
            "  provisioner \"remote-exec\" {{\n    when = destroy\n    inline = [\"echo ${{self.input}} > {left}\"]\n  }}\n"
        ),
    );
    let place = Place::new(&config.replace("\"x\"", "\"127.0.0.1\""));
    place.succeed(&["apply", "-auto-approve"]);
    assert!(!Path::new(&left).exists());
    place.succeed(&["destroy", "-auto-approve"]);
    assert_eq!(std::fs::read_to_string(&left).expect("it is there"), "127.0.0.1\n");
}

#[test]
fn output_is_hidden_where_the_script_holds_a_secret_and_not_where_the_connection_does() {
    let Some(machine) = Machine::start() else { return };
    let variable = "variable \"secret\" {\n  sensitive = true\n  default   = \"geheim\"\n}\n";
    let place = Place::new(&(object(&machine.connection(), &says("${var.secret}")) + variable));
    let text = place.succeed(&["apply", "-auto-approve"]);
    assert!(!text.contains("geheim") && !text.contains("Host:"), "{text}");
    assert!(text.contains("(output suppressed due to sensitive value in config)"), "{text}");

    let connection = machine.connection() + "    password = var.secret\n";
    let place = Place::new(&(object(&connection, &says("here")) + variable));
    let text = place.succeed(&["apply", "-auto-approve"]);
    assert!(text.contains("(remote-exec): here") && text.contains("Password: true"), "{text}");
}

#[test]
fn a_machine_is_known_by_its_key_or_by_who_signed_it() {
    let Some(machine) = Machine::start() else { return };
    let with = |key: &str| {
        format!("{}    host_key = file({:?})\n", machine.connection(), machine.file(key))
    };
    assert_reaches(&with("ca.pub"));
    assert_reaches(&with("host.pub"));
    let text = assert_refused(&with("user.pub"));
    assert!(text.contains("handshake failed: knownhosts: key mismatch"), "{text}");
}

#[test]
fn keys_certificates_and_agents_let_one_in() {
    let Some(mut machine) = Machine::start() else { return };
    assert_reaches(&machine.with_key("rsa"));
    let certificate = machine.file("other-cert.pub");
    assert_reaches(&format!(
        "{}    certificate = file({certificate:?})\n",
        machine.with_key("other")
    ));
    let text = assert_refused(&machine.with_key("other"));
    assert!(
        text.contains("attempted methods [none publickey], no supported methods remain"),
        "{text}"
    );

    let socket = machine.file("agent");
    let agent = Command::new("ssh-agent").args(["-D", "-a", &socket]).stdout(Stdio::null()).spawn();
    machine.children.push(agent.expect("ssh-agent comes with ssh-keygen"));
    assert!(machine.wait_until(|_| Path::new(&socket).exists()));
    for key in ["ca", "rsa", "user"] {
        let added = Command::new("ssh-add")
            .arg(machine.file(key))
            .env("SSH_AUTH_SOCK", &socket)
            .stderr(Stdio::null())
            .status();
        assert!(added.expect("ssh-add comes with ssh-keygen").success());
    }
    let connection = machine.base().replace("agent   = false", "agent_identity = \"user\"");
    let place = Place::new(&object(&connection, &object_script("\"ssh-add -l | wc -l\"")));
    let output = place
        .command(&["apply", "-auto-approve"])
        .env("SSH_AUTH_SOCK", &socket)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("(remote-exec):   SSH Agent: true\n"), "{text}");
    assert!(text.contains("(remote-exec): 3\n"), "the agent is lent to the machine: {text}");
}

#[test]
fn the_way_may_lead_over_a_bastion_or_a_proxy() {
    let Some(machine) = Machine::start() else { return };
    assert_reaches(&format!("{}    bastion_host = \"127.0.0.1\"\n", machine.connection()));
    let text = assert_refused(&format!(
        "{}    bastion_host = \"127.0.0.1\"\n    bastion_port = 1\n",
        machine.connection()
    ));
    assert!(
        text.contains(
            "Error connecting to bastion: dial tcp 127.0.0.1:1: connect: connection refused"
        ),
        "{text}"
    );

    let (port, asked) = proxy();
    assert_reaches(&format!(
        "{}    proxy_host = \"127.0.0.1\"\n    proxy_port = {port}\n    proxy_user_name = \"me\"\n    proxy_user_password = \"pw\"\n",
        machine.connection()
    ));
    let request = asked.join().expect("the proxy was asked");
    assert!(
        request.starts_with(&format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n", machine.port)),
        "{request}"
    );
    assert!(request.contains("\r\nProxy-Authorization: Basic bWU6cHc=\r\n"), "{request}");
}

/// A proxy that serves one connection, and what it was asked for.
fn proxy() -> (u16, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let asked = std::thread::spawn(move || {
        let (mut near, _) = listener.accept().expect("somebody connects");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            near.read_exact(&mut byte).expect("a request");
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("text");
        let to = head.split(' ').nth(1).expect("an address");
        let mut far = TcpStream::connect(to).expect("it is there");
        near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").expect("it is sent");
        let (mut back, mut forth) =
            (near.try_clone().expect("a clone"), far.try_clone().expect("a clone"));
        std::thread::spawn(move || std::io::copy(&mut forth, &mut back));
        std::thread::spawn(move || std::io::copy(&mut near, &mut far));
        head
    });
    (port, asked)
}

#[test]
fn a_machine_that_is_not_there_is_tried_until_the_time_is_over() {
    let connection = "    host    = \"127.0.0.1\"\n    port    = 1\n    agent   = false\n    timeout = \"20s\"\n";
    let text = assert_refused(connection);
    assert!(
        text.contains("timeout - last error: dial tcp 127.0.0.1:1: connect: connection refused"),
        "{text}"
    );
    assert!(text.matches("Connecting to remote host via SSH...").count() > 1, "{text}");
}

#[test]
fn an_interrupt_ends_the_attempts_to_connect() {
    let connection = "    host    = \"127.0.0.1\"\n    port    = 1\n    agent   = false\n";
    let place = Place::new(&object(connection, &says("here")));
    let started = Instant::now();
    let signals = [("Connecting to remote host via SSH...", "INT")];
    let (text, code) = interrupted(&place, &["apply", "-auto-approve"], &signals);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("interrupted - last error: "), "{text}");
    assert!(started.elapsed() < Duration::from_secs(20), "{text}");
    assert!(place.succeed(&["plan"]).contains("is tainted, so it must be replaced"));
}
