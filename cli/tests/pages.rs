//! `show -html` and `log -html`: what stands in the file, and what a browser makes of it.
//!
//! A browser is driven over WebDriver where there is one (Debian: chromium, chromium-driver); where there is none, the tests that need
//! it say so and end.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use base64::Engine;
use fantoccini::Client;
use serde_json::{Value as Json, json};
use sha2::Digest;

use browser::Driver;

#[path = "../../tests/support/browser.rs"]
mod browser;

const MAIN: &str = r#"
variable "size" {
  default = "small"
}
variable "password" {
  default   = "canary-one"
  sensitive = true
}
resource "terraform_data" "base" {
  input = var.size
}
resource "terraform_data" "many" {
  count = var.size == "large" ? 5 : 0
  input = "the same"
}
resource "terraform_data" "secret" {
  input = { password = var.password, base = terraform_data.base.output }
}
resource "local_sensitive_file" "kept" {
  filename = "${path.module}/kept.txt"
  content  = nonsensitive(var.password)
}
resource "terraform_data" "out" {
  input = local_sensitive_file.kept.content_md5
}
resource "terraform_data" "behind" {
  input = terraform_data.out.output
}
module "inner" {
  source = "./inner"
  given  = terraform_data.base.output
}
output "size" {
  value = var.size
}
output "password" {
  value     = var.password
  sensitive = true
}
"#;

const INNER: &str = r#"
variable "given" {}
resource "terraform_data" "within" {
  input = var.given
}
"#;

const RULES: &str = r#"
// @rule house.told: `n` holds what is told
// @help ask <b>the team</b>
warn(n, "it holds {n.content} and {n.filename}") <-- resource(n, "local_sensitive_file"), n.content;
"#;

/// A folder with a root module. Gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("entail-pages-{name}-{}", std::process::id()));
        for (name, text) in files {
            let path = path.join(name);
            let parent = path.parent().expect("a parent");
            std::fs::create_dir_all(parent).expect("the folder can be made");
            std::fs::write(path, text).expect("the folder takes files");
        }
        Folder(path)
    }

    /// One that was applied, and has a saved plan that changes much.
    fn planned(name: &str) -> Folder {
        let files = [("main.tf", MAIN), ("inner/main.tf", INNER), ("policies/house.rules", RULES)];
        let folder = Folder::new(name, &files);
        folder.run(&["init"]);
        folder.run(&["apply", "-auto-approve"]);
        folder.run(&[
            "plan",
            "-var=size=large",
            "-var=password=canary-two",
            "-exclude=terraform_data.out",
            "-out=p",
        ]);
        folder
    }

    fn output(&self, arguments: &[&str]) -> std::process::Output {
        Command::new(env!("CARGO_BIN_EXE_entail"))
            .args(arguments)
            .current_dir(&self.0)
            .env_clear()
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .output()
            .expect("the program starts")
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "{arguments:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("the page was written")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One browser at a time: each takes all of a small machine.
static BROWSER: Mutex<()> = Mutex::new(());

/// Looks at a page in a browser; at nothing where there is none.
fn browse<F: Future<Output = ()>>(page: &Path, fragment: &str, look: impl FnOnce(Page) -> F) {
    let _one = BROWSER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let Some(driver) = Driver::start() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let client = driver.client().await;
        let address = format!("file://{}", page.display());
        client.goto(&format!("{address}{fragment}")).await.expect("the page opens");
        look(Page { client: client.clone(), address }).await;
        client.close().await.expect("the browser ends");
    });
}

#[derive(Clone)]
struct Page {
    client: Client,
    address: String,
}

impl Page {
    /// What an expression comes to on the page.
    async fn ask(&self, expression: &str) -> Json {
        let script = format!("return {expression}");
        self.client.execute(&script, Vec::new()).await.expect("the expression has a value")
    }

    async fn click(&self, selector: &str) {
        let found = self.client.find(fantoccini::Locator::Css(selector)).await;
        found.expect(selector).click().await.expect("it can be clicked");
    }

    async fn type_into(&self, selector: &str, text: &str) {
        let found = self.client.find(fantoccini::Locator::Css(selector)).await.expect(selector);
        found.clear().await.expect("it can be emptied");
        found.send_keys(text).await.expect("it takes text");
    }

    /// How many elements there are that can be seen.
    async fn seen(&self, selector: &str) -> u64 {
        let count = format!(
            "[...document.querySelectorAll({})].filter(it => it.checkVisibility()).length",
            json!(selector)
        );
        self.ask(&count).await.as_u64().expect("a number")
    }

    /// Waits until an expression is true: what scrolls into sight comes a moment later.
    async fn until(&self, expression: &str) {
        for _ in 0..200 {
            if self.ask(expression).await == json!(true) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("never true: {expression}");
    }
}

/// What a page says of its own script and style.
#[track_caller]
fn check_policy(page: &str) {
    let between = |from: &str, to: &str| {
        page.split_once(from).expect(from).1.split_once(to).expect(to).0.to_owned()
    };
    let policy = between("Content-Security-Policy\" content=\"", "\"");
    for rule in ["default-src 'none'", "base-uri 'none'", "form-action 'none'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    let digest = |text: &str| {
        let digest = sha2::Sha256::digest(text);
        format!("'sha256-{}'", base64::prelude::BASE64_STANDARD.encode(digest))
    };
    assert!(policy.contains(&format!("style-src {}", digest(&between("<style>", "</style>")))));
    assert!(policy.contains(&format!("script-src {}", digest(&between("<script>", "</script>")))));
    let lower = page.to_lowercase();
    for word in [
        "<script src",
        "<link rel=\"stylesheet",
        "<img",
        "<iframe",
        "@import",
        " style=\"",
        "src=\"http",
        "href=\"http",
    ] {
        assert!(!lower.contains(word), "{word}");
    }
}

#[test]
fn a_page_rests_on_nothing_else_and_holds_no_secret() {
    let folder = Folder::planned("taint");
    let said = folder.run(&["show", "-html=plan.html", "p"]);
    assert_eq!(said, "The page is in plan.html.\n");
    folder.run(&["show", "-html=state.html"]);
    folder.run(&["log", "-html=log.html"]);
    for name in ["plan.html", "state.html", "log.html"] {
        let page = folder.read(name);
        assert!(!page.contains("canary"), "{name}");
        check_policy(&page);
    }
    assert_eq!(
        folder.run(&["show", "-html", "p"]),
        folder.read("plan.html"),
        "two pages of one plan"
    );
    let plan = folder.read("plan.html");
    assert!(plan.contains("(sensitive value)"), "what is hidden is named");
    let refused = folder.output(&["show", "-html", "-show-sensitive", "p"]);
    assert!(!refused.status.success() && refused.stdout.is_empty());
}

#[test]
fn a_page_has_every_decision_with_the_proof_that_why_gives() {
    let folder = Folder::planned("proofs");
    folder.run(&["show", "-html=plan.html", "p"]);
    let page = folder.read("plan.html");
    let document: Json = serde_json::from_str(&folder.run(&["show", "-json", "p"])).expect("JSON");
    let changes = document["resource_changes"].as_array().expect("a list");
    let changed: Vec<&str> = changes
        .iter()
        .filter(|it| it["change"]["actions"] != json!(["no-op"]))
        .filter_map(|it| it["address"].as_str())
        .collect();
    assert!(changed.len() > 8, "{changed:?}");
    for address in changed {
        let head = format!("data-address=\"{address}\" data-action=");
        assert_eq!(page.matches(&head).count(), 1, "{address}");
        let proof = page.split_once(&format!("data-proof=\"{address}\"")).expect(address).1;
        let proof = proof.split_once("</section>").expect("its end").0;
        for line in folder.run(&["why", "-plan=p", address]).lines() {
            let said = line.trim().split("    ").next().unwrap_or_default();
            let said = said.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            assert!(proof.contains(&said), "{address}: {said}\n{proof}");
        }
    }
    assert_eq!(page.matches(" data-excluded=").count(), 2);
    assert!(page.contains("<span class=\"l\">through terraform_data.out</span>"));
    assert!(
        page.contains("data-address=\"output.size\"")
            && page.contains("data-proof=\"output.size\"")
    );
    assert!(page.contains("data-provider=") && page.contains("data-rule=\"house.told\""));
    assert!(page.contains("data-critical=\"0\""), "the order has a longest way");
}

#[test]
fn a_browser_unfolds_finds_and_follows() {
    let folder = Folder::planned("browser");
    folder.run(&["show", "-html=plan.html", "p"]);
    browse(&folder.0.join("plan.html"), "", |page| async move {
        let base = "[data-address='terraform_data.base']";
        assert_eq!(page.seen("[data-proof]").await, 0, "proofs are folded at first");
        page.click(&format!("{base} > summary")).await;
        assert_eq!(page.seen(&format!("{base} [data-proof]")).await, 1);

        // Five that are alike stand under one line.
        assert_eq!(page.seen("[data-address^='terraform_data.many']").await, 0);
        page.type_into("input[type=search]", "many[3]").await;
        assert_eq!(page.seen("[data-address][data-action]").await, 1);
        assert_eq!(page.seen("[data-excluded]").await, 0);
        page.click("#clear").await;
        page.click("[data-act='replace']").await;
        assert_eq!(page.seen(base).await, 0);
        page.click("[data-act='replace']").await;
        assert_eq!(page.seen(base).await, 1);
        page.client
            .find(fantoccini::Locator::Css("#module option[value='module.inner']"))
            .await
            .expect("modules can be chosen")
            .click()
            .await
            .expect("one of them");
        assert_eq!(page.seen("[data-address][data-action]").await, 1);
        page.click("#clear").await;

        page.client
            .goto(&format!("{}#terraform_data.many%5B3%5D", page.address))
            .await
            .expect("a link");
        page.until("document.querySelector(\"[data-address='terraform_data.many[3]']\").open")
            .await;
        assert_eq!(page.seen("[data-proof='terraform_data.many[3]']").await, 1);
        assert_eq!(
            page.ask("document.activeElement.parentElement.id").await,
            json!("terraform_data.many[3]")
        );
    });
}

#[test]
fn a_browser_draws_what_is_around_an_object_and_marks_its_proof() {
    let folder = Folder::planned("graph");
    folder.run(&["show", "-html=plan.html", "p"]);
    browse(&folder.0.join("plan.html"), "#terraform_data.secret", |page| async move {
        page.click("[data-address='terraform_data.secret'] button.g").await;
        assert_eq!(page.seen("#near .n.centre").await, 1);
        let names =
            "[...document.querySelectorAll('#near .n.way text')].map(it => it.textContent).join()";
        assert_eq!(page.ask(names).await, json!("terraform_data.base"), "the proof speaks of it");
        assert_eq!(page.seen("#drawing .l.way").await, 1);
        let wide = "Number(document.querySelector('#drawing').getAttribute('width'))";
        let before = page.ask(wide).await.as_f64();
        page.click("[data-zoom='in']").await;
        assert!(page.ask(wide).await.as_f64() > before, "a click makes it larger");
        assert_eq!(page.seen("a.t.crit").await, page.seen("[data-critical]").await);
    });
}

#[test]
fn paper_shows_everything() {
    let folder = Folder::planned("paper");
    folder.run(&["show", "-html=plan.html", "p"]);
    browse(&folder.0.join("plan.html"), "", |page| async move {
        page.type_into("input[type=search]", "nothing that is there").await;
        assert_eq!(page.seen("[data-action]").await, 0);
        page.ask("dispatchEvent(new Event('beforeprint'))").await;
        assert_eq!(
            page.ask("document.querySelectorAll('details:not([open])').length").await,
            json!(0)
        );
        page.ask("dispatchEvent(new Event('afterprint'))").await;
        assert!(
            page.ask("document.querySelectorAll('details:not([open])').length").await.as_u64()
                > Some(9)
        );
        let printed = page.client.print(Default::default()).await.expect("it can be printed");
        assert!(printed.starts_with(b"%PDF"));
    });
}

/// Markup wherever names and values come from.
const HOSTILE: &str = r#"
locals {
  evil = "</pre></script><script>hacked=1</script><img src=x onerror=hacked=2>\" onclick=\"hacked=3' <!-- "
}
resource "terraform_data" "a" {
  for_each = toset([local.evil, "]]><svg onload=hacked=4>", "\u202egnirts", "a b%20&amp;"])
  input    = { (local.evil) = local.evil }
}
resource "terraform_data" "b" {
  input = values(terraform_data.a)[*].id
}
output "evil" {
  value = { (local.evil) = local.evil }
}
"#;

const HOSTILE_RULES: &str = r#"
// @rule evil.told: <script>hacked=5</script> `n`
// @help <img src=x onerror=hacked=6>
warn(n, "<script>hacked=7</script> {n}") <-- resource(n, "terraform_data"), n.input;
"#;

#[test]
fn markup_in_names_stays_text() {
    let files = [
        ("main.tf", "module \"m\" {\n  source = \"./<img src=x onerror=hacked=8>\"\n}\n"),
        ("<img src=x onerror=hacked=8>/main.tf", HOSTILE),
        ("policies/evil.rules", HOSTILE_RULES),
    ];
    let folder = Folder::new("hostile", &files);
    folder.run(&["init"]);
    folder.run(&["plan", "-out=p"]);
    folder.run(&["show", "-html=plan.html", "p"]);
    folder.run(&["apply", "-auto-approve"]);
    folder.run(&["show", "-html=state.html"]);
    folder.run(&["log", "-html=log.html"]);
    for name in ["plan.html", "state.html", "log.html"] {
        check_policy(&folder.read(name));
        browse(&folder.0.join(name), "", |page| async move {
            assert_eq!(page.ask("typeof hacked").await, json!("undefined"));
            assert_eq!(page.ask("document.scripts.length").await, json!(2));
            let foreign = "[...document.querySelectorAll('img, iframe, object, embed, base, form, svg svg')].length";
            assert_eq!(page.ask(foreign).await, json!(0));
            let hands = "[...document.querySelectorAll('*')].flatMap(it => [...it.attributes]).filter(it => it.name.startsWith('on') || /^\\s*javascript:/i.test(it.value)).length";
            assert_eq!(page.ask(hands).await, json!(0));
            if name == "log.html" {
                return;
            }
            let key = "module.m.terraform_data.a[\"]]><svg onload=hacked=4>\"]";
            let own = format!("document.getElementById({})", json!(key));
            let link = page.ask(&format!("encodeURIComponent({own}.dataset.address)")).await;
            let link = link.as_str().expect("an address").to_owned();
            page.client.goto(&format!("{}#{link}", page.address)).await.expect("a link");
            page.until(&format!("{own}.open")).await;
            assert_eq!(
                page.ask(&format!("{own}.querySelector('code').textContent")).await,
                json!(key)
            );
        });
    }
}

#[test]
fn a_long_list_is_shown_piece_by_piece() {
    let main = "resource \"terraform_data\" \"a\" {\n  count = 6100\n  input = count.index % 2 == 0 ? \"even\" : \"</script><img src=x onerror=hacked=1>${count.index}\"\n}\n";
    let folder = Folder::new("long", &[("main.tf", main)]);
    folder.run(&["init"]);
    folder.run(&["plan", "-out=p"]);
    folder.run(&["show", "-html=plan.html", "p"]);
    check_policy(&folder.read("plan.html"));
    browse(&folder.0.join("plan.html"), "#terraform_data.a%5B5001%5D", |page| async move {
        page.until("document.getElementById('terraform_data.a[5001]')?.open === true").await;
        assert_eq!(page.seen("[data-proof='terraform_data.a[5001]']").await, 1);
        let there =
            page.ask("document.querySelectorAll('[data-address][data-action]').length").await;
        assert!(there.as_u64() < Some(3000), "{there} entries are in the page at once");
        assert_eq!(page.ask("typeof hacked").await, json!("undefined"));
        page.type_into("input[type=search]", "even").await;
        assert_eq!(
            page.ask("document.getElementById('found').textContent").await,
            json!("3050 of 6100")
        );
        page.type_into("input[type=search]", "a[4321]").await;
        assert_eq!(page.seen("[data-address][data-action]").await, 1);
        page.click("[data-address='terraform_data.a[4321]'] > summary").await;
        page.until("document.querySelector('[data-proof]')?.checkVisibility() === true").await;
        page.click("[data-address='terraform_data.a[4321]'] button.g").await;
        assert_eq!(page.seen("#near .n.centre").await, 1);
    });
}

#[test]
fn a_page_of_another_kind_is_refused() {
    let folder = Folder::new("refused", &[("main.tf", "locals {}\n")]);
    for arguments in [
        &["show", "-html", "-json"] as &[&str],
        &["show", "-html", "-config", "-json"],
        &["show", "-html", "-only=create"],
        &["show", "-html=no/such/folder/p.html"],
        &["show", "-html", "main.tf"],
        &["log", "-html", "-json"],
    ] {
        let output = folder.output(arguments);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("Error"), "{arguments:?}: {said}");
    }
    let empty = folder.run(&["show", "-html"]);
    assert!(empty.contains("No state."));
    check_policy(&empty);
}
