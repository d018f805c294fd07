//! Programs that give out credentials or keys: one that prints without end is killed, with all that it has started.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::{Folder, Service, Told};

/// A program that starts another one, notes its number, and prints without end.
const ENDLESS: &str = "sleep 600 >sleeping 2>&1 &\necho $! >started\nexec yes\n";

/// What a run says of a program that prints without end.
const TOO_MUCH: &str = "it prints more than 1 MiB";

/// Returns a working directory with the file `program`.
fn folder(block: &str, program: &str) -> Folder {
    let folder = Folder::new(block).with("PATH", "/usr/bin:/bin");
    std::fs::write(folder.path().join("program"), program).expect("the folder takes files");
    folder
}

/// Runs a command in a session of its own, which has no terminal: at a terminal, a program stays in the group of its caller.
fn run_without_terminal(folder: &Folder, words: &str) -> Told {
    let given = folder.command(words);
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(given.get_program()).args(given.get_args());
    command.env_clear().envs(given.get_envs().filter_map(|it| Some((it.0, it.1?))));
    let command = command.current_dir(folder.path()).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    Told { code: output.status.code(), text: String::from_utf8_lossy(&text).into_owned() }
}

/// Waits until the process has ended that the program has started.
fn wait_for_end(folder: &Folder) {
    let number = std::fs::read_to_string(folder.path().join("started")).expect("it was started");
    let status = format!("/proc/{}/stat", number.trim());
    let start = Instant::now();
    // One that has ended may be there until its new parent asks for it.
    while std::fs::read_to_string(&status).is_ok_and(|it| !it.contains(") Z ")) {
        assert!(start.elapsed() < Duration::from_secs(30), "it runs on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_program_for_a_cloud_that_prints_without_end_is_killed() {
    let arguments = "bucket = \"states\"\nkey = \"PLACE\"\nregion = \"us-east-1\"\nprofile = \"printed\"\n\
                     skip_credentials_validation = true\nskip_requesting_account_id = true\n\
                     skip_metadata_api_check = true\nendpoints = { s3 = \"http://127.0.0.1:1\" }";
    let folder = folder(&Service::new("s3", arguments.to_owned()).block("endless"), ENDLESS);
    // The working directory is the home of its user as well.
    let settings = folder.path().join(".aws");
    std::fs::create_dir(&settings).expect("the folder takes folders");
    let profile = "[profile printed]\ncredential_process = sh program\n";
    std::fs::write(settings.join("config"), profile).expect("the folder takes files");
    let told = run_without_terminal(&folder, "init -input=false").refuses(TOO_MUCH);
    assert!(told.contains("failed to run \"sh\""), "{told}");
    wait_for_end(&folder);
}

#[test]
fn a_program_for_keys_that_prints_without_end_is_killed() {
    let block = "terraform {\n  encryption {\n    key_provider \"external\" \"k\" {\n      command = [\"sh\", \"program\"]\n    }\n    \
                 method \"aes_gcm\" \"m\" {\n      keys = key_provider.external.k\n    }\n    state {\n      method = method.aes_gcm.m\n    }\n  }\n}\n";
    let folder = folder(block, ENDLESS);
    let init = run_without_terminal(&folder, "init -input=false");
    let applied = match init.code {
        Some(0) => run_without_terminal(&folder, "apply -auto-approve -input=false"),
        _ => init,
    };
    applied.refuses(TOO_MUCH);
    wait_for_end(&folder);
}

#[test]
fn a_program_for_a_cluster_that_prints_without_end_is_killed() {
    let arguments = "host = \"http://127.0.0.1:1\"\nsecret_suffix = \"PLACE\"\nexec {\n\
                     api_version = \"client.authentication.k8s.io/v1\"\ncommand = \"sh\"\nargs = [\"program\"]\n}";
    let block = Service::new("kubernetes", arguments.to_owned()).block("endless");
    let folder = folder(&block, ENDLESS);
    run_without_terminal(&folder, "init -input=false").refuses(TOO_MUCH);
    wait_for_end(&folder);
}
