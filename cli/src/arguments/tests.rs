//! Command lines in; what was understood, or what is said instead, out.

use std::collections::BTreeMap;

use entail::diagnostic::Sources;
use entail::request::{PlanMode, VariableSource};
use expect_test::{Expect, expect};

use super::*;
use crate::commands::Command;
use crate::commands::plan::PlanArgs;
use entail::error::Error;

fn split(line: &str) -> Vec<String> {
    words::split(line).expect("the test is complete")
}

fn read_line(line: &str, environment: &[(&str, &str)]) -> Asked {
    let environment: BTreeMap<_, _> =
        environment.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    read(split(line), &environment)
}

#[track_caller]
fn plan(line: &str, environment: &[(&str, &str)]) -> PlanArgs {
    match read_line(line, environment) {
        Asked::Run(it) => match it.cli.command {
            Command::Plan(args) => args,
            other => panic!("not a plan: {other:?}"),
        },
        other => panic!("not a command: {other:?}"),
    }
}

#[track_caller]
fn check_misuse(line: &str, expected: Expect) {
    let text = match read_line(line, &[]) {
        Asked::Misused(problem, misused) => format!("{}: {problem}", misused.name),
        Asked::Confused(text) => text,
        other => panic!("it makes sense: {other:?}"),
    };
    expected.assert_eq(&text);
}

#[test]
fn flags_take_one_dash_or_two_and_values_joined_or_apart() {
    for line in ["plan -target=a.b", "plan --target=a.b", "plan -target a.b", "plan --target a.b"] {
        assert_eq!(plan(line, &[]).planning.target, ["a.b"], "{line}");
    }
    assert_eq!(
        plan("plan -target -x -target=a=b -target=", &[]).planning.target,
        ["-x", "a=b", ""]
    );
}

#[test]
fn switches_are_true_where_named_and_the_last_one_wins() {
    let table = [
        ("plan", true, false),
        ("plan -refresh=false -destroy", false, true),
        ("plan -refresh=0 -destroy=T", false, true),
        ("plan -refresh -destroy -destroy=false", true, false),
        ("plan --refresh=False --destroy=1", false, true),
    ];
    for (line, refresh, destroy) in table {
        let planning = plan(line, &[]).planning;
        assert_eq!((planning.refresh, planning.destroy), (refresh, destroy), "{line}");
    }
}

#[test]
fn lint_rules_are_those_of_the_last_list_and_a_malformed_list_is_refused() {
    let included = |line: &str| plan(line, &[]).lint.selection().expect("it is right").included;
    assert_eq!(included("plan"), [""; 0]);
    assert_eq!(included("plan -lint=all -lint core:mistake"), ["core:mistake"]);
    for command in ["validate", "plan", "apply", "destroy", "refresh"] {
        let line = format!("{command} -lint=all,core:Mistake");
        assert!(matches!(read_line(&line, &[]), Asked::Misused(..)), "{line}");
    }
    check_misuse(
        "plan -lint=!core:mistake",
        expect![[r#"
            plan: Invalid -lint option: The list "!core:mistake" only excludes lint rules. At least one identifier must stand there without a !.

            hint: -lint takes identifiers separated by commas: all, or NAMESPACE:NAME such as core:confusing. A ! before an identifier excludes it, as in -lint='all,!core:confusing'."#]],
    );
}

#[test]
fn view_flags_stand_before_or_behind_the_command() {
    for line in ["-no-color plan -concise", "plan -concise -no-color"] {
        let Asked::Run(it) = read_line(line, &[]) else { panic!("{line} is a command") };
        assert!(
            it.cli.view.no_color && it.cli.view.concise && it.cli.view.consolidate_warnings,
            "{line}"
        );
    }
}

#[test]
fn variables_keep_their_order() {
    let sources = plan("plan -var a=1 -var-file=f -var=b=x=y", &[])
        .variables
        .sources()
        .expect("they are right");
    let [VariableSource::Flag(a, one), VariableSource::File(file), VariableSource::Flag(b, value)] =
        &sources[..]
    else {
        panic!("{sources:?}")
    };
    assert_eq!(
        (a.as_str(), one.as_str(), file.to_str(), b.as_str(), value.as_str()),
        ("a", "1", Some("f"), "b", "x=y")
    );
    assert!(plan("plan -var a", &[]).variables.sources().is_err());
    assert!(plan("plan -var 'a =1'", &[]).variables.sources().is_err());
}

#[test]
fn the_environment_is_inserted_behind_the_command() {
    let environment = [
        ("TF_CLI_ARGS", "-parallelism=1 -target=g"),
        ("TF_CLI_ARGS_plan", "-parallelism=2 -target=s"),
    ];
    let args = plan("plan -target=u", &environment);
    assert_eq!(
        (args.planning.parallelism, args.planning.target),
        (1, vec!["s".into(), "g".into(), "u".into()])
    );
    assert_eq!(plan("plan -parallelism=3", &environment).planning.parallelism, 3);
    let Asked::Run(it) = read_line(
        "state list",
        &[("TF_CLI_ARGS_state_list", "-id=x"), ("TF_CLI_ARGS_plan", "-nope")],
    ) else {
        panic!("it is a command")
    };
    assert_eq!(it.asked.name, "state list");
}

#[test]
fn a_directory_stands_before_the_command() {
    let Asked::Run(it) = read_line("-chdir=a/b plan", &[]) else { panic!("it is a command") };
    assert_eq!(it.directory.as_deref(), Some(std::path::Path::new("a/b")));
    check_misuse(
        "-chdir plan",
        expect![[r#"
            Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example
        "#]],
    );
}

#[test]
fn an_empty_path_is_none() {
    for line in ["plan -out=", "plan -out p -out=", "plan -state= -out="] {
        assert_eq!(plan(line, &[]).out, None, "{line}");
    }
}

#[test]
fn flags_that_make_no_sense_are_named() {
    check_misuse(
        "plan -foo",
        expect!["plan: Failed to parse command-line flags: flag provided but not defined: -foo"],
    );
    check_misuse(
        "state mv -foo a b",
        expect![
            "state mv: Failed to parse command-line flags: flag provided but not defined: -foo"
        ],
    );
    check_misuse(
        "plan -target",
        expect!["plan: Failed to parse command-line flags: flag needs an argument: -target"],
    );
    check_misuse(
        "plan -refresh=maybe",
        expect![[
            r#"plan: Failed to parse command-line flags: invalid boolean value "maybe" for -refresh: parse error"#
        ]],
    );
    check_misuse(
        "plan -parallelism=many",
        expect![[
            r#"plan: Failed to parse command-line flags: invalid value "many" for flag -parallelism: parse error"#
        ]],
    );
    check_misuse(
        "plan -lock-timeout=5",
        expect![[
            r#"plan: Failed to parse command-line flags: invalid value "5" for flag -lock-timeout: parse error"#
        ]],
    );
    check_misuse(
        "plan -deprecation=local",
        expect![[r#"
            plan: Failed to parse command-line flags: invalid value "local" for flag -deprecation: parse error

            It is one of: module:all, module:local, module:none. For example: -deprecation=module:all"#]],
    );
    check_misuse(
        "plan ---x",
        expect!["plan: Failed to parse command-line flags: bad flag syntax: ---x"],
    );
}

#[test]
fn an_unknown_command_is_answered_with_the_nearest() {
    check_misuse(
        "pln -x",
        expect![[r#"
            entail has no command named "pln". Did you mean "plan"?

            To see all of entail's top-level commands, run:
              entail -help

        "#]],
    );
}

#[test]
fn help_is_given_where_asked_for_and_where_nothing_is() {
    let code = |line| match read_line(line, &[]) {
        Asked::Help(_, code) => code,
        other => panic!("{line} gives no help: {other:?}"),
    };
    let table = [
        ("", 127),
        ("-help", 0),
        ("plan -help", 0),
        ("plan --help -nope", 0),
        ("state", 1),
        ("state -h", 0),
        ("state nope", 1),
    ];
    for (line, expected) in table {
        assert_eq!(code(line), expected, "{line}");
    }
}

#[test]
fn a_version_is_wanted_wherever_it_is_named() {
    for line in ["-version", "--version", "-v", "plan -version", "version"] {
        let Asked::Run(it) = read_line(line, &[]) else { panic!("{line} is a command") };
        assert!(matches!(it.cli.command, Command::Version(_)), "{line}");
    }
}

#[test]
fn help_shows_flags_with_one_dash() {
    let Asked::Help(text, _) = read_line("state rm -help", &[]) else { panic!("it is help") };
    expect![[r#"
        Usage: entail [global options] state rm [options] ADDRESS...

          Remove instances from the state

          Forgets instances, resources or modules. What they stand for stays as it is.

        Options:

          -dry-run                Say what would be removed, and remove nothing.

          -ignore-remote-version  Continue where the backend runs another version.

          -lock=false             Do not hold a lock on the state. Dangerous where
                                  others might run commands on the same state at the
                                  same time.

          -lock-timeout=5s        How long to wait for a lock that somebody holds.

          -state=FILE             Read the state from this file.

          -state-out=FILE         Write the state to this file.

          -backup=FILE            Keep the previous state in this file; `-` keeps
                                  none.

          -recover=take|aside     What to do with the journal of an interrupted run
                                  that does not fit or cannot be read, after looking
                                  into it: `take` its steps into the state, or leave
                                  it `aside`.

          -allow-missing-state    Begin with an empty state where this working
                                  directory has seen a state in the backend that is
                                  gone.

          -var=NAME=VALUE         Set a variable of the root module. May be repeated.

          -var-file=FILE          Read variables from a file. May be repeated.

          -json                   Write JSON, one message per line.

          -json-into=FILE         Write the JSON messages into a file, beside the text
                                  for people.

        Every command takes these, too: -no-color, -compact-warnings,
        -consolidate-warnings=false, -consolidate-errors, -concise,
        -deprecation=module:m.

        Examples:

          entail state rm -dry-run module.old
              Say what would be forgotten.
    "#]]
    .assert_eq(&text);
}

#[test]
fn every_command_has_a_summary_and_its_flags_have_texts() {
    let mut open = vec![Cli::command()];
    while let Some(command) = open.pop() {
        assert!(command.get_about().is_some(), "{} has no summary", command.get_name());
        for flag in command.get_opts().filter(|it| !it.is_hide_set()) {
            assert!(
                flag.get_help().is_some(),
                "{} -{} has no text",
                command.get_name(),
                flag.get_id()
            );
        }
        open.extend(command.get_subcommands().cloned());
    }
    Cli::command().debug_assert();
}

#[track_caller]
fn request(line: &str) -> Result<entail::request::Request, Error> {
    let args = plan(line, &[]);
    request::build(&args.planning, &args.variables, &Sources::default())
        .map_err(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into())
}

#[test]
fn a_request_holds_addresses_as_read_and_as_written() {
    let request = request("plan -refresh=false -target=a.b -exclude='module.m[\"k\"]' -replace=a.b[0] -parallelism=0 -compat=opentofu")
        .expect("it is right");
    assert_eq!(
        (request.mode, request.skip_refresh, request.compat_opentofu),
        (PlanMode::Normal, true, true)
    );
    assert_eq!(request.parallelism, 10);
    assert_eq!(
        (request.targets[0].target.to_string(), request.targets[0].origin.as_str()),
        ("a.b".into(), "-target=a.b")
    );
    assert_eq!(request.excludes[0].target.to_string(), "module.m[\"k\"]");
    assert_eq!(request.replaces[0].instance.to_string(), "a.b[0]");
}

#[test]
fn contradictions_and_bad_addresses_are_refused_together() {
    let problems =
        request("plan -destroy -refresh-only -parallelism=-1 -compat=x -replace=data.a.b")
            .expect_err("it is wrong");
    expect![[r#"
        Incompatible plan mode options: The -destroy and -refresh-only options are mutually-exclusive.
        Invalid force-replace address "data.a.b": Only managed resources can be used with the -replace=... option.
        Invalid -compat option: There is no reading called "x". The one there is: -compat=opentofu.
        Invalid parallelism value: The parallelism must be a positive value. Not -1."#]]
    .assert_eq(problems.words());
    assert!(request("plan -refresh-only -refresh=false").is_err());
    assert!(
        request("plan -destroy -replace=a.b")
            .is_err_and(|it| it.words().starts_with("Unsupported plan mode"))
    );
    assert!(
        request("plan -target=a").is_err_and(|it| it.words().starts_with("Invalid target \"a\""))
    );
    assert!(
        request("plan -exclude-file=/nowhere")
            .is_err_and(|it| it.words().starts_with("Failed to read file"))
    );
}

#[test]
fn files_of_addresses_may_have_comments_and_blank_lines() {
    let folder = std::env::temp_dir().join(format!("entail-addresses-{}", std::process::id()));
    std::fs::write(&folder, "# what\n\n  a.b \nmodule.m\na.[\n").expect("the folder takes files");
    let args = plan(&format!("plan -exclude-file={}", folder.display()), &[]);
    let sources = Sources::default();
    let problems =
        request::build(&args.planning, &args.variables, &sources).expect_err("one line is wrong");
    let place = sources.place(problems.0[0].subject.expect("it has a place"));
    assert!(place.ends_with(":5,1"), "{place}");
    std::fs::write(&folder, "# what\n\n  a.b \nmodule.m\n").expect("the folder takes files");
    let request = request::build(&args.planning, &args.variables, &sources).expect("it is right");
    let origins: Vec<_> = request
        .excludes
        .iter()
        .map(|it| it.origin.rsplit(':').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        (request.excludes[0].text.as_str(), origins),
        ("a.b", vec!["3".to_owned(), "4".to_owned()])
    );
    std::fs::remove_file(&folder).expect("it is ours");
}

#[test]
fn what_a_provider_calls_an_object_may_begin_with_a_dash() {
    let words = |line: &str| match read_line(line, &[]) {
        Asked::Run(it) => match it.cli.command {
            Command::Import(args) => (args.words, args.output.messages.json),
            other => panic!("not an import: {other:?}"),
        },
        other => panic!("not a command: {other:?}"),
    };
    let both = |id: &str| vec!["random_integer.i".to_owned(), id.to_owned()];
    assert_eq!(words("import random_integer.i -3,-5,5"), (both("-3,-5,5"), false));
    assert_eq!(words("import -json random_integer.i -Zq_x="), (both("-Zq_x="), true));
    assert_eq!(words("import random_integer.i -Zq_x -json"), (both("-Zq_x"), true));
    assert_eq!(words("import -- random_integer.i -json"), (both("-json"), false));
    check_misuse(
        "import random_integer.i -jsom -3",
        expect![[r#"
            import: Failed to parse command-line flags: flag provided but not defined: -jsom

            Did you mean -json?"#]],
    );
    check_misuse(
        "import -3 random_integer.i",
        expect!["import: Failed to parse command-line flags: flag provided but not defined: -3"],
    );
}
