//! Addresses where something else listens: told for what it is, whatever the service.

use crate::folder::{Folder, Service, consul_at, http, kubernetes_at};
use crate::services::http::{Reply, serve};

/// Services whose address leads to a page for people.
fn pages(kind: &'static str) -> [Service; 3] {
    let page = || {
        serve(move |_| Reply {
            status: 200,
            headers: vec![("Content-Type", kind.to_owned())],
            body: b"<!DOCTYPE html>\n<title>Log in</title>".to_vec(),
        })
    };
    [consul_at(page()), kubernetes_at(page()), http(page())]
}

#[test]
fn a_page_for_people_is_told_for_what_it_is() {
    for service in pages("text/html; charset=utf-8") {
        let folder = Folder::new(&service.block("page"));
        let init = folder.run("init -input=false");
        // A server of states is not asked before its state is wanted.
        let told = match init.code {
            Some(0) => folder.run("plan -lock=false"),
            _ => init,
        };
        let told = told.fails("Error: ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("page"), "{}: {told}", service.kind);
        assert!(told.contains("check the address"), "{}: {told}", service.kind);
    }
}
