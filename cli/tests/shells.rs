//! Completion in real shells at a terminal of their own: what is inserted for a name is that name, and never a command.

#![expect(clippy::print_stderr, reason = "the test names a shell that is missing")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_entail");

/// Keys of instances that run something, or end a quote, where a shell is given them as they are.
const KEYS: [&str; 8] = [
    "$(touch CO)",
    "`touch CO`",
    "x'; touch CO; '",
    "x\"; touch CO; \"",
    "a b\\",
    "!!touch CO",
    "(touch CO)",
    "${CO:=$(touch CO)}\\\\$x",
];

/// A shell at a terminal. What it prints comes in pieces.
struct Shell {
    child: Child,
    printed: Receiver<Vec<u8>>,
    seen: String,
}

impl Shell {
    /// Starts a shell; nothing where there is none, or no terminal to lend it.
    fn start(words: &str, folder: &Path) -> Option<Shell> {
        let shell = words.split(' ').next().unwrap_or_default();
        let is_there = |name: &str| {
            let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
            found.is_ok_and(|it| it.status.success())
        };
        for (name, package) in [(shell, shell), ("script", "bsdutils")] {
            if !is_there(name) {
                eprintln!("SKIPPED: there is no {name} here (Debian: {package})");
                return None;
            }
        }
        let programs = Path::new(PROGRAM).parent().expect("it lies in a folder").display();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("script");
        command.args(["-qec", &format!("stty rows 50 cols 2000; exec {words}"), "/dev/null"]);
        command.current_dir(folder).env("PATH", path).env("HOME", folder).env("TERM", "dumb");
        command
            .env("INPUTRC", "/dev/null")
            .env("XDG_CONFIG_HOME", folder)
            .env("TF_CLI_CONFIG_FILE", "/dev/null");
        command.env("SHELL", "/bin/sh").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("script starts");
        let mut output = child.stdout.take().expect("a pipe");
        let (sender, printed) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Shell { child, printed, seen: String::new() })
    }

    fn types(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("it reads");
    }

    /// Waits until one of these was printed, and returns what was printed up to there.
    fn until(&mut self, texts: &[&str]) -> String {
        loop {
            let ends = texts.iter().filter_map(|it| Some(self.seen.find(it)? + it.len()));
            if let Some(end) = ends.min() {
                let rest = self.seen.split_off(end);
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.printed.recv_timeout(Duration::from_secs(120)) {
                Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{texts:?} do not come: {:?}", self.seen)
                }
            }
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder whose state has one instance with a key.
fn folder(key: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let state = serde_json::json!({
        "version": 4, "serial": 1, "lineage": "l", "resources": [{
            "mode": "managed", "type": "terraform_data", "name": "a",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{ "index_key": key, "attributes": {} }],
        }],
    });
    std::fs::write(folder.path().join("terraform.tfstate"), state.to_string()).expect("written");
    folder
}

/// The address of the instance, as the program writes it.
fn address(key: &str) -> String {
    format!("terraform_data.a[{}]", entail::value::text::quoted(key))
}

/// Sets a shell up: it completes, and calling the program prints its last word instead.
struct Setting {
    words: &'static str,
    set_up: &'static str,
    /// What is typed before each thing that is completed; a tab follows.
    typed: &'static [&'static str],
}

const BASH: Setting = Setting {
    words: "bash --norc --noprofile -i",
    set_up: "source <(entail completion bash); entail() { if [ \"$1\" = __complete ]; then command entail \"$@\"; else printf 'GI''VEN<%s>\\n' \"${@: -1}\"; fi; }; bind 'set bell-style none'; PS1='REA''DY> '; PS2='MO''RE> '; echo SET''UP\n",
    typed: &[
        "entail state show terraform_data.a[",
        "entail state show \"terraform_data.a[",
        "entail state show 'terraform_data.a[",
        "entail plan -replace=terraform_data.a[",
        "entail plan -replace=\"terraform_data.a[",
        "entail plan -replace='terraform_data.a[",
        "entail plan \"-replace=terraform_data.a[",
        "entail state show $'terraform_data.a[",
    ],
};

const ZSH: Setting = Setting {
    words: "zsh -f -i",
    set_up: "autoload -Uz compinit; compinit -u -D; source <(entail completion zsh); function entail { if [[ $1 == __complete ]]; then command entail \"$@\"; else printf 'GI''VEN<%s>\\n' \"${@[-1]}\"; fi }; unsetopt zle_bracketed_paste beep; PROMPT='REA''DY> '; PROMPT2='MO''RE> '; echo SET''UP\n",
    typed: &[
        "entail state show terraform_data.a\\[",
        "entail state show \"terraform_data.a[",
        "entail state show 'terraform_data.a[",
        "entail plan \"-replace=terraform_data.a[",
    ],
};

const FISH: Setting = Setting {
    words: "fish --no-config -i",
    set_up: "command entail completion fish | source; function entail; printf 'GI''VEN<%s>\\n' $argv[-1]; end; function fish_prompt; echo 'REA''DY> '; end; echo SET''UP\n",
    typed: &[
        "entail state show terraform_data.a[",
        "entail state show \"terraform_data.a[",
        "entail state show 'terraform_data.a[",
    ],
};

/// Completes each key in each place, carries out what stands there, and sees that only the key was given.
fn check(setting: &Setting) {
    for key in KEYS {
        let folder = folder(key);
        let Some(mut shell) = Shell::start(setting.words, folder.path()) else { return };
        shell.types(setting.set_up);
        shell.until(&["SETUP"]);
        shell.until(&["READY> "]);
        for (number, typed) in setting.typed.iter().enumerate() {
            // What is printed last says that everything before was done.
            let (done, ask) = (format!("DONE{number}."), format!("echo DO''NE{number}.\n"));
            shell.types(&format!("{typed}\t\n{ask}"));
            let told = shell.until(&[&done, "MORE> "]);
            if told.ends_with("MORE> ") {
                // Nothing was completed, so that the quote is still open: this ends it.
                shell.types(&format!("'\n{ask}"));
                shell.until(&[&done]);
            }
            assert!(!folder.path().join("CO").exists(), "{key:?} behind {typed:?} ran: {told:?}");
            let given = told.split("GIVEN<").nth(1).and_then(|it| it.lines().next());
            let given = given.map(|it| it.trim_end().trim_end_matches('>'));
            match typed.contains("$'") {
                true => assert_eq!(given, None, "{key:?} behind {typed:?}"),
                false => {
                    let flag = if typed.contains("-replace=") { "-replace=" } else { "" };
                    assert_eq!(
                        given,
                        Some(&*format!("{flag}{}", address(key))),
                        "behind {typed:?}"
                    );
                }
            }
        }
    }
}

/// The scripts for the other shells name what commands and flags there are, and nothing that stands in the folder.
#[test]
fn other_shells_are_given_nothing_of_the_folder() {
    let folder = folder(KEYS[0]);
    for shell in ["elvish", "powershell"] {
        let script =
            Command::new(PROGRAM).args(["completion", shell]).current_dir(folder.path()).output();
        let script = String::from_utf8(script.expect("it runs").stdout).expect("it is text");
        assert!(script.contains("validate") && !script.contains("__complete"), "{shell}");
    }
    let Some(mut shell) = Shell::start("elvish -norc", folder.path()) else { return };
    let prompt = "\u{1b}[?2004h";
    shell.until(&[prompt]);
    shell.types("eval (entail completion elvish | slurp); echo SET''UP\n");
    shell.until(&["SETUP"]);
    shell.until(&[prompt]);
    shell.types("entail versio\t\n");
    shell.until(&["compatible with OpenTofu"]);
}

#[test]
fn bash_inserts_names_that_run_nothing() {
    check(&BASH);
}

#[test]
fn zsh_inserts_names_that_run_nothing() {
    check(&ZSH);
}

#[test]
fn fish_inserts_names_that_run_nothing() {
    check(&FISH);
}
