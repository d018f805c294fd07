//! Answers that Azure Blob Storage never gives: no state counts as stored, absent, listed or deleted because of one.

use crate::folder::{Folder, Service, answer};
use crate::lists::{CIRCLES, ENDLESS};
use crate::services::azure::{Azure, Blob, METADATA, STORAGE, Strange};

const PAGE: &str = "<!DOCTYPE html>\n<title>Log in</title>";

/// The header that says what stands for a blob.
const TAG: &[(&str, &str)] = &[("ETag", "\"0x8D\"")];

/// What a run says of a status that Azure explains.
const NO_REASON: &str = "status 404 without a reason";

const PUT: Strange =
    Strange { method: "PUT", comp: "", is_done: false, status: 201, headers: &[], body: None };
const GET: Strange = Strange { method: "GET", is_done: true, status: 200, ..PUT };
const LIST: Strange = Strange { comp: "list", ..GET };
const DELETE: Strange = Strange { method: "DELETE", status: 200, ..PUT };

/// Returns a backend block for the blob `key`.
fn block(key: &str) -> String {
    let arguments = format!(
        "storage_account_name = \"acc\"\ncontainer_name = \"states\"\nkey = \"PLACE\"\n\
         access_key = \"dmVyeS1zZWNyZXQ=\"\nmetadata_host = \"{METADATA}\""
    );
    Service::new("azurerm", arguments).block(key)
}

/// Returns a working directory that reaches the hosts of a cloud.
pub fn folder(azure: &Azure, block: &str) -> Folder {
    let folder = Folder::new(block);
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, &azure.hosts.certificate).expect("the folder takes files");
    let proxy = format!("http://127.0.0.1:{}", azure.hosts.port);
    folder.with("HTTPS_PROXY", proxy).with("SSL_CERT_FILE", authority.display().to_string())
}

#[test]
fn a_state_is_kept_under_a_lease() {
    let azure = Azure::start();
    let (one, other) = (folder(&azure, &block("kept")), folder(&azure, &block("kept")));
    one.init().apply("first");
    other.init();
    assert_eq!(other.output(), "first");
    let holder = one.hold();
    other.run("apply -auto-approve -input=false").refuses("Error acquiring the state lock");
    answer(holder, "yes").ok();
    assert_eq!(other.output(), "held");
}

#[test]
fn a_write_counts_only_with_status_201_and_a_tag() {
    let answers = [
        (Strange { status: 200, headers: TAG, ..PUT }, "status 200 in place of 201"),
        (Strange { status: 202, headers: TAG, ..PUT }, "status 202 in place of 201"),
        (Strange { status: 200, ..PUT }, "status 200 in place of 201"),
        (Strange { status: 202, ..PUT }, "status 202 in place of 201"),
        (PUT, "no ETag"),
        (Strange { headers: &[("ETag", "")], ..PUT }, "no ETag"),
        (Strange { status: 200, headers: TAG, body: Some(PAGE), ..PUT }, "page for people"),
        (Strange { headers: TAG, body: Some(PAGE), ..PUT }, "page for people"),
    ];
    let azure = Azure::start();
    let folder = folder(&azure, &block("written"));
    folder.init().apply("first");
    for (number, (answer, why)) in answers.into_iter().enumerate() {
        let value = format!("n{number}");
        azure.set(Some(answer));
        let applied = folder.run(&format!("apply -auto-approve -input=false -var v={value}"));
        azure.set(None);
        let told = applied.refuses("Failed to save state");
        assert!(told.contains(why), "{told}");
        assert!(!azure.text("written").contains(&value), "nothing was stored");
        // What was done is kept here, and taken up by the next run.
        folder.apply(&value);
        assert_eq!(folder.output(), value);
        assert!(azure.text("written").contains(&value), "{value} is stored");
    }
}

#[test]
fn a_first_write_counts_only_with_status_201_and_a_tag() {
    let answers = [
        Strange { status: 200, headers: TAG, ..PUT },
        Strange { status: 202, headers: TAG, ..PUT },
        PUT,
        Strange { status: 200, body: Some(PAGE), ..PUT },
    ];
    let azure = Azure::start();
    for (number, answer) in answers.into_iter().enumerate() {
        let key = format!("first-{number}");
        let folder = folder(&azure, &block(&key));
        azure.set(Some(answer));
        let set_up = folder.run("init -input=false");
        azure.set(None);
        set_up.refuses("Failed to save state");
        folder.init().apply("first");
        assert!(azure.text(&key).contains("first"), "{key}");
    }
}

#[test]
fn a_write_that_was_done_counts_although_its_answer_does_not_say_so() {
    let answers =
        [Strange { status: 200, ..PUT }, Strange { status: 202, headers: TAG, ..PUT }, PUT];
    let azure = Azure::start();
    let folder = folder(&azure, &block("done"));
    folder.init().apply("first");
    for (number, answer) in answers.into_iter().enumerate() {
        let value = format!("n{number}");
        azure.set(Some(Strange { is_done: true, ..answer }));
        folder.apply(&value);
        azure.set(None);
        assert_eq!(folder.output(), value);
        assert!(!folder.path().join("errored.tfstate").exists(), "{value}");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_neither_absent_nor_overwritten() {
    let answers = [
        (GET, "no ETag"),
        (Strange { headers: TAG, body: Some(PAGE), ..GET }, "page for people"),
        (Strange { body: Some(PAGE), ..GET }, "page for people"),
        (Strange { headers: TAG, body: Some(""), ..GET }, "The state is gone"),
        (Strange { headers: TAG, body: Some("{}"), ..GET }, "Error: "),
        (
            Strange { status: 206, headers: TAG, body: Some("{\"version\": 4, \"se"), ..GET },
            "Error: ",
        ),
        (Strange { status: 404, body: Some(PAGE), ..GET }, "page for people"),
        (Strange { status: 404, body: Some(""), ..GET }, NO_REASON),
        (Strange { status: 404, body: Some("not here"), ..GET }, NO_REASON),
        (Strange { status: 404, body: Some("<Error/>"), ..GET }, NO_REASON),
        (
            Strange { status: 404, headers: &[("x-ms-error-code", "BlobNotFound")], ..GET },
            "The state is gone",
        ),
        (
            Strange { status: 404, body: Some("<Error><Code>BlobNotFound</Code></Error>"), ..GET },
            "The state is gone",
        ),
        (
            Strange { status: 404, headers: &[("x-ms-error-code", "ContainerNotFound")], ..GET },
            "must be made in the storage account",
        ),
        (
            Strange {
                status: 302,
                headers: &[("Location", "https://elsewhere.test/")],
                body: Some(""),
                ..GET
            },
            "sends requests on to https://elsewhere.test/",
        ),
    ];
    let azure = Azure::start();
    let folder = folder(&azure, &block("read"));
    folder.init().apply("first");
    let before = azure.text("read");
    for (answer, told) in answers {
        azure.set(Some(answer));
        for command in ["plan -lock=false", "apply -auto-approve -var v=second"] {
            folder.run(&format!("{command} -input=false")).refuses(told);
        }
        azure.set(None);
        assert_eq!(azure.text("read"), before, "{told}");
    }
    assert_eq!(folder.output(), "first");
    let others = azure.hosts.take_asked().into_iter();
    let others: Vec<String> = others.filter(|it| it != METADATA && it != STORAGE).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn an_answer_without_a_reason_is_not_taken_for_no_state() {
    let azure = Azure::start();
    folder(&azure, &block("there")).init().apply("first");
    for (body, told) in [(PAGE, "page for people"), ("", NO_REASON), ("not here", NO_REASON)] {
        let fresh = folder(&azure, &block("there"));
        azure.set(Some(Strange { status: 404, body: Some(body), ..GET }));
        fresh.run("init -input=false").refuses(told);
        azure.set(None);
        assert!(azure.text("there").contains("first"), "{body}");
    }
}

#[test]
fn a_tag_that_is_not_the_one_of_the_blob_lets_nothing_be_overwritten() {
    let azure = Azure::start();
    let folder = folder(&azure, &block("tagged"));
    folder.init().apply("first");
    let before = azure.text("tagged");
    azure.set(Some(Strange { headers: TAG, ..GET }));
    let command = "apply -auto-approve -input=false -var v=second";
    folder.run(command).refuses("ConditionNotMet");
    azure.set(None);
    assert_eq!(azure.text("tagged"), before);
    folder.apply("second");
    assert_eq!(folder.output(), "second");
}

#[test]
fn an_answer_that_is_no_list_does_not_count_as_an_empty_one() {
    let again = "<EnumerationResults><Blobs><Blob><Name>listedenv:a</Name></Blob></Blobs>\
                 <NextMarker>again</NextMarker></EnumerationResults>";
    let no_list = "gives a list that is none of Azure's";
    let answers = [
        (PAGE, "page for people"),
        ("", no_list),
        ("<EnumerationResults/>", no_list),
        ("<Error><Code>InternalError</Code></Error>", no_list),
        (again, ENDLESS),
    ];
    let azure = Azure::start();
    let folder = folder(&azure, &block("listed"));
    folder.init();
    for (body, told) in answers {
        azure.set(Some(Strange { body: Some(body), ..LIST }));
        folder.run("workspace list").refuses(told);
        azure.set(None);
    }
}

#[test]
fn a_list_that_leads_back_to_an_earlier_page_is_an_error() {
    let azure = Azure::start();
    let folder = folder(&azure, &block("circle"));
    folder.init();
    for markers in CIRCLES {
        azure.account().markers = markers;
        folder.run("workspace list").refuses(ENDLESS);
    }
}

#[test]
fn a_list_goes_on_page_by_page() {
    let azure = Azure::start();
    let folder = folder(&azure, &block("paged"));
    folder.init();
    for name in ["a", "b", "c", "two\nlines", "e"] {
        azure.account().blobs.insert(format!("pagedenv:{name}"), Blob::default());
    }
    // A name with a newline would read as two.
    let expected = "* default\n  a\n  b\n  c\n  e\n\n";
    for page in [1, 2, 3, 5, 1000] {
        azure.account().page = page;
        assert_eq!(folder.run("workspace list").ok(), expected, "{page}");
    }
}

#[test]
fn a_workspace_is_deleted_only_with_status_202() {
    let answers = [
        (DELETE, "status 200 in place of 202"),
        (Strange { body: Some(PAGE), ..DELETE }, "page for people"),
        (Strange { status: 204, ..DELETE }, "status 204 in place of 202"),
        (Strange { status: 302, ..DELETE }, "sends requests on"),
        (Strange { status: 404, ..DELETE }, NO_REASON),
        (Strange { status: 404, body: Some(PAGE), ..DELETE }, "page for people"),
        (
            Strange { status: 404, headers: &[("x-ms-error-code", "ContainerNotFound")], ..DELETE },
            "must be made in the storage account",
        ),
    ];
    let azure = Azure::start();
    let folder = folder(&azure, &block("deleted"));
    folder.init().run("workspace new other").ok();
    folder.apply("first").run("workspace select default").ok();
    let before = azure.text("deletedenv:other");
    for (answer, why) in answers {
        azure.set(Some(answer));
        let deleted = folder.run("workspace delete -force other");
        let told = deleted.refuses("Workspace deletion failed");
        assert!(told.contains(why), "{told}");
        azure.set(None);
        assert_eq!(azure.text("deletedenv:other"), before);
    }
    folder.run("workspace delete -force other").ok();
    assert_eq!(azure.text("deletedenv:other"), "");
}
