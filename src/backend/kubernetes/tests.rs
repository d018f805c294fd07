//! Configuration files of clusters, and the names of secrets. `cli/tests/backends` speaks to a cluster.

use std::sync::Arc;

use expect_test::{Expect, expect};

use super::*;
use crate::backend::local::Choice;
use crate::backend::opening::Owner;
use crate::backend::registry::Kind as AnyKind;
use crate::value::Value;
use crate::world::World;

const FILE: &str = r#"
apiVersion: v1
kind: Config
current-context: first
contexts:
- {name: first, context: {cluster: one, user: someone}}
- {name: second, context: {cluster: two, user: nobody}}
clusters:
- name: one
  cluster: {server: "https://one.example:6443", insecure-skip-tls-verify: true}
- name: two
  cluster: {server: "https://two.example/prefix"}
users:
- {name: someone, user: {token: secret-token}}
"#;

#[track_caller]
fn check(set: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&opened(FILE, set));
}

/// Opens a store beside a configuration file. Returns how the store calls its place, or what is wrong.
fn opened(file: &str, set: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("config"), file).expect("a file");
    let mut world = World { root: folder.path().into(), ..World::of_this_process() };
    world.environment.clear();
    let kind: &'static AnyKind = &KIND;
    let mut given = kind.unset();
    given.insert("secret_suffix".into(), Value::string("s"));
    for (name, text) in set {
        given.insert((*name).to_owned(), Value::string(text));
    }
    let opened = kind.open(&Arc::new(world), &given, &Choice::default());
    let told = match opened {
        Ok(store) => store.name("default"),
        Err(problems) => problems.iter().map(|it| it.detail.clone()).collect(),
    };
    let folder = folder.path().display().to_string();
    told.replace(&folder, "FOLDER")
}

#[test]
fn a_cluster_is_that_of_the_chosen_context() {
    let file = ("config_path", "config");
    check(
        &[file],
        expect![[
            r#"the secret "tfstate-default-s" in the name space "default" of https://one.example:6443/"#
        ]],
    );
    check(
        &[file, ("config_context", "second"), ("config_context_auth_info", "someone")],
        expect![[
            r#"the secret "tfstate-default-s" in the name space "default" of https://two.example/prefix"#
        ]],
    );
    check(
        &[file, ("config_context_cluster", "two"), ("namespace", "n")],
        expect![[
            r#"the secret "tfstate-default-s" in the name space "n" of https://two.example/prefix"#
        ]],
    );
    check(
        &[file, ("host", "https://three.example")],
        expect![[
            r#"the secret "tfstate-default-s" in the name space "default" of https://three.example/"#
        ]],
    );
}

#[test]
fn what_is_wrong_with_a_file_is_told() {
    let file = ("config_path", "config");
    check(
        &[file, ("config_context", "none")],
        expect![[
            r#"The argument "config_path" of the backend "kubernetes" cannot be used: no file has a context "none"."#
        ]],
    );
    check(
        &[file, ("config_context", "second")],
        expect![[
            r#"The argument "config_path" of the backend "kubernetes" cannot be used: no file has a user "nobody"."#
        ]],
    );
    check(
        &[("config_path", "gone")],
        expect![[
            r#"The argument "config_path" of the backend "kubernetes" cannot be used: FOLDER/gone: No such file or directory (os error 2)."#
        ]],
    );
    check(
        &[("host", "https://x"), ("client_key", "k")],
        expect![[
            r#"The argument "host" of the backend "kubernetes" cannot be used: a client certificate and its key go together."#
        ]],
    );
}

#[test]
fn a_setting_of_a_file_that_is_not_supported_is_named() {
    let file = ("config_path", "config");
    let user = |more: &str| FILE.replace("token: secret-token", more);
    let cluster = |more: &str| FILE.replace("insecure-skip-tls-verify: true", more);
    for (text, name) in [
        (user("token: t, as: admin"), "as"),
        (user("token: t, as-uid: \"1\""), "as-uid"),
        (user("token: t, as-groups: [admins]"), "as-groups"),
        (user("token: t, as-user-extra: {a: [b]}"), "as-user-extra"),
        (user("auth-provider: {name: gcp}"), "auth-provider"),
        (cluster("proxy-url: \"http://p.example\""), "proxy-url"),
        (cluster("tls-server-name: other.example"), "tls-server-name"),
    ] {
        let told = opened(&text, &[file]);
        assert!(told.contains(&format!("sets {name:?}, which is not supported")), "{told}");
    }
    // What is empty, or has another in its place, changes nothing.
    let empty = "proxy-url: \"\", tls-server-name: null";
    assert!(opened(&cluster(empty), &[file]).starts_with("the secret"));
    let provider = user("auth-provider: {name: gcp}");
    assert!(opened(&provider, &[file, ("token", "t")]).starts_with("the secret"));
}

#[test]
fn a_secret_has_a_name_that_clusters_take() {
    let world = Arc::new(World::of_this_process());
    let mut given = KIND.unset();
    given.insert("secret_suffix".into(), Value::string("s"));
    let opening = Opening {
        world: &world,
        owner: Owner::Backend(KIND.name),
        settings: KIND.settings,
        given: &given,
        choice: &Choice::default(),
    };
    let store = Kubernetes::open(&opening).expect("it is opened");
    assert_eq!(store.lease("a.b-c").expect("a name"), "lock-tfstate-a.b-c-s");
    for wrong in ["A", "a_b", "a.", &"a".repeat(250)] {
        store.secret(wrong).expect_err("it is none");
    }
}
