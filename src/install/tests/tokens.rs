//! Tokens that are kept, and helper programs that keep them: what they may do, and for how long.

use std::time::{Duration, Instant};

use super::super::credentials::{Credentials, Keeper};
use super::super::helper::Helper;
use super::super::hostname::Hostname;
use super::super::settings::Token;
use super::*;
use crate::error::Error;
use crate::world::Stop;
use crate::world::secrets::Secrets;

fn wait<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

/// Writes a script that can be run.
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("written");
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, permissions).expect("executable");
}

fn helper(room: &Room, text: &str) -> Helper {
    let program = room.path("helper");
    script(&program, text);
    let secrets = Secrets::of_environment(&room.world);
    Helper { program, arguments: Vec::new(), secrets }
}

/// Asks a helper for a token.
fn answer(text: &str, stop: &Stop) -> Result<Option<Token>, Error> {
    wait(helper(&Room::new(""), text).ask("a.example", stop))
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let begun = Instant::now();
    let told = answer(text, &Stop::default()).expect_err("refused").to_string();
    assert!(told.ends_with(expected), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(20), "it is not waited for");
}

#[test]
fn a_helper_that_hangs_or_prints_without_end_is_killed() {
    refused("exec sleep 30", "it did not end within 5 seconds, and was killed");
    refused("exec yes", "it prints more than 1 MiB");
    refused("exec yes >&2", "it prints more than 1 MiB");
}

#[test]
fn what_a_helper_has_started_is_not_waited_for() {
    let begun = Instant::now();
    let token = answer("sleep 30 &\necho '{\"token\":\"hush\"}'", &Stop::default());
    assert_eq!(token.expect("an answer"), Some(Token::new("hush")));
    assert!(begun.elapsed() < Duration::from_secs(20), "it is not waited for");
}

#[test]
fn a_helper_is_killed_when_the_run_is_stopped() {
    let stop = Stop::default();
    let room = Room::new("");
    let helper = helper(&room, "echo >${0%/*}/begun\nexec sleep 30");
    let begun = room.path("begun");
    let told = wait(async {
        let asked = async {
            while !begun.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            stop.ask();
        };
        tokio::join!(helper.ask("a.example", &stop), asked).0
    });
    let told = told.expect_err("stopped").to_string();
    assert!(told.ends_with("the run was interrupted"), "{told}");
}

#[test]
fn what_a_helper_says_of_a_failure_is_clean_and_short() {
    let room = Room::new("");
    let long =
        "cat >&2\nprintf 'is \\033[31mred ' >&2\nhead -c 5000 /dev/zero | tr '\\0' x >&2\nexit 1";
    let token = Token::new("se\"cret");
    let told = wait(helper(&room, long).store("a.example", &token, &Stop::default()));
    let told = told.expect_err("it fails").to_string();
    assert!(told.contains("{\"token\":\"(sensitive)\"}is  [31mred xxx"), "{told}");
    assert!(!told.contains("cret") && !told.contains(char::is_control), "{told}");
    assert!(told.ends_with("x…") && told.chars().count() < 1200, "{told}");
}

#[test]
fn an_error_of_a_helper_is_shown_without_the_secrets_of_the_environment() {
    let mut room = Room::new("");
    room.world.environment.insert("VAULT_TOKEN".into(), "hush-hush".into());
    let helper = helper(&room, "echo 'the vault refuses hush-hush' >&2\nexit 1");
    let told = wait(helper.ask("a.example", &Stop::default())).expect_err("it fails").to_string();
    assert!(told.ends_with("the vault refuses (sensitive)"), "{told}");
}

#[cfg(feature = "oci")]
#[test]
fn a_helper_for_registries_of_images_that_hangs_is_killed() {
    let mut room = Room::new(
        "oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_credentials_helper = \"slow\"\n}\n",
    );
    script(&room.path("bin/docker-credential-slow"), "exec sleep 30");
    room.world.environment.insert("PATH".into(), room.path("bin").display().to_string());
    let settings = room.settings();
    let found = login::find(&settings.logins, &room.world, "a.example", "b");
    let told = wait(found).expect_err("refused").to_string();
    assert!(told.ends_with("it did not end within 5 seconds, and was killed"), "{told}");
}

#[cfg(feature = "oci")]
#[test]
fn a_helper_for_registries_of_images_is_not_found_outside_of_path() {
    let mut room = Room::new("");
    let answer = "cat >/dev/null\necho '{\"Username\":\"me\",\"Secret\":\"hush\"}'";
    script(&room.path("elsewhere/program"), answer);
    std::fs::create_dir_all(room.path("bin/docker-credential-x")).expect("a folder");
    std::fs::create_dir(room.path(".docker")).expect("a folder");
    room.world.environment.insert("PATH".into(), room.path("bin").display().to_string());
    for file in [
        r#"{"credHelpers": {"a.example": "x/../../elsewhere/program"}}"#,
        r#"{"credsStore": "x/../../elsewhere/program"}"#,
    ] {
        std::fs::write(room.path(".docker/config.json"), file).expect("written");
        let settings = room.settings();
        let found = login::find(&settings.logins, &room.world, "a.example", "b");
        let told = wait(found).expect_err("refused").to_string();
        assert!(told.ends_with("must not contain a path separator"), "{told}");
    }
}

#[test]
fn a_token_that_no_request_can_hold_is_not_kept() {
    let room = Room::new("");
    let credentials = Credentials::of(&room.settings(), &room.world).expect("readable");
    let host = Hostname::parse("a.example").expect("a name");
    let Keeper::File { path, .. } = credentials.keeper(&host) else { panic!("a file keeps it") };
    for text in ["a\nb", "a\0b", "a\tb", "a\u{9b}b", "\r"] {
        let told = wait(credentials.store(&host, &Token::new(text))).expect_err("refused");
        assert!(told.words().contains("control character"), "{told}");
        assert!(!path.exists(), "{text:?}");
    }
    let long = wait(credentials.store(&host, &Token::new("a".repeat((64 << 10) + 1))));
    let told = long.expect_err("refused");
    assert!(told.words().contains("more than 64 KiB") && !path.exists(), "{told}");
    wait(credentials.store(&host, &Token::new("a".repeat(64 << 10)))).expect("kept");
    wait(credentials.store(&host, &Token::new("a-b.c"))).expect("kept");
    assert!(std::fs::read_to_string(path).expect("readable").contains("a-b.c"));
}

#[test]
fn two_helpers_keep_no_token() {
    let room = Room::new("credentials_helper \"a\" {}\ncredentials_helper \"b\" {}\n");
    let problem = Credentials::of(&room.settings(), &room.world).err().expect("refused");
    assert!(problem.words().contains("more than one credentials_helper block"), "{problem}");
}
