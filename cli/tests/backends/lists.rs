//! Lists in pages: one that leads back to an earlier page, or is none, ends with an error. `azurerm.rs` has those of Azure.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::folder::{Folder, Service};
use crate::services::http::{Reply, serve};

/// How many pages lead on. A client that asks for more gets the last one, so that its test ends.
const MOST: usize = 100;

/// Markers that lead back.
pub const CIRCLES: [&[&str]; 3] = [&["a"], &["a", "b"], &["a", "b", "c"]];

/// What a run says of a list that would never end.
pub const ENDLESS: &str = "gives a list whose pages lead back to earlier ones";

fn s3(port: u16) -> Service {
    let arguments = format!(
        "bucket = \"states\"\nkey = \"PLACE\"\nregion = \"us-east-1\"\naccess_key = \"a\"\nsecret_key = \"b\"\n\
         use_path_style = true\nskip_credentials_validation = true\nskip_requesting_account_id = true\n\
         endpoints = {{ s3 = \"http://127.0.0.1:{port}\" }}"
    );
    Service::new("s3", arguments)
}

fn gcs(port: u16) -> Service {
    let arguments = format!(
        "bucket = \"states\"\nprefix = \"PLACE\"\naccess_token = \"a\"\n\
         storage_custom_endpoint = \"http://127.0.0.1:{port}/storage/v1/\""
    );
    Service::new("gcs", arguments)
}

/// Returns a page of S3 with the state of one workspace.
fn page_of_s3(marker: &str) -> Reply {
    let body = format!(
        "<ListBucketResult><Contents><Key>env:/after-{marker}/listed</Key></Contents>\
         <NextContinuationToken>{marker}</NextContinuationToken></ListBucketResult>"
    );
    let headers = vec![("Content-Type", "application/xml".to_owned())];
    Reply { status: 200, headers, body: body.into_bytes() }
}

/// Returns a page of Google Cloud Storage without objects.
fn page_of_gcs(marker: &str) -> Reply {
    Reply::json(200, &json!({ "kind": "storage#objects", "nextPageToken": marker }))
}

/// Serves a list whose pages name these markers in turn, again and again. There are no objects. Returns its port.
fn circle(page: fn(&str) -> Reply, markers: &'static [&'static str]) -> u16 {
    let asked = AtomicUsize::new(0);
    serve(move |request| {
        if request.path.ends_with("/listed") {
            let body = b"<Error><Code>NoSuchKey</Code></Error>".to_vec();
            return Reply { status: 404, headers: Vec::new(), body };
        }
        let number = asked.fetch_add(1, Ordering::Relaxed);
        page(if number < MOST { markers[number % markers.len()] } else { "" })
    })
}

#[test]
fn a_list_that_leads_back_to_an_earlier_page_is_an_error() {
    for markers in CIRCLES {
        for service in [s3(circle(page_of_s3, markers)), gcs(circle(page_of_gcs, markers))] {
            let folder = Folder::new(&service.block("listed"));
            folder.run("init -input=false").refuses(ENDLESS);
        }
    }
}

#[test]
fn a_list_goes_on_until_a_page_names_no_other() {
    let folder = Folder::new(&s3(circle(page_of_s3, &["a", "b", ""])).block("listed"));
    // The third page is the last one of each list.
    let listed = folder.init().run("workspace list").ok();
    assert_eq!(listed, "* default\n  after-\n  after-a\n  after-b\n\n");
}

#[test]
fn a_document_that_is_no_list_is_not_taken_for_an_empty_one() {
    for body in ["{}", "[]", "null", r#"{"items": 7}"#, r#"{"kind": "storage#buckets"}"#] {
        let folder = Folder::new(&gcs(serve(move |_| Reply::new(200, body))).block("listed"));
        let told = folder.run("init -input=false");
        told.refuses("does not answer as Google Cloud Storage does");
    }
}
