//! From the first message to the last, and what a server must bear.

use serde_json::{Value as Json, json};

use super::client::{Client, framed};

#[test]
fn a_conversation_has_a_beginning_and_an_end() {
    let mut client = Client::begun(&[("main.tf", "")]);
    let early = client.ask_whole("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    let answer = client
        .initialize(json!({ "processId": null, "rootUri": client.uri(""), "capabilities": {} }));
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(answer["serverInfo"]["name"], "entail");
    let again = client.ask_whole("initialize", json!({ "capabilities": {} }));
    assert_eq!(again["error"]["code"], -32600, "{again}");
    let unknown = client.ask_whole("entail/nothing", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn one_who_leaves_without_a_word_is_noticed() {
    let client = Client::new(&[("main.tf", "")]);
    assert_eq!(client.leave(), Some(1));
}

#[test]
fn what_is_no_message_ends_nothing() {
    let mut client = Client::new(&[("main.tf", "locals {\n  a = 1\n}\n")]);
    client.send_raw(&framed("{\"jsonrpc\": \"2.0\", \"id\": 7, "));
    assert_eq!(client.answer(&Json::Null)["error"]["code"], -32700);
    client.send_raw(&framed("[1, 2]"));
    assert_eq!(client.answer(&Json::Null)["error"]["code"], -32600);
    client.send_raw("no header at all\r\n\r\n");
    assert_eq!(client.answer(&Json::Null)["error"]["code"], -32700);
    client.tell("textDocument/didChange", json!({ "nonsense": true }));
    client.tell("$/unknown", json!(3));
    let wrong = client.ask_whole("textDocument/hover", json!({ "position": "here" }));
    assert_eq!(wrong["error"]["code"], -32602);
    let missing = json!({ "textDocument": { "uri": "file:///no/such/file.tf" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.ask_whole("textDocument/definition", missing)["error"]["code"], -32602);
    client.open("main.tf");
    let symbols = client.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": client.uri("main.tf") } }),
    );
    assert_eq!(symbols[0]["name"], "locals");
}

#[test]
fn a_position_that_is_not_there_is_the_nearest_one() {
    let mut client = Client::new(&[("main.tf", "locals {\n  a = 1\n}\n")]);
    client.open("main.tf");
    let far = json!({ "line": 4_000_000, "character": 4_000_000 });
    let uri = client.uri("main.tf");
    let change = json!({ "range": { "start": far, "end": { "line": 0, "character": 0 } }, "text": "output \"b\" {\n  value = local.a\n}\n" });
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [change] }),
    );
    let symbols =
        client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    let names: Vec<_> =
        symbols.as_array().expect("symbols").iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["locals", "output \"b\""]);
}

#[test]
fn what_is_taken_back_is_answered_so() {
    // The text takes a while to read; what is asked and taken back meanwhile waits behind it.
    let block = "resource \"terraform_data\" \"a\" {\n  input = [1, 2, 3]\n}\n";
    let mut client = Client::new(&[("main.tf", "")]);
    client.open_as("main.tf", &block.repeat(40_000));
    let params = json!({ "textDocument": { "uri": client.uri("main.tf") } });
    let id = client.begin("textDocument/documentSymbol", params);
    client.tell("$/cancelRequest", json!({ "id": id }));
    assert_eq!(client.answer(&json!(id))["error"]["code"], -32800);
    client.tell("$/cancelRequest", json!({ "id": id }));
    assert!(client.ask("workspace/symbol", json!({ "query": "nothing" })).is_array());
}

#[test]
fn columns_are_counted_as_agreed() {
    let text =
        "locals {\n  a = \"𝄞\" # 𝄞\n  b = local.a\n}\noutput \"o\" { value = \"𝄞${local.a}\" }\n";
    for (offered, agreed, column) in
        [(json!(["utf-8", "utf-16"]), "utf-8", 34), (json!(["utf-16"]), "utf-16", 32)]
    {
        let mut client = Client::begun(&[("main.tf", text)]);
        let capabilities = json!({ "general": { "positionEncodings": offered } });
        let answer =
            client.initialize(json!({ "capabilities": capabilities, "rootUri": client.uri("") }));
        assert_eq!(answer["capabilities"]["positionEncoding"], agreed);
        client.open("main.tf");
        let place = json!({
            "textDocument": { "uri": client.uri("main.tf") },
            "position": { "line": 1, "character": 2 },
            "context": { "includeDeclaration": false },
        });
        let found = client.ask("textDocument/references", place);
        let columns: Vec<_> = found
            .as_array()
            .expect("places")
            .iter()
            .map(|it| it["range"]["start"]["character"].clone())
            .collect();
        assert_eq!(columns, [json!(12), json!(column)], "{agreed}: {found:#}");
    }
}

#[test]
fn a_document_without_a_file_is_a_configuration_of_its_own() {
    let mut client = Client::new(&[("main.tf", "")]);
    let uri = "untitled:Untitled-1";
    let document = json!({ "uri": uri, "languageId": "terraform", "version": 1, "text": "locals {\n  a = local.b\n}\n" });
    client.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let problems = client.problems_until(uri, |it| !it.is_empty());
    assert!(
        problems[0]["message"].as_str().expect("words").contains("local value with the name \"b\""),
        "{problems:?}"
    );
    assert_eq!(problems[0]["range"]["start"]["line"], 1);
}

#[test]
fn folders_come_and_go() {
    let mut client = Client::new(&[
        ("a/main.tf", "locals {\n  a = local.none\n}\n"),
        ("b/main.tf", "locals {\n  b = local.none\n}\n"),
    ]);
    client.problems_until("a/main.tf", |it| it.len() == 1);
    client.problems_until("b/main.tf", |it| it.len() == 1);
    let root = client.uri("");
    let event = json!({ "added": [{ "uri": client.uri("a"), "name": "a" }], "removed": [{ "uri": root, "name": "folder" }] });
    client.tell("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    client.problems_until("b/main.tf", <[Json]>::is_empty);
    let found = client.ask("workspace/symbol", json!({ "query": "local." }));
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found:#}");
}

#[test]
fn ten_thousand_texts_can_be_open() {
    let mut client = Client::new(&[("main.tf", "variable \"shared\" {}\n")]);
    for at in 0..10_000 {
        client.open_as(&format!("f{at}.tf"), &format!("locals {{\n  l{at} = var.shared\n}}\n"));
    }
    let found = client.ask("workspace/symbol", json!({ "query": "local.l9999" }));
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    let mut params = client.at("main.tf", "shared");
    params["context"] = json!({ "includeDeclaration": false });
    let found = client.ask("textDocument/references", params);
    assert_eq!(found.as_array().map(Vec::len), Some(10_000));
    client.replace("f7.tf", 2, "locals {\n  l7 = var.none\n}\n");
    client.problems_until("f7.tf", |it| it.len() == 1);
    assert!(client.memory() < 500 << 10, "{} KiB", client.memory());
    assert_eq!(client.end(), Some(0));
}
