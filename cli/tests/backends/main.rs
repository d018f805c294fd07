//! Remote backends, used as users use them: every command against every service, one service's states moved to the next, and what
//! happens when a connection breaks.

#![expect(clippy::print_stderr, reason = "what was tried with what is told")]

#[path = "../../../tests/support/services/mod.rs"]
#[expect(dead_code, reason = "each test looks at a part of what services keep")]
mod services;

mod abrupt;
mod azurerm;
mod clouds;
mod folder;
mod gone;
mod lists;
mod losing;
mod passwords;
mod programs;
mod repeated;
mod sessions;
mod strange;
mod tables;
mod told;
mod triggers;

use std::process::Stdio;
use std::time::{Duration, Instant};

use folder::{Folder, all, answer, http, start_postgres};
use services::proxy::{Fault, Proxy};
use services::states;

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

#[test]
fn a_large_state_is_kept_whole() {
    let (services, _server) = all();
    // More than goes in one piece anywhere, with all that has a meaning to somebody on the way.
    let text = "a\\b\tc\nd \u{e4}\u{1f600} \\. ".repeat(800_000);
    let state = serde_json::json!({
        "version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "large", "resources": [],
        "outputs": {"v": {"value": text, "type": "string"}},
    });
    for service in services.iter().filter(|it| matches!(it.kind, "pg" | "http")) {
        let folder = Folder::new(&service.block("large"));
        folder.init();
        std::fs::write(folder.path().join("large.json"), state.to_string()).expect("a file");
        folder.run("state push large.json").ok();
        assert!(folder.output() == text, "{}", service.kind);
        // It is replaced as well, and by nobody who has not seen it.
        folder.run("apply -auto-approve -var v=small").ok();
        assert_eq!(folder.output(), "small", "{}", service.kind);
        folder.run("state push -force large.json").ok();
        assert!(folder.output() == text, "{}", service.kind);
    }
}

#[test]
fn what_is_no_database_is_told_with_what_can_be_done() {
    let Some(server) = start_postgres() else { return };
    let block = |address: &str, more: &str| {
        format!(
            "terraform {{\n  backend \"pg\" {{\n    conn_str = \"{address}\"\n    {more}\n  }}\n}}\n"
        )
    };
    let address = server.address();
    let (page, _) = states::start();
    let tls = address.replace("sslmode=disable", "sslmode=require");
    let other = address.replace("/postgres?", "/nosuch?");
    let silent = format!("postgres://u@127.0.0.1:{page}/d?sslmode=disable&connect_timeout=1");
    let missing = "schema_name = \"nosuch\"\n    skip_schema_creation = true";
    for (address, more, told) in [
        (&tls, "", "sslmode=disable"),
        (&other, "", "create it, or name another one"),
        (&silent, "", "does not answer as PostgreSQL does"),
        (&address, missing, "skip_schema_creation keeps it from being made"),
    ] {
        let text = Folder::new(&block(address, more)).run("init -input=false").fails("listed");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(told), "{told}: {text}");
    }
}
