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

/// A registry that has one version, and a room whose plugins come from there.
fn registry(content: &str) -> (Server, Room) {
    let server = Server::secure();
    let provider = "example.com/acme/thing".parse::<Provider>().expect("an address");
    let archive = archive(&provider, "program");
    let layer = digest(&archive);
    let manifest = format!(
        r#"{{"mediaType":"{MANIFEST}","artifactType":"application/vnd.opentofu.provider-target","layers":[{{"mediaType":"archive/zip","digest":"{layer}"}}]}}"#
    );
    let reference = digest(manifest.as_bytes());
    let Platform { system, processor } = Platform::current();
    let index = format!(
        r#"{{"mediaType":"{INDEX}","artifactType":"application/vnd.opentofu.provider","manifests":[{{"mediaType":"{MANIFEST}","artifactType":"application/vnd.opentofu.provider-target","digest":"{reference}","platform":{{"os":"{system}","architecture":"{processor}"}}}}]}}"#
    );
    let at = "/v2/acme/thing";
    server
        .at(&format!("{at}/tags/list"), Reply::json(r#"{"tags":["1.0.0","1.1.0_build","latest"]}"#))
        .at(&format!("{at}/manifests/1.1.0_build"), Reply::json(index))
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
fn what_a_registry_of_images_lacks_is_told() {
    let (server, mut room) = registry("");
    room.required.0.clear();
    let mut room = room.needs("example.com/acme/other", "");
    assert!(room.install(Mode::Keep).contains("was not found in any of the search locations"));
    server.at("/v2/acme/other/tags/list", Reply::status(401));
    room = room.needs("example.com/acme/other", "");
    assert!(room.install(Mode::Keep).contains("requires authentication credentials"));
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
        let (_, problems) = Origins::of(&room.settings(), &room.world);
        let told: Vec<String> = problems.iter().map(|it| it.to_string()).collect();
        assert!(told.concat().contains(expected), "{template}: {told:?}");
    }
}
