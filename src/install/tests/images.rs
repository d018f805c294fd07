//! A registry of container images that holds a provider, on a server that each test starts.

use super::super::hash::hex;
use super::server::{Reply, Server};
use super::*;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn digest(bytes: &[u8]) -> String {
    use sha2::Digest;
    format!("sha256:{}", hex(&sha2::Sha256::digest(bytes)))
}

/// A manifest of a package that has one layer.
///
/// - `more`: further members of the layer, each with a comma before it.
fn manifest(layer: &str, more: &str) -> String {
    format!(
        r#"{{"mediaType":"{MANIFEST}","artifactType":"application/vnd.opentofu.provider-target","layers":[{{"mediaType":"archive/zip","digest":"{layer}"{more}}}]}}"#
    )
}

/// An index of one version.
///
/// - `digest`: what names the manifest for this platform.
/// - `more`: further members of that entry, each with a comma after it.
fn index(digest: &str, more: &str) -> String {
    let Platform { system, processor } = Platform::current();
    format!(
        r#"{{"mediaType":"{INDEX}","artifactType":"application/vnd.opentofu.provider","manifests":[{{{more}"mediaType":"{MANIFEST}","artifactType":"application/vnd.opentofu.provider-target","digest":"{digest}","platform":{{"os":"{system}","architecture":"{processor}"}}}}]}}"#
    )
}

/// A registry that has one version, and a room whose plugins come from there.
fn registry(content: &str) -> (Server, Room) {
    let server = Server::secure();
    let provider = "example.com/acme/thing".parse::<Provider>().expect("an address");
    let archive = archive(&provider, "program");
    let layer = digest(&archive);
    let manifest = manifest(&layer, "");
    let reference = digest(manifest.as_bytes());
    let at = "/v2/acme/thing";
    server
        .at(&format!("{at}/tags/list"), Reply::json(r#"{"tags":["1.0.0","1.1.0_build","latest"]}"#))
        .at(&format!("{at}/manifests/1.1.0_build"), Reply::json(index(&reference, "")))
        .at(&format!("{at}/manifests/{reference}"), Reply::json(manifest))
        .at(
            &format!("{at}/blobs/{layer}"),
            match content {
                "" => Reply::bytes(archive),
                other => Reply::bytes(other),
            },
        );
    let cli = format!(
        "provider_installation {{\n  oci_mirror {{\n    repository_template = \"localhost:{}/${{namespace}}/${{type}}\"\n    include = [\"example.com/*/*\"]\n  }}\n}}\n",
        server.port
    );
    let mut room = Room::new(&cli).needs("example.com/acme/thing", "");
    let file = room.path("certificate.pem");
    std::fs::write(&file, server.certificate.as_ref().expect("a certificate")).expect("written");
    room.world.environment.insert("SSL_CERT_FILE".into(), file.display().to_string());
    (server, room)
}

#[test]
fn a_package_is_had_from_a_registry_of_images() {
    let (_server, room) = registry("");
    let told = room.install(Mode::Keep);
    assert!(told.contains("installed example.com/acme/thing 1.1.0+build"), "{told}");
    let locks = room.locks();
    let hashes: Vec<String> =
        locks.0.values().flat_map(|it| &it.hashes).map(|it| it.to_string()[..3].into()).collect();
    assert_eq!(hashes, ["h1:", "zh:"]);
}

#[test]
fn a_layer_that_is_not_what_its_digest_says_is_refused() {
    let (_server, room) = registry("something else");
    let told = room.install(Mode::Keep);
    assert!(told.contains("doesn't match the expected checksum"), "{told}");
}

#[test]
fn an_index_names_manifests_by_digests_that_can_be_checked() {
    for digest in ["latest", "md5:00", "../../../../token"] {
        let (server, room) = registry("");
        server.at("/v2/acme/thing/manifests/1.1.0_build", Reply::json(index(digest, "")));
        let told = room.install(Mode::Keep);
        assert!(told.contains("which is not a digest"), "{told}");
        let last = server.paths().pop();
        assert_eq!(last.as_deref(), Some("/v2/acme/thing/manifests/1.1.0_build"));
    }
}

#[test]
fn a_manifest_has_the_size_that_the_index_states() {
    let (server, room) = registry("");
    let reference = digest(b"{}");
    server
        .at("/v2/acme/thing/manifests/1.1.0_build", Reply::json(index(&reference, r#""size":3,"#)))
        .at(&format!("/v2/acme/thing/manifests/{reference}"), Reply::json("{}"));
    let told = room.install(Mode::Keep);
    assert!(told.contains("has 2 bytes, but the manifest that names it says 3"), "{told}");
}

#[test]
fn a_layer_has_the_size_that_its_manifest_states() {
    let provider = "example.com/acme/thing".parse::<Provider>().expect("an address");
    let layer = archive(&provider, "program");
    let size = layer.len();
    for (stated, expected) in [
        (size - 1, format!("more than the {} bytes that the manifest states", size - 1)),
        (size + 1, format!("has {size} bytes, but the manifest states {} bytes", size + 1)),
        (size, "installed example.com/acme/thing 1.1.0+build".to_owned()),
    ] {
        let (server, room) = registry("");
        let manifest = manifest(&digest(&layer), &format!(r#","size":{stated}"#));
        let reference = digest(manifest.as_bytes());
        server
            .at("/v2/acme/thing/manifests/1.1.0_build", Reply::json(index(&reference, "")))
            .at(&format!("/v2/acme/thing/manifests/{reference}"), Reply::json(manifest))
            .at(&format!("/v2/acme/thing/blobs/{}", digest(&layer)), Reply::bytes(layer.clone()));
        let told = room.install(Mode::Keep);
        assert!(told.contains(&expected), "{told}");
    }
}

#[test]
fn what_a_registry_of_images_lacks_is_told() {
    let (server, mut room) = registry("");
    room.required.0.clear();
    let mut room = room.needs("example.com/acme/other", "");
    assert!(room.install(Mode::Keep).contains("was not found in any of the search locations"));
    server.at("/v2/acme/other/tags/list", Reply::status(401));
    room = room.needs("example.com/acme/other", "");
    assert!(room.install(Mode::Keep).contains("requires authentication credentials"));
}

const CHALLENGE: &str = r#"Bearer realm="https://localhost:PORT/token?of=a",service="images",scope="repository:acme/thing:pull""#;
const TOKEN: &str = "/token?of=a&scope=repository%3Aacme%2Fthing%3Apull&service=images";

/// A registry that wants to see something before it lists versions.
fn closed(challenge: &str) -> (Server, Room) {
    let (server, room) = registry("");
    let list = "/v2/acme/thing/tags/list";
    let challenge = challenge.replace("PORT", &server.port.to_string());
    let open = Reply::json(r#"{"tags":["1.1.0_build"]}"#);
    server
        .in_turn(list, vec![Reply::challenge(challenge), open])
        .at(TOKEN, Reply::json(r#"{"token":"given"}"#));
    (server, room)
}

/// Installs, and returns what was shown: first to the list of versions, to who gives tokens, to the rest.
fn shown(server: &Server, room: &Room) -> Vec<String> {
    let told = room.install(Mode::Keep);
    assert!(told.contains("installed example.com/acme/thing 1.1.0+build"), "{told}");
    let asked = server.asked.lock();
    let mut shown: Vec<String> =
        asked.iter().map(|it| it.1.clone().unwrap_or_else(|| "nothing".into())).collect();
    shown.dedup();
    shown
}

/// Adds to the CLI configuration.
fn configure(room: &Room, server: &Server, more: &str) {
    let file = room.path("cli.tfrc");
    let text = std::fs::read_to_string(&file).expect("readable");
    let more = more.replace("PORT", &server.port.to_string());
    std::fs::write(file, text + &more).expect("written");
}

/// `user:password`, as a header says it.
const LOGIN: &str = "Basic dXNlcjpwYXNzd29yZA==";

#[test]
fn a_registry_of_images_gives_strangers_a_token() {
    let (server, room) = closed(CHALLENGE);
    assert_eq!(shown(&server, &room), ["nothing", "given"]);
    assert!(server.paths().contains(&TOKEN.to_owned()), "{:?}", server.paths());
}

/// A user and a password for the whole registry.
const CREDENTIALS: &str =
    "oci_credentials \"localhost:PORT\" {\n  username = \"user\"\n  password = \"password\"\n}\n";

#[test]
fn a_host_that_a_registry_redirects_to_gets_no_credentials() {
    let (server, room) = registry("");
    configure(&room, &server, CREDENTIALS);
    let other = Server::secure();
    let at = format!("https://localhost:{}", other.port);
    other.at("/list", Reply::challenge(format!("Bearer realm=\"{at}/token\"")));
    server.at("/v2/acme/thing/tags/list", Reply::redirect(format!("{at}/list")));
    let trusted = [&server, &other].map(|it| it.certificate.clone().expect("a certificate"));
    std::fs::write(room.path("certificate.pem"), trusted.join("\n")).expect("written");
    let told = room.install(Mode::Keep);
    assert!(told.contains(&format!("redirects the request to {at}, which asks")), "{told}");
    assert_eq!(*other.asked.lock(), [("/list".to_owned(), None)]);
}

#[test]
fn why_no_credentials_were_sent_is_told() {
    for (challenge, expected) in [
        ("Bearer realm=\"http://localhost:PORT/token\"", "no token service with an https address"),
        ("realm=\"https://localhost:PORT/token\"", "without one of the schemes"),
        ("Bearer realm=\"https://localhost:PORT/none\"", "/none answers with 404 Not Found"),
    ] {
        let (server, room) = closed(challenge);
        configure(&room, &server, CREDENTIALS);
        let told = room.install(Mode::Keep);
        assert!(told.contains(expected), "{challenge}: {told}");
        assert!(!told.contains("rejected"), "{challenge}: {told}");
    }
}

#[test]
fn the_token_is_asked_for_with_the_closest_credentials() {
    let (server, room) = closed(CHALLENGE);
    configure(
        &room,
        &server,
        r#"
oci_credentials "localhost:PORT" {
  username = "other"
  password = "password"
}
oci_credentials "localhost:PORT/acme" {
  username = "user"
  password = "password"
}
oci_credentials "localhost:PORT/acm" {
  username = "third"
  password = "password"
}
"#,
    );
    assert_eq!(shown(&server, &room), ["nothing", LOGIN, "given"]);
}

#[test]
fn an_access_token_is_shown_as_it_is() {
    let (server, room) = closed(CHALLENGE);
    let block = "oci_credentials \"localhost:PORT\" {\n  access_token = \"own\"\n  refresh_token = \"r\"\n}\n";
    configure(&room, &server, block);
    assert_eq!(shown(&server, &room), ["nothing", "own"]);
}

#[test]
fn what_other_tools_have_written_down_opens_a_registry() {
    let (server, room) = closed("Basic realm=\"images\"");
    let auths = |server: &Server| {
        format!(
            r#"{{"auths":{{"localhost:{}/acme/thing":{{"auth":"dXNlcjpwYXNzd29yZA=="}},"elsewhere":null}}}}"#,
            server.port
        )
    };
    std::fs::create_dir(room.path(".docker")).expect("a folder");
    std::fs::write(room.path(".docker/config.json"), auths(&server)).expect("written");
    assert_eq!(shown(&server, &room), ["nothing", LOGIN]);

    let (server, room) = closed("Basic realm=\"images\"");
    std::fs::create_dir(room.path(".docker")).expect("a folder");
    std::fs::write(room.path(".docker/config.json"), auths(&server)).expect("written");
    let block = "oci_default_credentials {\n  discover_ambient_credentials = false\n}\n";
    configure(&room, &server, block);
    assert!(room.install(Mode::Keep).contains("requires authentication credentials"));
}

#[test]
fn a_helper_is_asked_for_what_opens_a_registry() {
    use std::os::unix::fs::PermissionsExt;
    let (server, mut room) = closed("Basic realm=\"images\"");
    std::fs::create_dir(room.path("bin")).expect("a folder");
    let program = room.path("bin/docker-credential-test");
    let script = "#!/bin/sh\n[ \"$1 $(cat)\" = \"get https://localhost:PORT\" ] || exit 1\necho '{\"Username\":\"user\",\"Secret\":\"password\"}'\n";
    std::fs::write(&program, script.replace("PORT", &server.port.to_string())).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("set");
    room.world.environment.insert("PATH".into(), room.path("bin").display().to_string());
    let block = "oci_default_credentials {\n  docker_credentials_helper = \"test\"\n}\n";
    configure(&room, &server, block);
    assert_eq!(shown(&server, &room), ["nothing", LOGIN]);
}

#[test]
fn what_is_wrong_with_credentials_for_images_is_told() {
    let block = |label: &str, body: &str| format!("oci_credentials {label} {{\n{body}\n}}\n");
    for (cli, expected) in [
        (block("\"a.b/c\"", "username = \"u\""), "must set both username and password together"),
        (block("\"a.b/c\"", "access_token = \"u\""), "must set both access_token and refresh_token"),
        (block("\"a.b/c\"", ""), "must set either username+password"),
        (
            block("\"a.b/c\"", "username = \"u\"\naccess_token = \"t\""),
            "must set only one group",
        ),
        (
            block("\"a.b/c\"", "docker_credentials_helper = \"h\""),
            "credential helpers only support credentials for whole domains",
        ),
        (
            block("\"a.b\"", "docker_credentials_helper = \"x/h\""),
            "invalid Docker credential helper name \"x/h\"",
        ),
        (block("", "username = \"u\""), "must have one label"),
        ("oci_default_credentials {}\noci_default_credentials {}\n".into(), "No more than one"),
        (
            "oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = []\n}\n".into(),
            "disables discovery of ambient credentials",
        ),
    ] {
        let told: Vec<String> =
            Room::new(&cli).settings().problems.iter().map(|it| it.to_string()).collect();
        assert!(told.concat().contains(expected), "{cli}: {told:?}");
    }
}

#[test]
fn a_template_must_tell_providers_apart() {
    for (template, expected) in [
        ("localhost/x", "template must refer to the \"namespace\" symbol"),
        ("localhost/${namespace}", "template must refer to the \"type\" symbol"),
        ("${namespace}${type}", "template must generate a valid OCI repository address"),
        ("localhost/${namespace}/${kind}", "the symbol \"kind\" is not available"),
    ] {
        let cli = format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    include = [\"example.com/*/*\"]\n  }}\n}}\n"
        );
        let room = Room::new(&cli);
        let (_, problems) = PackageSources::of(&room.settings(), &room.world);
        let told: Vec<String> = problems.iter().map(|it| it.to_string()).collect();
        assert!(told.concat().contains(expected), "{template}: {told:?}");
    }
    // The reader of the settings lets none of these through; a command has another reader.
    let open = crate::install::images::ImageMirror::parse("localhost/${type", &[], 0).err();
    let open = open.expect("an error").to_string();
    assert_eq!(open, "the template \"localhost/${type\" is not closed.");
}
