//! `login` and `logout` by the real binary, against a host that speaks OAuth, one that has a page for tokens, and helpers.
//!
//! Whoever browses here does what a browser does: it opens the page, and follows the host back to the terminal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::served::{Reply, Request, serve};
use crate::support::binary;

/// What must be read nowhere but in the file with tokens.
const TOKEN: &str = "the-token-of-the-user";
const CODE: &str = "the-code-of-the-login";
const PASSWORD: &str = "the-password-of-the-user";

/// What the host does with who comes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mood {
    #[default]
    Friendly,
    /// It says no on its page.
    Denies,
    /// The code has expired.
    Expired,
    /// A page for people stands where tokens are given.
    Page,
    /// It sends on.
    Redirects,
    /// It answers without a token.
    Empty,
    /// Its token has a line end.
    Crooked,
}

/// A host that gives tokens.
fn host(mood: Mood) -> u16 {
    let challenge: Arc<Mutex<(String, String)>> = Arc::default();
    serve(move |asked| match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/authorize") => authorize(mood, &challenge, &asked),
        ("POST", "/token") => token(mood, &challenge, &asked),
        ("GET", "/api/v2/account/details") => {
            let user = json!({ "data": { "attributes": { "username": "somebody" } } });
            match asked.header("authorization") == format!("Bearer {TOKEN}") {
                true => Reply::json(200, &user),
                false => Reply::new(401, "{}"),
            }
        }
        _ => Reply::new(404, ""),
    })
}

fn sent_to(place: String) -> Reply {
    Reply { headers: vec![("Location", place)], ..Reply::new(302, "") }
}

fn authorize(mood: Mood, kept: &Mutex<(String, String)>, asked: &Request) -> Reply {
    let said = |name: &str| asked.asked(name).unwrap_or_default().to_owned();
    let (back, state) = (said("redirect_uri"), said("state"));
    let is_right = said("response_type") == "code"
        && said("client_id") == "terminal"
        && said("code_challenge_method") == "S256"
        && said("scope") == "openid tokens"
        && back.starts_with("http://localhost:")
        && back.ends_with("/login")
        && !state.is_empty();
    if !is_right {
        return Reply::new(400, "this is no request of a client that is known");
    }
    if mood == Mood::Denies {
        return sent_to(format!(
            "{back}?error=access_denied&error_description=Not+today&state={state}"
        ));
    }
    *kept.lock().expect("no thread panics") = (said("code_challenge"), back.clone());
    sent_to(format!("{back}?code={CODE}&state={state}"))
}

fn token(mood: Mood, kept: &Mutex<(String, String)>, asked: &Request) -> Reply {
    let form = String::from_utf8_lossy(&asked.body).into_owned();
    let said = |name: &str| {
        let found = form.split('&').filter_map(|it| it.split_once('=')).find(|it| it.0 == name);
        found.map_or(String::new(), |it| it.1.replace("%3A", ":").replace("%2F", "/"))
    };
    let (challenge, back) = kept.lock().expect("no thread panics").clone();
    let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(said("code_verifier")));
    let is_by_code = said("grant_type") == "authorization_code"
        && said("code") == CODE
        && said("redirect_uri") == back
        && proof == challenge;
    let is_by_password = said("grant_type") == "password"
        && said("username") == "somebody"
        && said("password") == PASSWORD;
    let granted = json!({ "access_token": TOKEN, "token_type": "bearer" });
    match mood {
        Mood::Page => {
            let headers = vec![("Content-Type", "text/html".to_owned())];
            Reply { headers, ..Reply::new(200, "<html>Welcome</html>") }
        }
        Mood::Redirects => Reply {
            headers: vec![("Location", "http://127.0.0.1:1/elsewhere?x=y".to_owned())],
            ..Reply::new(307, "")
        },
        Mood::Empty => Reply::json(200, &json!({ "token_type": "bearer" })),
        Mood::Crooked => Reply::json(200, &json!({ "access_token": "crooked\ntoken" })),
        Mood::Expired => {
            let said = format!("the code {CODE} has expired");
            Reply::json(400, &json!({ "error": "invalid_grant", "error_description": said }))
        }
        _ if said("client_id") == "terminal" && (is_by_code || is_by_password) => {
            Reply::json(200, &granted)
        }
        _ => Reply::json(400, &json!({ "error": "invalid_grant" })),
    }
}

/// A user's folder.
struct Home(tempfile::TempDir);

/// What a run said, and how it ended.
struct Ran {
    text: String,
    code: Option<i32>,
}

impl Ran {
    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        let flat = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(flat.contains(part), "{part:?} is missing in: {}", self.text);
        }
        for secret in [TOKEN, CODE, PASSWORD] {
            assert!(!self.text.contains(secret), "{secret} is told: {}", self.text);
        }
    }
}

impl Home {
    /// Makes a folder whose CLI configuration says these services of `app.example.com`.
    fn new(services: &str) -> Home {
        Home::of("app.example.com", services)
    }

    fn of(host: &str, services: &str) -> Home {
        let home = Home(tempfile::tempdir().expect("a folder"));
        home.write(".tofurc", &format!("host {host:?} {{\n  services = {{ {services} }}\n}}\n"));
        home
    }

    /// As [`Home::new`], with a host that gives tokens.
    fn with(mood: Mood) -> Home {
        Home::new(&client(host(mood), "", "[20000, 40000]"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("it is written");
    }

    fn add(&self, text: &str) {
        let before = std::fs::read_to_string(self.path(".tofurc")).expect("readable");
        self.write(".tofurc", &(before + text));
    }

    fn program(&self, name: &str, script: &str) {
        self.write(name, &format!("#!/bin/sh\n{script}"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(name), mode).expect("it may run");
    }

    /// Returns what the file with tokens holds; nothing where there is none.
    fn stored(&self) -> String {
        std::fs::read_to_string(self.path(FILE)).unwrap_or_default()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = binary::process(binary::path(), self.0.path());
        command
            .args(arguments)
            .env_remove("TF_CLI_CONFIG_FILE")
            .env_remove("XDG_CONFIG_HOME")
            .env("HOME", self.0.path())
            .env("PATH", self.path("bin"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command that is told `input`.
    fn run(&self, arguments: &[&str], input: &str) -> Ran {
        finish(started(self.command(arguments), input), String::new())
    }

    /// Logs in, and browses as `browse` does: it gets the page's address.
    fn browse(&self, browse: impl FnOnce(&str)) -> Ran {
        let mut child = started(self.command(&["login", "app.example.com"]), "yes\n");
        let mut out = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let (seen, address) = page(&mut out);
        if let Some(address) = address {
            browse(&address);
        }
        child.stdout = Some(out.into_inner());
        finish(child, seen)
    }
}

const FILE: &str = ".terraform.d/credentials.tfrc.json";

/// What a host says of `login.v1`.
fn client(port: u16, grants: &str, ports: &str) -> String {
    let at = format!("http://127.0.0.1:{port}");
    format!(
        "\"login.v1\" = {{ client = \"terminal\", {grants} authz = \"{at}/authorize\", token = \"{at}/token\", ports = {ports}, scopes = [\"openid\", \
         \"tokens\"] }}"
    )
}

fn started(mut command: Command, input: &str) -> Child {
    let mut child = command.spawn().expect("it runs");
    let mut to = child.stdin.take().expect("it is a pipe");
    // Who asks nothing may have ended.
    let _ = to.write_all(input.as_bytes());
    child
}

fn finish(child: Child, seen: String) -> Ran {
    let output = child.wait_with_output().expect("it ends");
    let text =
        seen + &String::from_utf8_lossy(&output.stdout) + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked at"), "{text}");
    Ran { text, code: output.status.code() }
}

/// Reads up to the address of a page. Nothing more is read ahead than a line.
fn page(out: &mut BufReader<ChildStdout>) -> (String, Option<String>) {
    let mut seen = String::new();
    loop {
        let before = seen.len();
        if out.read_line(&mut seen).expect("text") == 0 {
            return (seen, None);
        }
        let line = seen[before..].trim();
        if line.starts_with("http://127.0.0.1:") {
            let address = line.to_owned();
            // The rest of what is buffered belongs to what was seen.
            seen.push_str(&String::from_utf8_lossy(out.buffer()));
            let buffered = out.buffer().len();
            out.consume(buffered);
            return (seen, Some(address));
        }
    }
}

/// Gets a page: its status, and where it sends on to.
fn get(address: &str) -> (u16, Option<String>) {
    let rest = address.strip_prefix("http://").expect("a plain address");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream =
        TcpStream::connect(host.replace("localhost", "127.0.0.1")).expect("it listens");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().expect("an answer");
    let status = first.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
    let headers = lines.take_while(|it| !it.is_empty());
    let place = headers
        .filter_map(|it| it.split_once(": ").map(|it| (it.0.to_lowercase(), it.1.to_owned())));
    (status, place.filter(|it| it.0 == "location").map(|it| it.1).next())
}

/// Logs in on the host's page, and goes where that sends.
fn log_in(address: &str) {
    let (status, back) = get(address);
    assert_eq!(status, 302, "{address}");
    assert_eq!(get(&back.expect("an address")).0, 200);
}

#[test]
fn a_browser_gets_a_token_which_is_kept_for_its_owner_alone() {
    let home = Home::with(Mood::Friendly);
    let before = r#"{ "other": [1, 2.50], "credentials": { "example.org": { "token": "stays" }, "APP.example.com": { "token": "old" } } }"#;
    home.write(FILE, before);
    home.browse(log_in).says(
        0,
        &[
            "request an API token for app.example.com using OAuth",
            ".terraform.d/credentials.tfrc.json",
            "Open this address in a browser",
            "code_challenge_method=S256",
            "Success! entail has obtained and saved an API token.",
        ],
    );
    let expected = format!(
        "{{\n  \"other\": [\n    1,\n    2.50\n  ],\n  \"credentials\": {{\n    \"example.org\": {{\n      \"token\": \"stays\"\n    }},\n    \
         \"app.example.com\": {{\n      \"token\": \"{TOKEN}\"\n    }}\n  }}\n}}\n"
    );
    assert_eq!(home.stored(), expected);
    let mode = std::fs::metadata(home.path(FILE)).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    home.run(&["logout", "app.example.com"], "").says(
        0,
        &[
            "Removing the stored credentials for app.example.com from the file",
            "Success! entail has removed the stored API token for app.example.com.",
        ],
    );
    assert_eq!(home.stored().matches("token").count(), 1, "{}", home.stored());
    assert!(home.stored().contains("2.50"), "{}", home.stored());
    let again = home.run(&["logout", "app.example.com"], "");
    again.says(0, &["No credentials for app.example.com are stored."]);
}

#[test]
fn a_browser_of_the_system_is_opened() {
    let home = Home::with(Mood::Friendly);
    home.program("bin/xdg-open", &format!("echo \"$1\" > {}\n", home.path("opened").display()));
    home.browse(log_in).says(0, &["A web browser opens the login page for app.example.com."]);
    // It runs beside the command, which does not wait for it.
    let opened = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::read_to_string(home.path("opened")).ok().filter(|it| it.ends_with('\n'))
    });
    assert!(
        opened.is_some_and(|it| it.contains("/authorize?response_type=code&client_id=terminal"))
    );
}

#[test]
fn calls_of_strangers_are_turned_away_and_the_right_one_is_waited_for() {
    let home = Home::with(Mood::Friendly);
    let ran = home.browse(|address| {
        let (_, back) = get(address);
        let back = back.expect("an address");
        let (place, query) = back.split_once('?').expect("arguments");
        assert_eq!(get(&format!("{place}?code=stolen&state=guessed")).0, 400);
        assert_eq!(get(&format!("{place}?code=stolen")).0, 400);
        assert_eq!(get(&place.replace("/login", "/other")).0, 404);
        // One that connects and says nothing keeps nobody.
        let silent = TcpStream::connect(
            place.split('/').nth(2).expect("a host").replace("localhost", "127.0.0.1"),
        );
        assert_eq!(get(&format!("{place}?{query}")).0, 200);
        drop(silent);
    });
    ran.says(0, &["Success!"]);
    assert!(home.stored().contains(TOKEN));
}

#[test]
fn a_host_that_gives_no_token_is_told_and_nothing_is_kept() {
    for (mood, parts) in [
        (
            Mood::Denies,
            ["Failed to obtain auth token", "refuses the login: \"access_denied: Not today\""],
        ),
        (
            Mood::Expired,
            ["Failed to obtain auth token", "invalid_grant: the code (sensitive) has expired"],
        ),
        (
            Mood::Page,
            ["Failed to obtain auth token", "answers with a page for people (HTML, 200 OK)"],
        ),
        (
            Mood::Redirects,
            ["Failed to obtain auth token", "sends the request on to another address (307"],
        ),
        (Mood::Empty, ["Failed to obtain auth token", "holds no token"]),
    ] {
        let home = Home::with(mood);
        home.browse(log_in).says(1, &parts);
        assert_eq!(home.stored(), "", "{mood:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let home = Home::new(&client(host(Mood::Friendly), "", &format!("[{port}, {port}]")));
    home.run(&["login", "app.example.com"], "yes\n")
        .says(1, &["Can't start temporary login server", &format!("from {port} to {port}")]);
}

#[test]
fn what_a_host_says_wrongly_of_itself_is_told() {
    let pages = "\"tfe.v2\" = \"http://127.0.0.1:1/api/v2/\"";
    for (services, parts) in [
        ("", ["Host does not support entail tokens API", "neither login.v1 nor tfe.v2"]),
        ("\"login.v2\" = {}", ["does not support entail login", "a version of the protocol"]),
        ("\"login.v1\" = \"/x\"", ["Host does not support entail login", "it must be an object"]),
        ("\"login.v1\" = { authz = \"/a\" }", ["tokens API", "\"client\" is missing"]),
        (
            "\"login.v1\" = { client = \"c\", authz = \"/a\" }",
            ["tokens API", "\"token\" is missing"],
        ),
        (
            "\"login.v1\" = { client = \"c\", authz = \"/a\", token = \"/t\", ports = [80, 90] }",
            ["tokens API", "whole numbers from 1024 to 65535"],
        ),
        (
            "\"login.v1\" = { client = \"c\", authz = \"ftp://a/\", token = \"/t\" }",
            ["tokens API", "unsupported scheme"],
        ),
        (
            "\"login.v1\" = { client = \"c\", token = \"/t\", grant_types = [\"password\"] }",
            ["Host does not support entail login", "it must offer the grant type"],
        ),
        (
            "\"login.v1\" = { client = \"c\", grant_types = [\"device\"] }",
            ["Host does not support entail login", "it must offer the grant type"],
        ),
    ] {
        Home::new(services).run(&["login", "app.example.com"], "yes\n").says(1, &parts);
    }
    // What is wrong with one service leaves the other.
    let home = Home::new(&format!("\"login.v1\" = \"/x\", {pages}"));
    let ran = home.run(&["login", "app.example.com"], "no\n");
    ran.says(1, &["it must be an object", "using your browser", "Login cancelled"]);
}

#[test]
fn addresses_where_others_could_read_the_token_are_refused() {
    let open = "http://login.example.com";
    for (services, name) in [
        (
            format!("\"login.v1\" = {{ client = \"c\", authz = \"{open}\", token = \"/t\" }}"),
            "authz",
        ),
        (
            format!("\"login.v1\" = {{ client = \"c\", authz = \"/a\", token = \"{open}\" }}"),
            "token",
        ),
        (format!("\"tfe.v2\" = \"{open}\""), "tfe.v2"),
    ] {
        let home = Home::new(&services);
        let ran = home.run(&["login", "app.example.com"], "yes\n");
        ran.says(1, &["Insecure address for login", name, "must be of https"]);
        assert!(!ran.text.contains("Do you want to proceed?"), "{}", ran.text);
        assert_eq!(home.stored(), "");
    }
}

#[test]
fn a_token_with_a_line_end_is_not_kept() {
    let home = Home::with(Mood::Crooked);
    let ran = home.browse(log_in);
    ran.says(1, &["Failed to save API token", "it holds a control character"]);
    assert!(!ran.text.contains("crooked"), "{}", ran.text);
    assert_eq!(home.stored(), "");
}

#[test]
fn with_two_helpers_no_token_is_kept() {
    let home = Home::with(Mood::Friendly);
    home.add("credentials_helper \"a\" {}\ncredentials_helper \"b\" {}\n");
    for command in ["login", "logout"] {
        let ran = home.run(&[command, "app.example.com"], "yes\n");
        ran.says(1, &["Tokens cannot be kept", "more than one credentials_helper block"]);
    }
    assert_eq!(home.stored(), "");
}

#[test]
fn a_token_is_typed_in_where_the_host_has_a_page_for_it() {
    let services = format!("\"tfe.v2\" = \"http://127.0.0.1:{}/api/v2/\"", host(Mood::Friendly));
    let home = Home::new(&services);
    let page = "/app/settings/tokens?source=terraform-login";
    let wrong = home.run(&["login", "app.example.com"], "yes\nanother-token\n");
    wrong.says(1, &["using your browser", page, "Token is invalid"]);
    assert!(!wrong.text.contains("another-token"), "{}", wrong.text);
    home.run(&["login", "app.example.com"], "yes\n").says(1, &["Login cancelled"]);
    assert_eq!(home.stored(), "");
    let ran = home.run(&["login", "app.example.com"], &format!("YES\n  {TOKEN} \n"));
    ran.says(0, &["The token belongs to the user \"somebody\"", "Success!"]);
    assert!(home.stored().contains(TOKEN));

    let gone = Home::new("\"tfe.v2\" = \"http://127.0.0.1:1/api/v2/\"");
    gone.add("registry_protocols {\n  retry_count = 0\n}\n");
    gone.run(&["login", "app.example.com"], &format!("yes\n{TOKEN}\n"))
        .says(1, &["Failed to retrieve user account details"]);
}

#[test]
fn a_password_is_exchanged_at_the_one_host_that_may_ask_for_it() {
    let services = client(host(Mood::Friendly), "grant_types = [\"password\"],", "[20000, 40000]");
    let home = Home::of("app.terraform.io", &services);
    let wrong = home.run(&["login", "app.terraform.io"], "yes\nsomebody\nwrong\n");
    wrong.says(1, &["invalid_grant"]);
    home.run(&["login", "app.terraform.io"], &format!("yes\nsomebody\n{PASSWORD}\n"))
        .says(0, &["Success!"]);
    assert!(home.stored().contains(TOKEN));
}

#[test]
fn a_helper_keeps_tokens_and_forgets_them() {
    let services = format!("\"tfe.v2\" = \"http://127.0.0.1:{}/api/v2/\"", host(Mood::Friendly));
    let home = Home::new(&services);
    home.add("credentials_helper \"safe\" {\n  args = [\"--deep\"]\n}\n");
    let log = home.path("log").display().to_string();
    let script = format!(
        "echo \"$*\" >> {log}\nif [ \"$2\" = store ]; then /bin/cat >> {log}; fi\n[ \"$2\" != get ] || echo '{{}}'\n"
    );
    home.program(".terraform.d/plugins/terraform-credentials-safe", &script);
    let typed = format!("yes\n{TOKEN}\n");
    home.run(&["login", "app.example.com"], &typed)
        .says(0, &["the credentials helper \"safe\"", "Success!"]);
    home.run(&["logout", "app.example.com"], "").says(0, &["the credentials helper \"safe\""]);
    let expected = format!(
        "--deep store app.example.com\n{{\"token\":\"{TOKEN}\"}}--deep forget app.example.com\n"
    );
    assert_eq!(std::fs::read_to_string(home.path("log")).expect("a log"), expected);
    assert_eq!(home.stored(), "");

    // What it complains of is told, without what it was given.
    let broken = "/bin/cat >&2\necho ' is too long' >&2\nexit 1\n";
    home.program(".terraform.d/plugins/terraform-credentials-safe", broken);
    home.run(&["login", "app.example.com"], &typed)
        .says(1, &["Failed to save API token", "(sensitive)", "is too long"]);
}

#[test]
fn nothing_is_done_without_a_yes() {
    let home = Home::with(Mood::Friendly);
    for input in ["no\n", "", "yes please\n"] {
        home.run(&["login", "app.example.com"], input).says(1, &["Login cancelled"]);
    }
    for flags in [&["-input=false"][..], &["-json"]] {
        let arguments = [&["login"], flags, &["app.example.com"]].concat();
        home.run(&arguments, "yes\n").says(1, &["Login is an interactive command"]);
    }
    let mut command = home.command(&["login", "app.example.com"]);
    command.env("TF_INPUT", "0");
    finish(started(command, "yes\n"), String::new()).says(1, &["Login is an interactive command"]);
    for (name, why) in [
        ("https://app.example.com", "it is an address"),
        ("a..b", "is empty"),
        ("app.example.com:x", "its port"),
    ] {
        home.run(&["login", name], "yes\n").says(1, &["Invalid hostname", why]);
        home.run(&["logout", name], "").says(1, &["Invalid hostname", why]);
    }
    for command in ["login", "logout"] {
        home.run(&[command], "").says(1, &["expects exactly one argument"]);
        home.run(&[command, "a.b", "c.d"], "").says(1, &["expects exactly one argument"]);
    }
    assert_eq!(home.stored(), "");
}

#[test]
fn what_the_user_wrote_is_left_alone() {
    let home = Home::with(Mood::Friendly);
    home.add("credentials \"App.Example.com\" {\n  token = \"by hand\"\n}\n");
    let before = std::fs::read_to_string(home.path(".tofurc")).expect("readable");
    for command in ["login", "logout"] {
        let ran = home.run(&[command, "app.example.com"], "yes\n");
        ran.says(
            1,
            &["Credentials for app.example.com are manually configured", "remove the block"],
        );
        assert!(!ran.text.contains("by hand"), "{}", ran.text);
    }
    assert_eq!(std::fs::read_to_string(home.path(".tofurc")).expect("readable"), before);

    // A file that nobody understands is not written over, and is not shown.
    let home = Home::with(Mood::Friendly);
    for broken in
        ["{ \"credentials\": { \"a.b\": { \"token\": \"hush\" }", "[]", "{\"credentials\": []}"]
    {
        home.write(FILE, broken);
        for command in ["login", "logout"] {
            let ran = home.run(&[command, "app.example.com"], "yes\n");
            ran.says(1, &["Tokens cannot be kept", "credentials.tfrc.json"]);
            assert!(!ran.text.contains("hush"), "{}", ran.text);
        }
        assert_eq!(home.stored(), broken);
    }
}

#[test]
fn what_comes_before_the_new_token_is_told() {
    let services = format!("\"tfe.v2\" = \"http://127.0.0.1:{}/api/v2/\"", host(Mood::Friendly));
    let home = Home::new(&services);
    let run = |arguments: &[&str], input: &str| {
        let mut command = home.command(arguments);
        command.env("TF_TOKEN_app_example_com", "of-the-environment");
        command.env("TF_CLI_CONFIG_FILE", home.path(".tofurc"));
        finish(started(command, input), String::new())
    };
    run(&["login", "app.example.com"], &format!("yes\n{TOKEN}\n")).says(0, &[
        "The environment variable TF_TOKEN_app_example_com holds a token",
        "TF_CLI_CONFIG_FILE names a file of the CLI configuration, so that no other one is read",
    ]);
    assert!(home.stored().contains(TOKEN));
    run(&["logout", "app.example.com"], "")
        .says(0, &["Success!", "The environment variable TF_TOKEN_app_example_com holds a token"]);
    assert!(!home.stored().contains(TOKEN));
}

#[test]
fn the_token_is_shown_to_the_host_by_the_commands_after_it() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = asked.clone();
    let port = serve(move |it| {
        log.lock().expect("no thread panics").push(it.header("authorization").to_owned());
        match it.path.as_str() {
            "/api/v2/account/details" => {
                Reply::json(200, &json!({ "data": { "attributes": { "username": "somebody" } } }))
            }
            _ => Reply::new(404, ""),
        }
    });
    let at = format!("http://127.0.0.1:{port}");
    let home = Home::new(&format!("\"tfe.v2\" = \"{at}/api/v2/\", \"modules.v1\" = \"{at}/v1/\""));
    home.run(&["login", "app.example.com"], &format!("yes\n{TOKEN}\n")).says(0, &["Success!"]);
    home.write("main.tf", "module \"m\" {\n  source = \"app.example.com/a/b/c\"\n}\n");
    home.run(&["get"], "").says(1, &["Module not found"]);
    let asked = asked.lock().expect("no thread panics");
    assert_eq!(*asked, vec![format!("Bearer {TOKEN}"); 2]);
}

#[test]
fn a_login_that_is_interrupted_ends() {
    let home = Home::with(Mood::Friendly);
    let mut child = started(home.command(&["login", "app.example.com"]), "yes\n");
    let mut out = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let (_, address) = page(&mut out);
    assert!(address.is_some());
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is sent");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert_eq!(home.stored(), "");
}
