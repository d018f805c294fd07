//! A client: a folder, the program that serves it, and a conversation with it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// As long as a message is waited for: who waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(300);

/// A folder, served.
pub struct Client {
    folder: TempDir,
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Json>,
    /// What came and nobody has asked for yet.
    told: VecDeque<Json>,
    next: i64,
}

/// Marks the place of the cursor in a text.
pub const CURSOR: char = '|';

impl Client {
    /// Serves a folder with these files, and agrees on nothing special.
    pub fn new(files: &[(&str, &str)]) -> Client {
        let mut client = Client::begun(files);
        let root = client.uri("");
        let folders = json!([{ "uri": root, "name": "folder" }]);
        let capabilities = json!({ "textDocument": { "completion": { "completionItem": { "snippetSupport": true } } } });
        client.initialize(
            json!({ "processId": null, "capabilities": capabilities, "workspaceFolders": folders }),
        );
        client
    }

    /// Starts the program, and says nothing.
    pub fn begun(files: &[(&str, &str)]) -> Client {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
        command.arg("lsp").current_dir(folder.path()).env_clear();
        command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("HOME", folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the program starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it has an output"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = output;
            while let Some(message) = receive(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client { folder, child, input, messages, told: VecDeque::new(), next: 1 }
    }

    pub fn initialize(&mut self, params: Json) -> Json {
        let answer = self.ask("initialize", params);
        self.tell("initialized", json!({}));
        answer
    }

    pub fn path(&self, name: &str) -> PathBuf {
        let root = self.folder.path().canonicalize().expect("the folder is there");
        if name.is_empty() { root } else { root.join(name) }
    }

    pub fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes.as_bytes()).and_then(|()| input.flush()).expect("it takes input");
    }

    pub fn send(&mut self, message: &Json) {
        self.send_raw(&framed(&message.to_string()));
    }

    pub fn tell(&mut self, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its number.
    pub fn begin(&mut self, method: &str, params: Json) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Returns the answer to a request: all of the message.
    pub fn answer(&mut self, id: &Json) -> Json {
        self.wait_for(|it| it.get("method").is_none() && it["id"] == *id)
    }

    pub fn ask_whole(&mut self, method: &str, params: Json) -> Json {
        let id = self.begin(method, params);
        self.answer(&json!(id))
    }

    /// Asks, and returns the result.
    pub fn ask(&mut self, method: &str, params: Json) -> Json {
        let answer = self.ask_whole(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    /// Waits for a message. What comes before it is kept.
    pub fn wait_for(&mut self, is_meant: impl Fn(&Json) -> bool) -> Json {
        if let Some(at) = self.told.iter().position(&is_meant) {
            return self.told.remove(at).expect("it is there");
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server says something");
            if is_meant(&message) {
                return message;
            }
            self.told.push_back(message);
        }
    }

    /// Opens a file of the folder, with its text there.
    pub fn open(&mut self, name: &str) {
        let text = std::fs::read_to_string(self.path(name)).expect("the file is there");
        self.open_as(name, &text);
    }

    /// Opens a file with another text.
    pub fn open_as(&mut self, name: &str, text: &str) {
        let document =
            json!({ "uri": self.uri(name), "languageId": "terraform", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces all of an open text.
    pub fn replace(&mut self, name: &str, version: i32, text: &str) {
        let document = json!({ "uri": self.uri(name), "version": version });
        let changes = json!([{ "text": text }]);
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    /// Waits until a file has problems as they are wanted; those that come before are passed over.
    pub fn problems_until(&mut self, name: &str, is_wanted: impl Fn(&[Json]) -> bool) -> Vec<Json> {
        let uri = if name.contains(':') { name.to_owned() } else { self.uri(name) };
        let message = self.wait_for(|it| {
            let problems = it["params"]["diagnostics"].as_array();
            it["method"] == "textDocument/publishDiagnostics"
                && it["params"]["uri"] == *uri
                && problems.is_some_and(|it| is_wanted(it))
        });
        message["params"]["diagnostics"].as_array().cloned().unwrap_or_default()
    }

    /// Asks about a place of a file: the text behind a word of it.
    pub fn at(&self, name: &str, word: &str) -> Json {
        let text = std::fs::read_to_string(self.path(name)).expect("the file is there");
        let at = text.find(word).unwrap_or_else(|| panic!("{word} is not in {name}")) + word.len();
        json!({ "textDocument": { "uri": self.uri(name) }, "position": position(&text, at) })
    }

    /// Opens a file with a text that has a cursor in it, and returns the place of that.
    pub fn cursor(&mut self, name: &str, marked: &str) -> Json {
        let at = marked.find(CURSOR).expect("a cursor");
        let text = marked.replacen(CURSOR, "", 1);
        self.open_as(name, &text);
        json!({ "textDocument": { "uri": self.uri(name) }, "position": position(&text, at) })
    }

    /// The most memory that the server has had, in KiB; none where the system does not tell.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        line.and_then(|it| it.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
    }

    /// Runs another command in the folder.
    pub fn run(&self, arguments: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("HOME", self.folder.path());
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Says goodbye, and returns the exit code.
    pub fn end(mut self) -> Option<i32> {
        self.ask("shutdown", Json::Null);
        self.tell("exit", Json::Null);
        self.child.wait().expect("it ends").code()
    }

    /// Closes the input without a word, and returns the exit code.
    pub fn leave(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("a folder");
    std::fs::write(path, text).expect("the folder takes files");
}

pub fn framed(text: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

/// The position of a byte, in units of UTF-16.
pub fn position(text: &str, at: usize) -> Json {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    json!({ "line": line, "character": before[start..].encode_utf16().count() })
}

fn receive(output: &mut impl BufRead) -> Option<Json> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => {
                if let Some(it) = line.strip_prefix("Content-Length: ") {
                    length = it.parse().ok()?;
                }
            }
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Applies the edits of an answer to the files that they are for, and returns each new text by its name.
pub fn applied(client: &Client, edit: &Json) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (uri, edits) in edit["changes"].as_object().expect("changes") {
        let path = uri.strip_prefix("file://").expect("a file");
        let text = std::fs::read_to_string(path).expect("the file is there");
        let name = path.strip_prefix(&format!("{}/", client.path("").display())).expect("below");
        found.push((name.to_owned(), with(&text, edits.as_array().expect("edits"))));
    }
    found.sort();
    found
}

/// Applies edits to a text.
pub fn with(text: &str, edits: &[Json]) -> String {
    let byte = |at: &Json| {
        let number = |name: &str| at[name].as_u64().expect("a number") as usize;
        let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        let mut units = 0;
        let line = &text[start..];
        let inner = line.char_indices().find(|(_, it)| {
            let here = units >= number("character");
            units += it.len_utf16();
            here
        });
        start + inner.map_or(line.len(), |it| it.0)
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|it| {
            let range = &it["range"];
            (byte(&range["start"]), byte(&range["end"]), it["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort();
    let mut new = text.to_owned();
    for (start, end, with) in edits.into_iter().rev() {
        new.replace_range(start..end, with);
    }
    new
}
