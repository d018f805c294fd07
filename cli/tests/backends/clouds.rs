//! Hosts that describe a cloud of Azure: a description is used only if it leads to hosts over https, and before that no secret is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::azurerm::folder;
use crate::services::azure::{Azure, LOGIN, METADATA, STORAGE, SUFFIX, cloud};
use crate::services::http::{Reply, serve};

/// A block with a secret that goes to the host that gives out tokens.
const BLOCK: &str = r#"
terraform {
  backend "azurerm" {
    storage_account_name = "acc"
    container_name       = "states"
    key                  = "cloud"
    tenant_id            = "t"
    client_id            = "c"
    client_secret        = "hidden-secret"
    use_azuread_auth     = true
    metadata_host        = "metadata.test"
  }
}
"#;

const MANAGER: &str = "https://manager.test/";

#[test]
fn a_secret_goes_where_the_description_of_the_cloud_leads() {
    let azure = Azure::start();
    let folder = folder(&azure, BLOCK);
    folder.init().apply("first");
    assert!(azure.text("cloud").contains("first"), "it is stored");
    let asked = azure.hosts.take_asked();
    for host in [METADATA, LOGIN, STORAGE] {
        assert!(asked.iter().any(|it| it == host), "{host}: {asked:?}");
    }
    assert!(asked.iter().all(|it| [METADATA, LOGIN, STORAGE].contains(&it.as_str())), "{asked:?}");
}

#[test]
fn a_description_that_leads_elsewhere_is_refused_before_a_secret_is_sent() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let port = serve(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Reply::new(200, "{\"access_token\": \"proof\", \"expires_in\": 3600}")
    });
    let (open, login) = (format!("http://127.0.0.1:{port}/"), format!("https://{LOGIN}/"));
    let page = "<!DOCTYPE html>\n<title>Log in</title>";
    let headers = vec![("Location", "https://elsewhere.test/".to_owned())];
    let no_host = "or a suffix that is not a host name";
    let not_secure = "names an address without https";
    let no_login = "names no login address";
    let answers = [
        (Reply::new(200, page), "is not JSON"),
        (Reply::new(200, ""), "is not JSON"),
        (Reply::new(200, "{}"), "names no storage or no audience"),
        (Reply::new(503, ""), "status 503"),
        (Reply { status: 302, headers, body: Vec::new() }, "status 302"),
        (cloud("cloud.test/path", &*login, MANAGER), no_host),
        (cloud("cloud.test:8443", &*login, MANAGER), no_host),
        (cloud("cloud.test?a=", &*login, MANAGER), no_host),
        (cloud("cloud.test#", &*login, MANAGER), no_host),
        (cloud("user@cloud.test", &*login, MANAGER), no_host),
        (cloud(SUFFIX, &*open, MANAGER), not_secure),
        (cloud(SUFFIX, LOGIN, MANAGER), not_secure),
        (cloud(SUFFIX, &*login, &open), not_secure),
        // A client without one would log in to the public cloud.
        (cloud(SUFFIX, Value::Null, MANAGER), no_login),
        (cloud(SUFFIX, 7, MANAGER), no_login),
        (cloud(SUFFIX, "", MANAGER), not_secure),
    ];
    let azure = Azure::start();
    for (answer, told) in answers {
        azure.account().cloud = answer;
        let text = folder(&azure, BLOCK).run("init -input=false").refuses(told);
        let said =
            "the metadata host \"metadata.test\" does not say where the services of its cloud are";
        assert!(text.contains(said) && !text.contains("hidden"), "{text}");
        let asked = azure.hosts.take_asked();
        assert!(asked.iter().all(|it| it == METADATA), "{told}: {asked:?}");
    }
    assert_eq!(count.load(Ordering::Relaxed), 0, "no secret is sent in clear text");
}
