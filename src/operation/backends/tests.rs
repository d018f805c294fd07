//! A working directory goes from one backend to the next; what `init` tells, and where the states are afterwards.

use std::cell::RefCell;
use std::sync::Arc;

use expect_test::{Expect, expect};

use super::*;
use crate::backend::workspace;
use crate::config::tests::folder;
use crate::diagnostic::Sources;
use crate::operation::session::{open_backend, root_place};

struct Folder {
    folder: tempfile::TempDir,
    text: RefCell<String>,
    /// What is answered to a question for text.
    answer: Option<String>,
}

impl Asking for Folder {
    fn tell(&self, event: Event) {
        self.text.borrow_mut().push_str(&format!("  {event:?}\n"));
    }

    fn ask(&self, _: &str, _: &str) -> Option<bool> {
        None
    }

    fn answer(&self, question: &str, _: &str) -> Option<String> {
        let answer = self.answer.clone()?;
        self.text.borrow_mut().push_str(&format!("  {question} {answer}\n"));
        Some(answer)
    }
}

impl Folder {
    fn new() -> Folder {
        Folder { folder: folder("-- main.tf --\n"), text: RefCell::default(), answer: None }
    }

    fn world(&self) -> Arc<World> {
        let mut world = World::of_this_process();
        (world.root, world.cwd) = (self.folder.path().into(), self.folder.path().into());
        world.environment.clear();
        Arc::new(world)
    }

    fn configure(&self, text: &str) -> &Folder {
        std::fs::write(self.folder.path().join("main.tf"), text).expect("a file");
        self
    }

    fn init(&self, flags: Init) -> &Folder {
        let sources = Sources::default();
        let root = root_place(&self.world(), &sources).expect("a module");
        let result = initialize(&root, &sources, &flags, self);
        let line = match result {
            Ok(warnings) => {
                warnings.iter().map(|it| format!("warning: {}\n", it.summary)).collect()
            }
            Err(problems) => {
                problems.iter().map(|it| format!("{}\n", it.summary)).collect::<String>()
            }
        };
        self.text.borrow_mut().push_str(&format!("init\n{line}"));
        self
    }

    /// Opens the state as other commands do, and writes one where there is none.
    fn use_it(&self) -> &Folder {
        let backend = open_backend(&self.world(), &Sources::default(), &Choice::default());
        let line = match backend {
            Ok(backend) => {
                let text = r#"{"version":4,"terraform_version":"1.0.0","serial":1,"lineage":"l","outputs":{"o":{"value":1,"type":"number"}},"resources":[]}"#;
                let state = crate::state::read::read(text.as_bytes()).expect("a state");
                if backend.read().expect("it is read").state.is_none() {
                    backend.write(&state.expect("a state")).expect("it is written");
                }
                backend.name()
            }
            Err(problems) => {
                let first = &problems.0[0];
                let reason = first.detail.lines().next().unwrap_or_default().to_owned();
                format!("{} ({reason})", first.summary)
            }
        };
        self.text.borrow_mut().push_str(&format!("use: {line}\n"));
        self
    }

    fn outcome(&self, expected: Expect) {
        expected.assert_eq(&self.text.borrow());
    }
}

fn local(arguments: &str) -> String {
    format!("terraform {{\n  backend \"local\" {{\n    {arguments}\n  }}\n}}\n")
}

#[test]
fn a_changed_backend_asks_for_init_and_init_asks_how() {
    Folder::new()
        .configure(&local("path = \"one\""))
        .use_it()
        .init(Init::default())
        .use_it()
        .configure(&local("path = \"two\""))
        .use_it()
        .init(Init::default())
        .init(Init { migrate: true, ..Init::default() })
        .init(Init { force_copy: true, ..Init::default() })
        .use_it()
        .configure(&local("path = \"three\""))
        .init(Init { reconfigure: true, ..Init::default() })
        .use_it()
        .configure("")
        .use_it()
        .init(Init::default())
        .init(Init { force_copy: true, ..Init::default() })
        .use_it()
        .outcome(expect![[r#"
            use: Backend initialization required, please run "entail init" (Reason: Initial configuration of the requested backend "local")
              Set("local")
            init
            use: one
            use: Backend initialization required: please run "entail init" (Reason: Backend configuration block has changed)
            init
            Backend configuration changed
              Changed
            init
            Can't ask approval for state migration when interactive input is disabled.

            If non-interactive operation is desired, consider adding the "-force-copy"
            option. Otherwise, please remove the "-input=false" option and try again.
              Changed
              Set("local")
            init
            use: two
              Set("local")
            init
            use: three
            use: Backend initialization required, please run "entail init" (Reason: Unsetting the previously set backend "local")
            init
            Backend configuration changed
              Unconfiguring("local")
              Unset("local")
            init
            use: terraform.tfstate
        "#]]);
}

#[test]
fn a_state_in_the_usual_file_comes_along() {
    let folder = Folder::new();
    folder.use_it().configure(&local("path = \"one\"")).init(Init::default());
    folder.init(Init { force_copy: true, ..Init::default() }).use_it();
    folder.outcome(expect![[r#"
        use: terraform.tfstate
        init
        Can't ask approval for state migration when interactive input is disabled.

        If non-interactive operation is desired, consider adding the "-force-copy"
        option. Otherwise, please remove the "-input=false" option and try again.
          Set("local")
        init
        use: one
    "#]]);
    let size = |name: &str| std::fs::metadata(folder.folder.path().join(name)).map(|it| it.len());
    assert_eq!(size("terraform.tfstate").expect("a file"), 0);
    assert!(
        size("one").expect("a file") > 0 && size("terraform.tfstate.backup").expect("a file") > 0
    );
}

#[test]
fn arguments_of_the_command_line_are_kept() {
    let with = |it: &str| Init { overrides: vec![it.to_owned()], ..Init::default() };
    let folder = Folder::new();
    std::fs::write(folder.folder.path().join("file.hcl"), "path = \"from-file\"").expect("a file");
    folder.configure(&local("")).init(with("path=here")).use_it().init(Init::default()).use_it();
    folder.init(with("path=there")).init(with("nonsense=1")).init(with("gone.hcl"));
    folder.init(Init { reconfigure: true, ..with("file.hcl") }).use_it();
    folder.configure("").init(Init { reconfigure: true, ..with("path=x") }).use_it();
    folder.outcome(expect![[r#"
          Set("local")
        init
        use: here
        init
        use: here
        init
        Backend configuration changed
        init
        Invalid backend configuration argument
        init
        Failed to read file
          Set("local")
        init
        use: from-file
        init
        warning: Missing backend configuration
        use: terraform.tfstate
    "#]]);
}

#[test]
fn arguments_may_be_computed_and_must_make_sense() {
    let folder = Folder::new();
    folder.configure(&local("path = \"${terraform.workspace}-${1 + 1}\"")).init(Init::default());
    folder.use_it();
    for wrong in ["path = \"\"", "path = []", "nope = 1", "path = terraform_data.a.id"] {
        folder.configure(&local(wrong)).use_it();
    }
    folder.configure("terraform {\n  backend \"remote\" {}\n}\n").use_it();
    folder.configure("terraform {\n  cloud {\n    organization = var.x\n  }\n}\n").use_it();
    for encryption in [
        "key_provider \"pbkdf2\" \"k\" {\n    passphrase = local.secret\n  }\n  method \"aes_gcm\" \"m\" {\n    keys = key_provider.pbkdf2.k\n  }\n  state {\n    method = method.aes_gcm.m\n  }",
        "method \"aes_gcm\" \"m\" {\n    keys = key_provider.pbkdf2.k\n  }\n  state {\n    method = method.aes_gcm.m\n  }",
    ] {
        folder
            .configure(&format!("terraform {{\n  encryption {{\n  {encryption}\n  }}\n}}\n"))
            .use_it();
    }
    folder.outcome(expect![[r#"
          Set("local")
        init
        use: default-2
        use: Invalid local state file path (The "path" attribute value must not be empty.)
        use: Incorrect attribute value type (Inappropriate value for attribute "path": string required, but have tuple.)
        use: Unsupported argument (An argument named "nope" is not expected here.)
        use: Dynamic value in static context (Unable to use terraform_data.a in static context, which is required by backend.local)
        use: Invalid backend type (The backend "remote" is not supported: keep the state in "s3", "gcs", "azurerm", "pg" or "http" instead, or keep it with the program that has it. The backends that are supported: "azurerm", "consul", "gcs", "http", "inmem", "kubernetes", "local", "pg" and "s3".)
        use: Undefined variable (Undefined variable var.x)
        use: Undefined local (Undefined local local.secret)
        use: Reference to undeclared key provider (There is no key_provider "pbkdf2" "k" block declared in the encryption block.)
    "#]]);
}

#[test]
fn encryption_of_the_environment_must_make_sense_before_anything_is_read() {
    let folder = Folder::new();
    let mut world = World::clone(&folder.world());
    world.environment.insert("TF_ENCRYPTION".to_owned(), "state {}".to_owned());
    let refused = root_place(&Arc::new(world), &Sources::default()).expect_err("an error");
    expect!["Invalid encryption method identifier"].assert_eq(&refused.0[0].summary);
}

#[test]
fn every_workspace_comes_along() {
    let folder = Folder::new();
    let world = folder.world();
    folder.use_it();
    let sources = Sources::default();
    crate::operation::workspaces::create(&world, &sources, "dev", None).expect("a workspace");
    folder.use_it().configure(&local("workspace_dir = \"all\"")).init(Init::default());
    folder.init(Init { force_copy: true, ..Init::default() }).use_it();
    folder.outcome(expect![[r#"
        use: terraform.tfstate
        use: terraform.tfstate.d/dev/terraform.tfstate
        init
        Can't ask approval for state migration when interactive input is disabled.

        If non-interactive operation is desired, consider adding the "-force-copy"
        option. Otherwise, please remove the "-input=false" option and try again.
          Set("local")
        init
        use: all/dev/terraform.tfstate
    "#]]);
    assert!(folder.folder.path().join("all/dev/terraform.tfstate").exists());
}

#[test]
fn where_the_selected_workspace_is_gone_another_is_chosen_by_its_number() {
    for (answer, told) in [
        (None, "Currently selected workspace \"test\" does not exist\n"),
        (Some("2"), "init\nselected: dev"),
        (Some("0"), "Failed to select workspace\n"),
        (Some("dev"), "Failed to select workspace\n"),
    ] {
        let mut folder = Folder::new();
        folder.answer = answer.map(str::to_owned);
        folder.configure(&local("")).init(Init::default());
        let (world, sources) = (folder.world(), Sources::default());
        for name in ["dev", "test"] {
            crate::operation::workspaces::create(&world, &sources, name, None).expect("it is made");
        }
        std::fs::remove_dir_all(folder.folder.path().join("terraform.tfstate.d/test"))
            .expect("it is there");
        folder.text.borrow_mut().clear();
        folder.init(Init::default());
        let selected = workspace::selected(&folder.world()).expect("a workspace");
        let text = format!("{}selected: {selected}", folder.text.borrow());
        assert!(text.contains(told), "{answer:?}: {text}");
        if answer.is_some() {
            assert!(
                text.contains("The currently selected workspace (test) does not exist."),
                "{text}"
            );
        }
    }
}
