//! Servers and programs whose errors repeat the secrets of a run: the errors are shown without them.

use crate::folder::{Folder, Service, TOKEN, kubernetes_at};
use crate::services::http::{Reply, serve};

/// Checks that an error shows words around a secret, and not the secret.
#[track_caller]
fn check(folder: &Folder, secret: &str, words: &str) {
    let init = folder.run("init -input=false");
    let told = match init.code {
        Some(0) => folder.run("plan -input=false -lock=false"),
        _ => init,
    };
    let told = told.refuses(words);
    assert!(!told.contains(secret), "{told}");
}

#[test]
fn a_cluster_that_repeats_the_token() {
    let port = serve(|request| {
        let shown = request.header("authorization").to_owned();
        let body = format!(r#"{{"kind": "Status", "message": "{shown} is not known here"}}"#);
        Reply::new(403, body)
    });
    let folder = Folder::new(&kubernetes_at(port).block("repeated"));
    check(&folder, TOKEN, "status 403: (sensitive) is not known here");
}

#[test]
fn a_consul_that_repeats_the_token() {
    let port = serve(|request| {
        Reply::new(403, format!("no rights: {}", request.header("x-consul-token")))
    });
    let arguments = format!(
        "address = \"127.0.0.1:{port}\"\npath = \"states/PLACE\"\naccess_token = \"{TOKEN}\""
    );
    let folder = Folder::new(&Service::new("consul", arguments).block("repeated"));
    check(&folder, TOKEN, "status 403: no rights: (sensitive)");
}

#[test]
fn a_program_for_a_cluster_that_repeats_secrets() {
    let arguments = format!(
        "host = \"https://127.0.0.1:1\"\ntoken = \"{TOKEN}\"\nsecret_suffix = \"PLACE\"\nexec {{\n\
         api_version = \"client.authentication.k8s.io/v1\"\ncommand = \"sh\"\nargs = [\"program\"]\n}}"
    );
    let block = Service::new("kubernetes", arguments).block("repeated");
    let folder = Folder::new(&block).with("PATH", "/usr/bin:/bin").with("VAULT_TOKEN", "hush-hush");
    let program = format!("echo \"refused: $VAULT_TOKEN, {TOKEN}\" >&2\nexit 1\n");
    std::fs::write(folder.path().join("program"), program).expect("the folder takes files");
    check(&folder, TOKEN, "refused: (sensitive), (sensitive)");
}
