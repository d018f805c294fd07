//! Modules from a registry of container images that the test starts.

use super::*;
use crate::install::tests::server::{Reply, Server as Registry};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

fn digest(bytes: &[u8]) -> String {
    use sha2::Digest;
    let sum = sha2::Sha256::digest(bytes);
    format!("sha256:{}", sum.iter().map(|it| format!("{it:02x}")).collect::<String>())
}

fn manifest(layers: &str) -> String {
    format!(
        r#"{{"mediaType":"{IMAGE}","artifactType":"application/vnd.opentofu.modulepkg","layers":[{layers}]}}"#
    )
}

fn layer(digest: &str) -> String {
    format!(r#"{{"mediaType":"archive/zip","digest":"{digest}"}}"#)
}

/// A registry with one module, the manifest's digest, and a folder to work in.
fn registry() -> (Registry, String, Folder) {
    let registry = Registry::secure();
    let archive = zip(&[("main.tf", "# image"), ("in/main.tf", "# in")]);
    let blob = digest(&archive);
    let manifest = manifest(&layer(&blob));
    let reference = digest(manifest.as_bytes());
    let at = "/v2/acme/net";
    for name in ["latest", "1.0.0", &reference] {
        registry.at(&format!("{at}/manifests/{name}"), Reply::json(manifest.clone()));
    }
    registry.at(&format!("{at}/blobs/{blob}"), Reply::bytes(archive));
    let mut folder = Folder::new();
    let file = folder.path("certificate.pem");
    std::fs::write(&file, registry.certificate.as_ref().expect("a certificate")).expect("written");
    folder.environment.insert("SSL_CERT_FILE".into(), file.display().to_string());
    (registry, reference, folder)
}

fn call(name: &str, source: &str) -> String {
    format!("module {name:?} {{\n  source = {source:?}\n}}\n")
}

#[test]
fn a_package_is_had_by_tag_and_by_digest() {
    let (registry, reference, folder) = registry();
    let at = format!("oci://localhost:{}/acme/net", registry.port);
    let config = [
        call("digest", &format!("{at}?digest={reference}")),
        call("latest", &at),
        call("tag", &format!("{at}//in?tag=1.0.0")),
    ];
    let text = folder.text(&config.concat()).replace(&registry.port.to_string(), "PORT");
    expect![[r#"
        downloading oci://localhost:PORT/acme/net?digest=DIGEST for digest
        digest in .terraform/modules/digest
        downloading oci://localhost:PORT/acme/net for latest
        latest in .terraform/modules/latest
        downloading oci://localhost:PORT/acme/net?tag=1.0.0 for tag
        tag in .terraform/modules/tag/in
        digest <oci://localhost:PORT/acme/net?digest=DIGEST> : # image
        latest <oci://localhost:PORT/acme/net> : # image
        tag <oci://localhost:PORT/acme/net//in?tag=1.0.0> : # in
    "#]]
    .assert_eq(&text.replace(&reference, "DIGEST"));
}

#[test]
fn a_closed_registry_is_opened_with_the_credentials_for_images() {
    let (registry, _, mut folder) = registry();
    let challenge = "Basic realm=\"images\"";
    let open = Reply::json(manifest(&layer(&digest(&zip(&[
        ("main.tf", "# image"),
        ("in/main.tf", "# in"),
    ])))));
    registry.in_turn("/v2/acme/net/manifests/latest", vec![Reply::challenge(challenge), open]);
    let password = Token::new("password");
    let login = crate::install::settings::logins::Login::Password("user".into(), password);
    let host = format!("localhost:{}", registry.port);
    folder.settings.logins.prefixes.insert(host.clone(), login);
    let text = folder.text(&call("m", &format!("oci://{host}/acme/net")));
    assert!(text.contains("# image"), "{text}");
    let shown: Vec<_> = registry.asked.lock().iter().map(|it| it.1.clone()).collect();
    let basic = Some("Basic dXNlcjpwYXNzd29yZA==".to_owned());
    assert_eq!(shown, [None, basic.clone(), basic]);
}

#[test]
fn what_a_registry_has_instead_of_a_module_is_told() {
    let (registry, reference, folder) = registry();
    let blob = digest(b"other");
    let index = "application/vnd.oci.image.index.v1+json";
    let broken = digest(b"no archive");
    let page = Reply { kind: "text/html", ..Reply::bytes("<html>Welcome</html>") };
    let at = |tag: &str, reply: Reply| {
        registry.at(&format!("/v2/acme/net/manifests/{tag}"), reply);
    };
    at("none", Reply::json(manifest("")));
    at("two", Reply::json(manifest(&format!("{},{}", layer(&blob), layer(&blob)))));
    at("index", Reply::json(format!(r#"{{"mediaType":"{index}","manifests":[]}}"#)));
    at("image", Reply::json(format!(r#"{{"mediaType":"{IMAGE}","artifactType":"x"}}"#)));
    at("page", page);
    at("text", Reply::bytes("nonsense"));
    at("md5", Reply::json(manifest(&layer("md5:00"))));
    at("gone", Reply::json(manifest(&layer(&blob))));
    at("broken", Reply::json(manifest(&layer(&broken))));
    at("other", Reply::json(manifest(&layer(&digest(b"something")))));
    let sized = layer(&digest(b"something")).replace('}', r#","size":3}"#);
    at("size", Reply::json(manifest(&sized)));
    at("closed", Reply::status(401));
    at(&digest(b"x"), Reply::json(manifest("")));
    registry.at(&format!("/v2/acme/net/blobs/{broken}"), Reply::bytes("no archive"));
    registry.at(&format!("/v2/acme/net/blobs/{}", digest(b"something")), Reply::bytes("changed"));
    for (query, expected) in [
        ("tag=none", "the image has no layer of type \"archive/zip\""),
        ("tag=two", "more than one layer"),
        ("tag=index", "an index of several images"),
        ("tag=image", "its artifact type is \"x\""),
        ("tag=page", "a page for people (HTML)"),
        ("tag=text", "invalid manifest content"),
        ("tag=md5", "none that can be checked"),
        ("tag=missing", "resolving \"missing\": 404 Not Found"),
        ("tag=gone", "404 Not Found"),
        ("tag=broken", "the archive is damaged"),
        ("tag=other", "the registry gave something else than the manifest names"),
        ("tag=size", "has more than the 3 bytes that the manifest states"),
        ("tag=closed", "requires authentication credentials: log in to localhost"),
        ("digest=sha256:", "is no digest"),
        ("ref=v1", "there is no argument \"ref\""),
    ] {
        let source = format!("oci://localhost:{}/acme/net?{query}", registry.port);
        let text = folder.text(&call("m", &source));
        assert!(text.contains(expected), "{query}: {text}");
    }
    let source = format!("oci://localhost:{}/acme/net?digest={}", registry.port, digest(b"x"));
    let text = folder.text(&call("m", &source));
    assert!(text.contains("manifest content does not match digest"), "{text}");
    assert_ne!(reference, digest(b"x"));
}
