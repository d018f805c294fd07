//! `hashicorp/local`, on a folder of its own.

use expect_test::expect;
use serde_json::{Value as Json, json};

use super::support::{Probe, json_of, print};
use crate::value::Value;

fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).expect("a string")
}

#[test]
fn a_file_is_written_read_and_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let probe = Probe::within("local", folder.path());
    let object = probe.create(
        "local_file",
        json!({"filename": "out/deep/x.txt", "content": "héllo", "file_permission": "600"}),
    );
    expect![[r#"
        content = "héllo"
        content_base64sha256 = "PEhZHY0JikU49eAT389AbpSOrE0yd7EL9hTildYGgXk="
        content_base64sha512 = "pn6DEBGqQeuyohjI/3J/HGDWLwbhaBZ40XaoHNcu5p5yUMTJQ8rLqyjkJ2hhWlxBtrDUJZHSwmplZws46XMG3A=="
        content_md5 = "be50e8478cf24ff3595bc7307fb91b50"
        content_sha1 = "35b5ea45c5e41f78b46a937cc74d41dfea920890"
        content_sha256 = "3c48591d8d098a4538f5e013dfcf406e948eac4d3277b10bf614e295d6068179"
        content_sha512 = "a67e831011aa41ebb2a218c8ff727f1c60d62f06e1681678d176a81cd72ee69e7250c4c943cacbab28e42768615a5c41b6b0d42591d2c26a65670b38e97306dc"
        directory_permission = "0777"
        file_permission = "600"
        filename = "out/deep/x.txt"
        id = "35b5ea45c5e41f78b46a937cc74d41dfea920890"
    "#]]
    .assert_eq(&print(&object));
    let file = folder.path().join("out/deep/x.txt");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "héllo");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(probe.read("local_file", &object), print(&object));
    std::fs::write(&file, "other").expect("a write");
    assert_eq!(probe.read("local_file", &object), "gone\n");
    for _ in 0..2 {
        assert_eq!(probe.apply("local_file", json_of(&object), Json::Null).1, "gone\n");
        assert!(!file.exists());
    }
    assert!(file.parent().expect("a folder").exists());
    assert_eq!(probe.read("local_file", &object), "gone\n");
}

#[test]
fn every_argument_replaces_and_every_checksum_is_unknown_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let probe = Probe::within("local", folder.path());
    let prior = json_of(&probe.create("local_file", json!({"filename": "x", "content": "a"})));
    expect![[r#"
        content_base64 = "YQ=="
        content_base64sha256 = ?
        content_base64sha512 = ?
        content_md5 = ?
        content_sha1 = ?
        content_sha256 = ?
        content_sha512 = ?
        directory_permission = "0777"
        file_permission = "0600"
        filename = "y"
        id = ?
        replaced for content, content_base64, file_permission, filename
    "#]]
    .assert_eq(&probe.plan(
        "local_file",
        prior,
        json!({"filename": "y", "content_base64": "YQ==", "file_permission": "0600"}),
    ));
}

#[test]
fn content_comes_from_one_of_several_arguments() {
    let folder = tempfile::tempdir().expect("a folder");
    let probe = Probe::within("local", folder.path());
    std::fs::write(folder.path().join("source"), "from source").expect("a write");
    let written = |kind: &str, config: Json| {
        probe.create(kind, config);
        std::fs::read_to_string(folder.path().join("x")).expect("the file")
    };
    assert_eq!(written("local_file", json!({"filename": "x", "content_base64": "YWJj"})), "abc");
    assert_eq!(written("local_file", json!({"filename": "x", "source": "source"})), "from source");
    assert_eq!(written("local_file", json!({"filename": "x", "sensitive_content": "s"})), "s");
    assert_eq!(written("local_sensitive_file", json!({"filename": "x", "content": "c"})), "c");
}

#[test]
fn what_only_apply_can_know_fails_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let probe = Probe::within("local", folder.path());
    std::fs::write(folder.path().join("file"), "").expect("a write");
    for config in [
        json!({"filename": "x", "content_base64": "not base64"}),
        json!({"filename": "x", "source": "missing"}),
        json!({"filename": "file/x", "content": ""}),
        json!({"filename": "", "content": ""}),
    ] {
        assert_eq!(
            probe.apply("local_file", Json::Null, config.clone()).1,
            "error: Create local file error\ngone\n",
            "{config}"
        );
        let answer = probe.apply("local_sensitive_file", Json::Null, config).1;
        assert_eq!(answer, "error: Create local sensitive file error\ngone\n");
    }
}

#[test]
fn rules_of_the_file_kinds() {
    let probe = Probe::new("local");
    expect![[r#"
        error: Invalid Attribute Combination (content)
        error: Invalid Attribute Combination (sensitive_content)
        error: Invalid Attribute Combination (content_base64)
        error: Invalid Attribute Combination (source)
    "#]]
    .assert_eq(&probe.validate("local_file", json!({"filename": "x"})));
    expect![[r#"
        error: Invalid Attribute Combination (content)
        error: Invalid Attribute Combination (content_base64)
        error: Invalid Attribute Combination (source)
    "#]]
    .assert_eq(
        &probe.validate(
            "local_sensitive_file",
            json!({"filename": "x", "content": "a", "source": "b"}),
        ),
    );
    assert_eq!(
        probe.validate("local_file", json!({"filename": "x", "content": "c", "source": "?"})),
        ""
    );
    for (mode, is_good) in [
        ("0777", true),
        ("644", true),
        ("0800", false),
        ("77", false),
        ("1777", false),
        ("00644", false),
        ("+77", false),
    ] {
        let expected = if is_good {
            ""
        } else {
            "error: Invalid File Permission String Value (file_permission)\n"
        };
        assert_eq!(
            probe.validate(
                "local_file",
                json!({"filename": "x", "content": "c", "file_permission": mode})
            ),
            expected,
            "{mode}"
        );
    }
    expect![[r#"
        warning: Attribute Deprecated (sensitive_content)
    "#]]
    .assert_eq(&probe.validate("local_file", json!({"filename": "x", "sensitive_content": "s"})));
    assert!(probe.import("local_file", "x").starts_with("error: Resource Import Not Implemented"));
}

#[test]
fn a_file_is_read_as_data_whatever_its_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let probe = Probe::within("local", folder.path());
    std::fs::write(folder.path().join("x"), b"a\xffb").expect("a write");
    for kind in ["local_file", "local_sensitive_file"] {
        let answer = probe.read_data(kind, json!({"filename": "x"}));
        assert!(
            answer.starts_with("content = \"a\u{fffd}b\"\ncontent_base64 = \"Yf9i\"\n"),
            "{answer}"
        );
        assert!(
            answer.ends_with("id = \"2b962856b5d3a293cc64cbfaf1e1580c7cefeba7\"\n"),
            "{answer}"
        );
        assert_eq!(
            probe.read_data(kind, json!({"filename": "missing"})),
            "error: Read local file data source error\n"
        );
    }
}

#[test]
#[cfg(unix)]
fn a_command_runs_with_its_input_and_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    std::fs::write(folder.path().join("sub/file"), "").expect("a write");
    let probe = Probe::within("local", folder.path());
    let run = |config: Json| probe.read_data("local_command", config);
    expect![[r#"
        arguments = ["-c", "cat; ls; echo trouble >&2", null]
        command = "sh"
        exit_code = 0
        stderr = "trouble\n"
        stdin = "in "
        stdout = "in file\n"
        working_directory = "sub"
    "#]]
    .assert_eq(&run(json!({
        "command": "sh", "arguments": ["-c", "cat; ls; echo trouble >&2", null], "stdin": "in ", "working_directory": "sub",
    })));
    let exit = json!(["-c", "exit 3"]);
    assert_eq!(
        run(json!({"command": "sh", "arguments": exit})),
        "error: Command Execution Failed (command)\n"
    );
    let answer = run(json!({"command": "sh", "arguments": exit, "allow_non_zero_exit_code": true}));
    assert!(answer.contains("exit_code = 3\n") && !answer.contains("stdout"), "{answer}");
    assert_eq!(
        run(json!({"command": "no-such-program"})),
        "error: Command Lookup Failed (command)\n"
    );
    assert_eq!(run(json!({"command": "./sub"})), "error: Command Lookup Failed (command)\n");
    assert_eq!(
        text(
            &probe.open("local_command", json!({"command": "echo", "arguments": ["hi"]})),
            "stdout"
        ),
        "hi\n"
    );
}

#[test]
fn a_folder_exists_or_not_and_a_file_is_neither() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("a write");
    let probe = Probe::within("local", folder.path());
    assert_eq!(probe.call("direxists", &[json!(".")]), "true");
    assert_eq!(probe.call("direxists", &[json!("missing")]), "false");
    assert!(probe.call("direxists", &[json!("file")]).starts_with("error in argument Some(0)"));
}
