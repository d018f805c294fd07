//! Registries and mirrors on a server that each test starts.

use pgp::composed::{
    ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedSecretKey,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize;
use pgp::types::Password;
use rand::rngs::OsRng;

use super::super::hash::hex;
use super::super::web::{LARGEST_DOWNLOAD, Url, Web};
use super::server::{Reply, Server};
use super::*;
use crate::operation::plugins::{lock as locking, mirror};

const SOURCE: &str = "registry.test/acme/thing";

fn key() -> SignedSecretKey {
    let parameters = SecretKeyParamsBuilder::default()
        .key_type(KeyType::Ed25519Legacy)
        .can_certify(true)
        .can_sign(true)
        .primary_user_id("Tester <test@example.com>".into())
        .build()
        .expect("parameters");
    parameters.generate(OsRng).expect("a key")
}

fn sign(key: &SignedSecretKey, text: &str) -> Vec<u8> {
    let signature = DetachedSignature::sign_binary_data(
        OsRng,
        &key.primary_key,
        &Password::empty(),
        HashAlgorithm::Sha256,
        text.as_bytes(),
    );
    signature.expect("a signature").to_bytes().expect("bytes")
}

fn sum(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex(&sha2::Sha256::digest(bytes))
}

/// What differs from a registry as it should be.
#[derive(Default)]
struct Faults {
    sum: Option<String>,
    text: Option<String>,
    without_keys: bool,
}

/// Lets a server be the registry of one package in version 1.0.0.
fn publish(server: &Server, signer: &SignedSecretKey, shown: &SignedSecretKey, faults: &Faults) {
    let provider = SOURCE.parse::<Provider>().expect("an address");
    let platform = Platform::current();
    let archive = archive(&provider, "program");
    let name = archive_name(&provider, &strict("1.0.0"), &platform);
    let list = format!("{}  {name}\n{}  other_plan9_mips.zip\n", sum(&archive), "0".repeat(64));
    let armor = shown.to_public_key().to_armored_string(ArmorOptions::default()).expect("text");
    let keys = match faults.without_keys {
        true => serde_json::json!([]),
        false => serde_json::json!([{"key_id": "x", "ascii_armor": armor}]),
    };
    let said = serde_json::json!({
        "protocols": ["5.0"],
        "os": platform.system,
        "arch": platform.processor,
        "filename": name,
        "download_url": "/files/archive.zip?secret=1",
        "shasum": faults.sum.clone().unwrap_or_else(|| sum(&archive)),
        "shasums_url": "/files/sums",
        "shasums_signature_url": "/files/sums.sig",
        "signing_keys": {"gpg_public_keys": keys},
    });
    let versions = r#"{"versions":[{"version":"1.0.0","protocols":["5.0"]},{"version":"0.9.0"}],"warnings":["mind the gap"]}"#;
    let text = faults.text.clone().unwrap_or_else(|| list.clone());
    server
        .at("/v1/acme/thing/versions", Reply::json(versions))
        .at(
            &format!("/v1/acme/thing/1.0.0/download/{}/{}", platform.system, platform.processor),
            Reply::json(said.to_string()),
        )
        .at("/files/archive.zip?secret=1", Reply::bytes(archive))
        .at("/files/sums", Reply::bytes(text))
        .at("/files/sums.sig", Reply::bytes(sign(signer, &list)));
}

fn room(server: &Server) -> Room {
    let cli = format!(
        "host \"registry.test\" {{\n  services = {{ \"providers.v1\" = \"http://127.0.0.1:{}/v1/\" }}\n}}\ncredentials \"registry.test\" {{ token = \"hush\" }}\n",
        server.port
    );
    Room::new(&cli).needs(SOURCE, "")
}

#[test]
fn a_signed_package_of_a_registry_is_installed_with_every_checksum() {
    let (server, key) = (Server::plain(), key());
    publish(&server, &key, &key, &Faults::default());
    let room = room(&server);
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding registry.test/acme/thing
        warning registry.test/acme/thing mind the gap
        installing registry.test/acme/thing 1.0.0
        installed registry.test/acme/thing 1.0.0 (signed)
        signed
    "#]],
    );
    let schemes: Vec<String> = room
        .locks()
        .0
        .values()
        .flat_map(|it| &it.hashes)
        .map(|it| it.to_string()[..3].to_owned())
        .collect();
    assert_eq!(schemes, ["h1:", "zh:", "zh:"]);
    let asked = server.asked.lock().clone();
    let with_token: Vec<bool> = asked.iter().map(|it| it.1.as_deref() == Some("hush")).collect();
    assert_eq!(with_token, [true, true, false, false, false], "files are elsewhere: {asked:?}");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        reusing registry.test/acme/thing
        there already registry.test/acme/thing 1.0.0
    "#]],
    );
    assert_eq!(server.paths().len(), 5, "what is locked and installed is not asked for again");
}

#[test]
fn a_download_without_a_length_has_a_limit() {
    let server = Server::plain();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let room = Room::new("");
    let web = Web::new(&room.settings(), &room.world);
    let url = Url::parse(&format!("http://127.0.0.1:{}/a.zip", server.port)).expect("an address");
    let remote = Remote { url, retries: 0, token: None, size: None };
    let load = |length: u64, has_length: bool| {
        let body = vec![0; usize::try_from(length).expect("a length")];
        server.at("/a.zip", Reply { has_length, ..Reply::bytes(body) });
        let mut file = tempfile::tempfile().expect("a file");
        runtime.block_on(web.download(&remote, &mut file)).map_err(|it| it.to_string())
    };
    let told = load(LARGEST_DOWNLOAD + 1, false).expect_err("refused");
    assert!(told.ends_with("sends more than 1 MiB and does not state how much it sends"), "{told}");
    assert_eq!(load(LARGEST_DOWNLOAD, false), Ok(()));
    assert_eq!(load(LARGEST_DOWNLOAD + 1, true), Ok(()));
}

/// A registry for which a helper program gives out the token.
fn helped(server: &Server, script: &str) -> Room {
    use std::os::unix::fs::PermissionsExt;
    let cli = format!(
        "host \"registry.test\" {{\n  services = {{ \"providers.v1\" = \"http://127.0.0.1:{}/v1/\" }}\n}}\ncredentials_helper \"vault\" {{\n  args = [\"--quick\"]\n}}\n",
        server.port
    );
    let room = Room::new(&cli).needs(SOURCE, "");
    let folder = room.path(".terraform.d/plugins");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("terraform-credentials-vault");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, permissions).expect("executable");
    room
}

#[test]
fn a_helper_gives_out_the_token_once() {
    let (server, key) = (Server::plain(), key());
    publish(&server, &key, &key, &Faults::default());
    let room = helped(&server, "echo \"$@\" >> ${0%/*}/asked\necho '{\"token\":\"hush\"}'");
    let told = room.install(Mode::Keep);
    assert!(told.contains("installed registry.test/acme/thing 1.0.0"), "{told}");
    let asked = server.asked.lock().clone();
    assert_eq!(asked[0].1.as_deref(), Some("hush"), "{asked:?}");
    let calls = std::fs::read_to_string(room.path(".terraform.d/plugins/asked"));
    assert_eq!(calls.expect("it was asked"), "--quick get registry.test\n");
}

#[test]
fn a_helper_that_fails_says_why() {
    let (server, key) = (Server::plain(), key());
    publish(&server, &key, &key, &Faults::default());
    let room = helped(&server, "echo the vault is closed >&2\nexit 1");
    let told = room.install(Mode::Keep);
    assert!(told.contains("terraform-credentials-vault: the vault is closed"), "{told}");
}

#[test]
fn a_package_that_is_not_what_was_signed_is_refused() {
    let (key, other) = (key(), key());
    let refused = |signer: &SignedSecretKey, faults: Faults| {
        let server = Server::plain();
        publish(&server, signer, &key, &faults);
        let told = room(&server).install(Mode::Keep);
        assert!(!told.contains("hush") && !told.contains("secret"), "{told}");
        told.lines().last().unwrap_or_default().to_owned()
    };
    check(
        &refused(&other, Faults::default()),
        expect![
            "! Failed to install provider: Error while installing registry.test/acme/thing v1.0.0: the provider is not signed with a valid signing key; please contact the provider author (authentication signature from unknown issuer)"
        ],
    );
    check(
        &refused(&key, Faults { without_keys: true, ..Faults::default() }),
        expect![
            "! Failed to install provider: Error while installing registry.test/acme/thing v1.0.0: the provider is not signed with a valid signing key; please contact the provider author (authentication signature from unknown issuer)"
        ],
    );
    let zeros = "0".repeat(64);
    let told = refused(&key, Faults { sum: Some(zeros.clone()), ..Faults::default() });
    assert!(told.contains("checksum list has unexpected SHA-256 hash"), "{told}");
    let provider = SOURCE.parse::<Provider>().expect("an address");
    let name = archive_name(&provider, &strict("1.0.0"), &Platform::current());
    let text = format!("{zeros}  {name}\n");
    let told =
        refused(&key, Faults { sum: Some(zeros), text: Some(text.clone()), ..Faults::default() });
    assert!(told.contains("archive has incorrect checksum zh:"), "{told}");
    let own = sum(&archive(&provider, "program"));
    let text = format!("{own}  {name}\n{}  more\n", "1".repeat(64));
    let told = refused(&key, Faults { text: Some(text), ..Faults::default() });
    assert!(told.contains("error checking signature: it was not made of this list"), "{told}");
}

#[test]
fn a_registry_that_fails_is_asked_again() {
    let (server, key) = (Server::plain(), key());
    publish(&server, &key, &key, &Faults::default());
    let good = Reply::json(r#"{"versions":[{"version":"1.0.0"}]}"#);
    server.in_turn("/v1/acme/thing/versions", vec![Reply::status(503), good]);
    assert!(room(&server).install(Mode::Keep).contains("(signed)"));
    server.at("/v1/acme/thing/versions", Reply::status(503));
    let told = room(&server).install(Mode::Keep);
    assert!(
        told.contains(
            "could not query provider registry for registry.test/acme/thing: GET http://127.0.0.1:"
        ),
        "{told}"
    );
    assert!(told.contains("/v1/acme/thing/versions giving up after 2 attempt(s): the server answered 503 Service Unavailable"), "{told}");
}

#[test]
fn what_a_registry_does_not_have_or_give_is_told() {
    let server = Server::plain();
    check(
        &room(&server).install(Mode::Keep),
        expect![[r#"
            finding registry.test/acme/thing
            ! Failed to query available provider packages: Could not retrieve the list of available versions for provider registry.test/acme/thing: provider registry registry.test does not have a provider named registry.test/acme/thing

            All modules should specify their required_providers so that external consumers will get the correct providers when using a module. To see which modules are currently depending on registry.test/acme/thing, run the following command:
                entail providers
        "#]],
    );
    server.at("/v1/acme/thing/versions", Reply::status(401));
    check(
        &room(&server).install(Mode::Keep),
        expect![[r#"
        finding registry.test/acme/thing
        ! Failed to resolve provider packages: Could not resolve provider registry.test/acme/thing: host registry.test rejected the given authentication credentials

        Set a token for registry.test in a credentials block of the CLI configuration, or in an environment variable TF_TOKEN_ and the host's name with underscores.
    "#]],
    );
    server.at("/v1/acme/thing/versions", Reply::json(r#"{"versions":[{"version":"1.0.0"}]}"#));
    assert!(room(&server).install(Mode::Keep).contains("! Incompatible provider version: "));
    let platform = Platform::current();
    let path = format!("/v1/acme/thing/1.0.0/download/{}/{}", platform.system, platform.processor);
    server.at(&path, Reply::json(r#"{"protocols":["4.0"],"os":"x","arch":"y","filename":"","download_url":"","shasum":"","shasums_url":"","shasums_signature_url":""}"#));
    assert!(
        room(&server)
            .install(Mode::Keep)
            .contains("No compatible versions of provider registry.test/acme/thing were found.")
    );
    server.at(&path, Reply::json("{"));
    assert!(room(&server).install(Mode::Keep).contains("the answer is not as expected"));
}

/// A server that its host's name leads to, and a room that trusts its certificate.
fn secure(source: &str, cli: &str) -> (Server, Room) {
    let server = Server::secure();
    let port = server.port.to_string();
    let mut room = Room::new(&cli.replace("PORT", &port)).needs(&source.replace("PORT", &port), "");
    let file = room.path("certificate.pem");
    std::fs::write(&file, server.certificate.as_ref().expect("a certificate")).expect("written");
    room.world.environment.insert("SSL_CERT_FILE".into(), file.display().to_string());
    (server, room)
}

#[test]
fn services_of_a_host_are_discovered() {
    let (server, room) = secure("localhost:PORT/acme/thing", "");
    let told = |room: &Room| room.install(Mode::Keep).replace(&server.port.to_string(), "PORT");
    assert!(told(&room).contains("! Invalid provider registry host: The host \"localhost:PORT\" given in provider source address \"localhost:PORT/acme/thing\" does not offer an entail provider registry."));
    server.at("/.well-known/terraform.json", Reply::json(r#"{"providers.v9":"/v9/"}"#));
    assert!(told(&room).contains("compatible with a different entail version"));
    server.at("/.well-known/terraform.json", Reply::json(r#"{"providers.v1":"/v1/"}"#));
    assert!(told(&room).contains("does not have a provider named"));
    assert!(server.paths().contains(&"/v1/acme/thing/versions".to_owned()));
}

#[test]
fn services_that_another_origin_names_get_no_token() {
    let cli = "credentials \"localhost:PORT\" { token = \"hush\" }\n";
    let (server, room) = secure("localhost:PORT/acme/thing", cli);
    let other = Server::secure();
    let both = [&server, &other].map(|it| it.certificate.clone().expect("a certificate"));
    std::fs::write(room.path("certificate.pem"), both.concat()).expect("written");
    let (discovery, list) = ("/.well-known/terraform.json", "/v1/acme/thing/versions");
    let there = format!("https://localhost:{}/services.json", other.port);
    server.at(discovery, Reply::redirect(there)).at(list, Reply::status(401));
    let relative = Reply::json(r#"{"providers.v1":"/v1/"}"#);
    other.at("/services.json", relative).at(list, Reply::status(401));

    let told = room.install(Mode::Keep);
    let expected = format!(
        "the token of localhost:{} is not sent there: its service discovery was redirected to another origin",
        server.port
    );
    assert!(told.contains(&expected), "{told}");
    let asked = |server: &Server| std::mem::take(&mut *server.asked.lock());
    let seen = |path: &str, token: Option<&str>| (path.to_owned(), token.map(str::to_owned));
    assert_eq!(asked(&server), [seen(discovery, Some("hush"))]);
    assert_eq!(asked(&other), [seen("/services.json", None), seen(list, None)]);

    // The host itself may still see its token.
    let back = format!(r#"{{"providers.v1":"https://localhost:{}/v1/"}}"#, server.port);
    other.at("/services.json", Reply::json(back));
    let told = room.install(Mode::Keep);
    assert!(told.contains("rejected the given authentication credentials"), "{told}");
    assert_eq!(asked(&server)[1], seen(list, Some("hush")));
}

#[test]
fn no_token_is_sent_in_clear_text_to_another_machine() {
    let (server, key) = (Server::plain(), key());
    publish(&server, &key, &key, &Faults::default());
    // This address leads here too, and is not a loopback address.
    let cli = format!(
        "host \"registry.test\" {{\n  services = {{ \"providers.v1\" = \"http://0.0.0.0:{}/v1/\" }}\n}}\ncredentials \"registry.test\" {{ token = \"hush\" }}\n",
        server.port
    );
    let told = Room::new(&cli).needs(SOURCE, "").install(Mode::Keep);
    assert!(told.contains("installed registry.test/acme/thing 1.0.0 (signed)"), "{told}");
    assert!(server.asked.lock().iter().all(|it| it.1.is_none()));

    server.at("/v1/acme/thing/versions", Reply::status(401));
    let told = Room::new(&cli).needs(SOURCE, "").install(Mode::Keep);
    let expected = "the token of registry.test is not sent there: the address is not secure: it must be of https";
    assert!(told.contains(expected) && !told.contains("hush"), "{told}");
    assert!(server.asked.lock().iter().all(|it| it.1.is_none()));
}

#[test]
fn a_host_that_cannot_be_reached_or_trusted_is_named() {
    let (_server, mut room) = secure("localhost:PORT/acme/thing", "");
    room.world.environment.remove("SSL_CERT_FILE");
    room.world.environment.insert("TF_REGISTRY_DISCOVERY_RETRY".into(), "1".into());
    let told = room.install(Mode::Keep);
    assert!(
        told.contains("could not connect to localhost:") && told.contains("certificate"),
        "{told}"
    );
}

#[test]
fn as_often_as_the_environment_says_a_host_is_asked_for_its_services() {
    let (server, mut room) = secure("localhost:PORT/acme/thing", "");
    room.world.environment.insert("TF_REGISTRY_DISCOVERY_RETRY".into(), "2".into());
    let discovery = "/.well-known/terraform.json";
    server.at(discovery, Reply::status(503));
    let told = room.install(Mode::Keep);
    assert!(told.contains("giving up after 3 attempt(s): the server answered 503"), "{told}");
    assert_eq!(server.paths(), [discovery; 3]);

    let services = Reply::json(r#"{"providers.v1":"/v1/"}"#);
    server.in_turn(discovery, vec![Reply::status(429), services]);
    assert!(room.install(Mode::Keep).contains("does not have a provider named"));
    assert_eq!(server.paths()[3..], [discovery, discovery, "/v1/acme/thing/versions"]);
}

#[test]
fn a_registry_that_says_nothing_is_given_up() {
    let (server, mut room) = secure("localhost:PORT/acme/thing", "");
    for (name, value) in [("TF_REGISTRY_DISCOVERY_RETRY", "1"), ("TF_REGISTRY_CLIENT_TIMEOUT", "1")]
    {
        room.world.environment.insert(name.into(), value.into());
    }
    server.at("/.well-known/terraform.json", Reply::silence());
    let told = room.install(Mode::Keep);
    assert!(told.contains("giving up after 2 attempt(s)") && told.contains("timed out"), "{told}");
}

#[test]
fn a_network_mirror_serves_what_the_mirror_command_wrote() {
    let (registry, key) = (Server::plain(), key());
    publish(&registry, &key, &key, &Faults::default());
    let from = room(&registry);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let told = Mutex::new(Vec::new());
    let tell = |it: mirror::Progress| told.lock().push(format!("{it:?}"));
    let platforms = [Platform::current()];
    let folder = from.path("mirror");
    let problems = runtime.block_on(mirror::mirror(
        &from.world,
        &Sources::default(),
        &from.required,
        &platforms,
        &folder,
        &tell,
    ));
    assert!(problems.is_empty(), "{problems:?}");
    let mode = |name: &str| {
        use std::os::unix::fs::PermissionsExt;
        let file = folder.join("registry.test/acme/thing").join(name);
        std::fs::metadata(file).expect("it is there").permissions().mode()
    };
    let archive = format!("terraform-provider-thing_1.0.0_{}.zip", platforms[0]);
    assert_eq!(mode(&archive), mode("index.json"), "whoever reads the one may read the other");
    let last = told.lock().last().cloned().unwrap_or_default();
    assert!(
        last.starts_with("Authenticated(Package { provider: ") && last.ends_with(", \"signed\")"),
        "{last}"
    );

    let cli = "provider_installation {\n  network_mirror { url = \"https://localhost:PORT/plugins/\" }\n}\n";
    let (server, room) = secure(SOURCE, cli);
    let place = folder.join("registry.test/acme/thing");
    for file in std::fs::read_dir(&place).expect("a folder").flatten() {
        let name = file.file_name().into_string().expect("text");
        let bytes = std::fs::read(file.path()).expect("readable");
        let reply = match name.ends_with(".json") {
            true => Reply::json(String::from_utf8(bytes).expect("text")),
            false => Reply::bytes(bytes),
        };
        server.at(&format!("/plugins/registry.test/acme/thing/{name}"), reply);
    }
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding registry.test/acme/thing
        installing registry.test/acme/thing 1.0.0
        installed registry.test/acme/thing 1.0.0 (verified checksum)
        incomplete: registry.test/acme/thing
    "#]],
    );
    server.at(
        &format!(
            "/plugins/registry.test/acme/thing/{}",
            archive_name(
                &SOURCE.parse::<Provider>().expect("an address"),
                &strict("1.0.0"),
                &platforms[0]
            )
        ),
        Reply::bytes("nonsense"),
    );
    std::fs::remove_dir_all(room.path("work/.terraform")).expect("removed");
    let told = room.install(Mode::Keep);
    assert!(told.contains("provider package doesn't match the expected checksum"), "{told}");
}

#[test]
fn a_mirror_must_be_secure() {
    let room =
        Room::new("provider_installation {\n  network_mirror { url = \"http://localhost/\" }\n}\n");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        Invalid URL for provider installation source: Cannot use "http://localhost/" as a URL for a network provider mirror: the mirror must be at an https: URL.
    "#]],
    );
}

const MIRROR: &str =
    "provider_installation {\n  network_mirror { url = \"https://localhost:PORT/plugins/\" }\n}\n";

#[test]
fn a_mirror_gets_the_token_of_its_host_and_port_alone() {
    for (host, token) in [("localhost:PORT", Some("hush")), ("localhost", None)] {
        let cli = format!("credentials \"{host}\" {{ token = \"hush\" }}\n{MIRROR}");
        let (server, room) = secure(SOURCE, &cli);
        server.at("/plugins/registry.test/acme/thing/index.json", Reply::status(401));
        let told = room.install(Mode::Keep);
        assert_eq!(server.asked.lock()[0].1.as_deref(), token, "{host}");
        assert!(told.contains(&format!("host localhost:{} re", server.port)), "{told}");
    }
}

#[test]
fn an_archive_without_a_checksum_comes_from_a_secure_address() {
    let other = Server::plain();
    let provider = SOURCE.parse::<Provider>().expect("an address");
    other.at("/a.zip", Reply::bytes(archive(&provider, "program")));
    let here = format!("http://127.0.0.1:{}/a.zip", other.port);
    for (address, expected) in [
        ("http://mirror.test/a.zip", "without a checksum, and its address is not secure"),
        ("ftp://mirror.test/a.zip", "the scheme \"ftp\", which must be http or https"),
        (here.as_str(), "installed registry.test/acme/thing 1.0.0"),
    ] {
        let (server, room) = secure(SOURCE, MIRROR);
        let at = "/plugins/registry.test/acme/thing";
        let archives =
            serde_json::json!({"archives": {(Platform::current().to_string()): {"url": address}}});
        server
            .at(&format!("{at}/index.json"), Reply::json(r#"{"versions":{"1.0.0":{}}}"#))
            .at(&format!("{at}/1.0.0.json"), Reply::json(archives.to_string()));
        let told = room.install(Mode::Keep);
        assert!(told.contains(expected), "{address}: {told}");
    }
}

#[test]
fn checksums_can_be_added_from_the_registry_afterwards() {
    let (server, key) = (Server::plain(), key());
    publish(&server, &key, &key, &Faults::default());
    let room = room(&server);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let run = |choices: locking::Choices| {
        runtime.block_on(locking::lock(
            &room.world,
            &Sources::default(),
            &room.required,
            &choices,
            &|_| {},
        ))
    };
    assert!(run(locking::Choices::default()).expect("locked").0, "a new provider");
    assert_eq!(room.locks().0.values().map(|it| it.hashes.len()).sum::<usize>(), 3);
    assert!(!run(locking::Choices::default()).expect("locked").0, "nothing new");
    assert!(!room.path("work/.terraform").exists(), "nothing is installed");
    let failed = run(locking::Choices {
        platforms: vec!["plan9_mips".into(), "x".into()],
        ..Default::default()
    });
    assert_eq!(failed.expect_err("refused").0[0].summary, "Invalid target platform");
    let failed =
        run(locking::Choices { platforms: vec!["plan9_mips".into()], ..Default::default() });
    assert_eq!(
        failed.expect_err("refused").0[0].summary,
        "Could not retrieve providers for locking"
    );
    let failed =
        run(locking::Choices { providers: vec!["acme/other".into()], ..Default::default() });
    assert_eq!(failed.expect_err("refused").0[0].summary, "Invalid provider argument");
}
