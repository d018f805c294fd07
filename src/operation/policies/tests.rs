//! Policies from repositories, archives and a registry on loopback, named by flags and by a CLI configuration.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::{Expect, expect};

use super::*;
use crate::operation::modules::tests::{Answers, Server, commit, file, git, gzip, tar};

const NAMED: &str = "// @rule a.named: `b` is there\nnote(b, \"there\") <-- resource(b, _);\n";
const OTHER: &str = "// @rule a.other: `b` is here\nwarn(b, \"here\") <-- resource(b, _);\n";

/// A folder with a root module, and a CLI configuration beside it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        folder.write("root/main.tf", "");
        folder.write("rc", "");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn world(&self) -> World {
        let mut world = World::of_this_process();
        world.cwd = self.path("root");
        world.root = world.cwd.clone();
        let rc = self.path("rc").to_string_lossy().into_owned();
        world.environment = [("TF_CLI_CONFIG_FILE".to_owned(), rc)].into();
        if let Ok(path) = std::env::var("PATH") {
            world.environment.insert("PATH".to_owned(), path);
        }
        world
    }

    /// Installs, and prints steps and problems.
    fn init(&self, words: &[&str], upgrade: bool, readonly: bool) -> String {
        let out = RefCell::new(String::new());
        let tell = |it: Progress| out.borrow_mut().push_str(&format!("{it:?}\n"));
        let how = How { upgrade, readonly, tell: &tell };
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        let done = install(&self.world(), &Sources::default(), &words, how);
        let mut out = out.into_inner();
        out.push_str(&told(done.err()));
        self.hidden(&out)
    }

    /// What is in force: names, groups and whether they are required; or what is wrong.
    fn in_force(&self, words: &[&str], none: bool) -> String {
        let sources = Sources::default();
        let (session, _) = Session::open_in_place(Arc::new(self.world()), sources).expect("opens");
        let named = words.iter().map(|it| (*it).to_owned()).collect();
        let out = match find(&session, &PolicyChoice { named, none }) {
            Err(problems) => told(Some(problems)),
            Ok(found) => found
                .iter()
                .map(|it| {
                    let required = if it.is_required { " required" } else { "" };
                    format!("{} in {}{required} {:?}\n", it.name, it.group, it.origin)
                })
                .collect(),
        };
        self.hidden(&out)
    }

    fn lock(&self) -> String {
        let text = std::fs::read_to_string(self.path("root").join(LOCK_FILE));
        self.hidden(&text.unwrap_or_default())
    }

    /// The text without what differs from run to run.
    fn hidden(&self, text: &str) -> String {
        let text = text.replace(&*self.0.path().to_string_lossy(), "ROOT");
        let replace = |pattern: &str, text: &str, by: &str| {
            regex::Regex::new(pattern).expect("valid").replace_all(text, by).into_owned()
        };
        let text = replace(r"127\.0\.0\.1:\d+", &text, "HOST");
        replace(r"policies/[A-Za-z0-9.-]+-[0-9a-f]{12}/", &text, "policies/DIR/")
    }
}

fn told(problems: Option<Diagnostics>) -> String {
    let all = problems.unwrap_or_default();
    all.iter().map(|it| format!("{}: {}\n", it.summary, it.detail)).collect()
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}

/// A repository with two folders of policies, the first at `v1`. Nothing where git is not installed.
fn repository(folder: &Folder) -> Option<()> {
    let repo = folder.path("repo");
    std::fs::create_dir_all(&repo).expect("a folder");
    git(&repo, &["init", "-q"])?;
    commit(&repo, "aws/deep/a.rules", NAMED)?;
    commit(&repo, "aws/a.policytest.hcl", "")?;
    git(&repo, &["tag", "v1"])?;
    commit(&repo, "other.rules", OTHER)
}

#[test]
fn a_repository_is_installed_locked_and_read() {
    let folder = Folder::new();
    if repository(&folder).is_none() {
        return;
    }
    let repo = folder.path("repo").to_string_lossy().into_owned();
    let first = format!("git::file://{repo}//aws?ref=v1");
    let words = [first.as_str(), &format!("git::file://{repo}")];
    check(
        &folder.in_force(&words[..1], false),
        expect![[r#"
            Policies not installed: "git::file://ROOT/repo//aws?ref=v1", which -policy names, is not installed here. Install it with "entail init -policy='git::file://ROOT/repo//aws?ref=v1'".
        "#]],
    );
    check(
        &folder.init(&words, false, false),
        expect![[r#"
            Begun
            Fetching("git::file://ROOT/repo//aws?ref=v1")
            Installed("git::file://ROOT/repo//aws?ref=v1", None)
            Fetching("git::file://ROOT/repo")
            Installed("git::file://ROOT/repo", None)
            Locked
        "#]],
    );
    // Nothing but rules is kept.
    check(
        &folder.in_force(&words, false),
        expect![[r#"
        .terraform/policies/DIR/deep/a.rules in git::file://ROOT/repo//aws?ref=v1 Source { address: "git::file://ROOT/repo//aws?ref=v1", version: None, digest: "h1:2L4qujdNluTlVYZ0yaD3x7cg0xgbi+3P1l+1PtTKxak=" }
        .terraform/policies/DIR/aws/deep/a.rules in git::file://ROOT/repo Source { address: "git::file://ROOT/repo", version: None, digest: "h1:P71mTg0RSQoahmaB08zkrBgYDBuMP83AuJ+pCGe+BG4=" }
        .terraform/policies/DIR/other.rules in git::file://ROOT/repo Source { address: "git::file://ROOT/repo", version: None, digest: "h1:P71mTg0RSQoahmaB08zkrBgYDBuMP83AuJ+pCGe+BG4=" }
    "#]],
    );
    check(
        &folder.lock(),
        expect![[r##"
        # This file is maintained by "entail init": what it has installed for each source of policies.

        policies "git::file://ROOT/repo" {
          digest = "h1:P71mTg0RSQoahmaB08zkrBgYDBuMP83AuJ+pCGe+BG4="
        }

        policies "git::file://ROOT/repo//aws?ref=v1" {
          digest = "h1:2L4qujdNluTlVYZ0yaD3x7cg0xgbi+3P1l+1PtTKxak="
        }
    "##]],
    );
    check(
        &folder.init(&words[..1], false, true),
        expect![[r#"
        Begun
        Kept("git::file://ROOT/repo//aws?ref=v1", None)
    "#]],
    );
}

#[test]
fn what_is_not_as_it_is_locked_is_refused() {
    let folder = Folder::new();
    if repository(&folder).is_none() {
        return;
    }
    let word = format!("git::file://{}", folder.path("repo").display());
    let words = [word.as_str()];
    // Who may not change the lock file cannot lock anything.
    check(
        &folder.init(&words, false, true),
        expect![[r#"
        Begun
        Fetching("git::file://ROOT/repo")
        Policies are not locked: .entail.policies.lock.hcl does not have what "git::file://ROOT/repo" gives now, and -lockfile=readonly forbids changing it. Install without that option, look at what changed, and keep the file with the configuration.
    "#]],
    );
    folder.init(&words, false, false);
    let installed = std::fs::read_dir(folder.path("root/.terraform/policies")).expect("a folder");
    let installed = installed.flatten().next().expect("a source").path();
    std::fs::write(installed.join("other.rules"), NAMED).expect("a file");
    let digests = |text: &str| {
        let hidden = regex::Regex::new("h1:[A-Za-z0-9+/=]+").expect("valid");
        hidden.replace_all(text, "h1:…").into_owned()
    };
    check(
        &digests(&folder.in_force(&words, false)),
        expect![[r#"
        Policies differ from what is locked: The installed files of "git::file://ROOT/repo" have the checksum h1:…, and .entail.policies.lock.hcl has h1:…. Either was changed since. Install what is locked with "entail init -policy=git::file://ROOT/repo".
    "#]],
    );
    // Installing again brings back what is locked.
    check(
        &folder.init(&words, false, true),
        expect![[r#"
        Begun
        Fetching("git::file://ROOT/repo")
        Installed("git::file://ROOT/repo", None)
    "#]],
    );
    assert!(folder.in_force(&words, false).contains("other.rules"));

    // Where the source gives something else, nothing changes until that is asked for.
    let before = (folder.lock(), folder.in_force(&words, false));
    commit(&folder.path("repo"), "other.rules", NAMED).expect("git");
    std::fs::remove_file(installed.join("other.rules")).expect("a file");
    check(
        &digests(&folder.init(&words, false, false)),
        expect![[r#"
        Begun
        Fetching("git::file://ROOT/repo")
        Policies differ from what is locked: "git::file://ROOT/repo" now gives files with the checksum h1:…, and .entail.policies.lock.hcl has h1:…. Nothing was installed. If the change is meant, accept it with "entail init -policy=git::file://ROOT/repo -upgrade".
    "#]],
    );
    assert_eq!(folder.lock(), before.0);
    check(
        &folder.init(&words, true, false),
        expect![[r#"
        Begun
        Fetching("git::file://ROOT/repo")
        Installed("git::file://ROOT/repo", None)
        Locked
    "#]],
    );
    assert_ne!(folder.lock(), before.0);
    assert!(folder.in_force(&words, false).contains("other.rules"));

    folder.write(&format!("root/{LOCK_FILE}"), "policies \"x\" {\n  digest = \"md5:1\"\n}\n");
    check(
        &folder.in_force(&words, false),
        expect![[r#"
        Invalid lock of policies: Expected a checksum that begins with "h1:". The file is written by "entail init": take away the block, and install anew.
    "#]],
    );
}

#[test]
fn archives_are_unpacked_and_links_stay_within() {
    let folder = Folder::new();
    folder.write("secret.rules", "deny(");
    let server = Server::start(|_| {
        Answers::from([
            ("/p.tar.gz".into(), file(gzip(&tar(&[("in/a.rules", NAMED), ("b.rules", OTHER)])))),
            ("/none.tar.gz".into(), file(gzip(&tar(&[("main.tf", "")])))),
        ])
    });
    let at = |path: &str| format!("{}/{path}", server.address);
    let words = [at("p.tar.gz//in"), at("p.tar.gz//b.rules"), at("none.tar.gz"), at("gone.zip")];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    check(
        &folder.init(&words, false, false),
        expect![[r#"
        Begun
        Fetching("http://HOST/p.tar.gz//in")
        Installed("http://HOST/p.tar.gz//in", None)
        Fetching("http://HOST/p.tar.gz//b.rules")
        Installed("http://HOST/p.tar.gz//b.rules", None)
        Fetching("http://HOST/none.tar.gz")
        Fetching("http://HOST/gone.zip")
        Locked
        Failed to install policies: "http://HOST/none.tar.gz", which -policy names, has no file whose name ends in .rules. A folder in a package is named behind two slashes: …//FOLDER.
        Failed to install policies: "http://HOST/gone.zip", which -policy names, could not be fetched: unsuccessful request to http://HOST/gone.zip: 404 Not Found. What was installed before is still there.
    "#]],
    );
    check(
        &folder.in_force(&words[..2], false),
        expect![[r#"
        .terraform/policies/DIR/a.rules in http://HOST/p.tar.gz//in Source { address: "http://HOST/p.tar.gz//in", version: None, digest: "h1:LJgSCsCLM9wWbTrZvUza5NkcoAFpK11sNQ9sG1kFMg4=" }
        .terraform/policies/DIR/b.rules in http://HOST/p.tar.gz//b.rules Source { address: "http://HOST/p.tar.gz//b.rules", version: None, digest: "h1:VD0IVnAb/hu7e9Gx0t4I/O/n4rI6gBy4A9TFR1W9xkQ=" }
    "#]],
    );

    let package = folder.path("package");
    std::fs::create_dir_all(&package).expect("a folder");
    std::fs::write(package.join("a.rules"), NAMED).expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("secret.rules"), package.join("b.rules"))
        .expect("a link");
    let word = format!("file://{}", package.display());
    folder.init(&[&word], false, false);
    check(
        &folder.in_force(&[&word], false),
        expect![[r#"
        .terraform/policies/DIR/a.rules in file://ROOT/package Source { address: "file://ROOT/package", version: None, digest: "h1:LJgSCsCLM9wWbTrZvUza5NkcoAFpK11sNQ9sG1kFMg4=" }
    "#]],
    );
}

/// A registry that has these versions of `example.com/corp/rules/aws`.
fn registry(versions: &[&str]) -> Server {
    Server::start(|at| {
        let listed: Vec<String> =
            versions.iter().map(|it| format!("{{\"version\":\"{it}\"}}")).collect();
        let listed = format!("{{\"modules\":[{{\"versions\":[{}]}}]}}", listed.join(","));
        let mut answers =
            Answers::from([("/v1/corp/rules/aws/versions".into(), file(listed.into_bytes()))]);
        for version in versions {
            let text = format!("{NAMED}// {version}\n");
            let path = format!("/{version}.tar.gz");
            answers.insert(path.clone(), file(gzip(&tar(&[("a.rules", &text)]))));
            let place = format!("{{\"location\":\"{at}{path}\"}}");
            let download = format!("/v1/corp/rules/aws/{version}/download");
            answers.insert(download, file(place.into_bytes()));
        }
        answers
    })
}

#[test]
fn a_registry_has_versions_and_the_locked_one_stays() {
    let folder = Folder::new();
    let settings = |server: &Server, version: &str| {
        let at = &server.address;
        folder.write("rc", &format!(
            "host \"example.com\" {{\n services = {{ \"modules.v1\" = \"{at}/v1\" }}\n}}\npolicies \"corp\" {{\n source = \"example.com/corp/rules/aws\"\n version = \"{version}\"\n required = true\n}}\n"
        ));
    };
    let first = registry(&["1.0.0", "1.1.0", "2.0.0"]);
    settings(&first, "~> 1.0");
    check(
        &folder.in_force(&[], true),
        expect![[r#"
        Policies not installed: "example.com/corp/rules/aws", which the block policies "corp" of the CLI configuration names, is not installed here. Install it with "entail init".
    "#]],
    );
    check(
        &folder.init(&[], false, false),
        expect![[r#"
        Begun
        Fetching("example.com/corp/rules/aws")
        Installed("example.com/corp/rules/aws", Some("1.1.0"))
        Locked
    "#]],
    );
    check(
        &folder.in_force(&[], true),
        expect![[r#"
        .terraform/policies/DIR/a.rules in policies.corp required Source { address: "example.com/corp/rules/aws", version: Some("1.1.0"), digest: "h1:mWAOp5RS9V0YXHLBdh4ICt7dpwQELRdhhYRHJzPVkGI=" }
    "#]],
    );
    // A newer version changes nothing.
    let second = registry(&["1.0.0", "1.1.0", "1.2.0", "2.0.0"]);
    settings(&second, "~> 1.0");
    std::fs::remove_dir_all(folder.path("root/.terraform")).expect("a folder");
    check(
        &folder.init(&[], false, true),
        expect![[r#"
        Begun
        Fetching("example.com/corp/rules/aws")
        Installed("example.com/corp/rules/aws", Some("1.1.0"))
    "#]],
    );
    check(
        &folder.init(&[], true, false),
        expect![[r#"
        Begun
        Fetching("example.com/corp/rules/aws")
        Installed("example.com/corp/rules/aws", Some("1.2.0"))
        Locked
    "#]],
    );
    // Nor do other conditions, before they are installed.
    settings(&second, "~> 2.0");
    check(
        &folder.in_force(&[], false),
        expect![[r#"
        Policies of another version: .entail.policies.lock.hcl has a version of "example.com/corp/rules/aws" that is not the one that the block policies "corp" of the CLI configuration asks for. Install what is asked for now with "entail init -upgrade".
    "#]],
    );
    check(
        &folder.init(&[], false, false),
        expect![[r#"
        Begun
        Policies of another version: .entail.policies.lock.hcl has a version of "example.com/corp/rules/aws" that is not the one that the block policies "corp" of the CLI configuration asks for. Install what is asked for now with -upgrade.
    "#]],
    );
    folder.init(&[], true, false);
    check(
        &folder.in_force(&[], false),
        expect![[r#"
        .terraform/policies/DIR/a.rules in policies.corp required Source { address: "example.com/corp/rules/aws", version: Some("2.0.0"), digest: "h1:LCw4WBJx825CJpRw6XpQIBcRjJJuD0PVuuZRT0q9V9Y=" }
    "#]],
    );
    settings(&second, "~> 3.0");
    check(
        &folder.init(&[], true, false),
        expect![[r#"
        Begun
        Fetching("example.com/corp/rules/aws")
        Failed to install policies: "example.com/corp/rules/aws", which the block policies "corp" of the CLI configuration names, could not be fetched: no version meets the conditions; the newest is 2.0.0. What was installed before is still there.
    "#]],
    );
}

#[test]
fn a_cli_configuration_names_policies_and_requires_them() {
    let folder = Folder::new();
    folder.write("root/policies/a.rules", NAMED);
    folder.write("root/more/a.rules", OTHER);
    folder.write("org/a.rules", OTHER);
    let blocks = r#"
policies "mine" { source = "./root/more" }
policies "org" {
  source   = "./org"
  required = true
}
policies "shipped" {
  source   = "library:general/limits"
  required = true
}
"#;
    folder.write("rc", blocks);
    check(
        &folder.in_force(&[], false),
        expect![[r#"
        ROOT/org/a.rules in policies.org required Path
        library:general/limits.rules in library:general/limits required Library
        more/a.rules in policies.mine Path
        policies/a.rules in policies Folder
    "#]],
    );
    check(
        &folder.in_force(&["more"], true),
        expect![[r#"
        ROOT/org/a.rules in policies.org required Path
        library:general/limits.rules in library:general/limits required Library
    "#]],
    );
    // What is named besides stays required, and no folder can join the group.
    folder.write("root/policies.org/a.rules", NAMED);
    check(
        &folder.in_force(&["../org", "policies.org", "library:general/limits"], false),
        expect![[r#"
            ROOT/org/a.rules in policies.org required Path
            library:general/limits.rules in library:general/limits required Library
            more/a.rules in policies.mine Path
            policies/a.rules in policies Folder
            ../org/a.rules in ../org Path
            policies.org/a.rules in ./policies.org Path
        "#]],
    );

    let wrong = |text: &str| {
        folder.write("rc", text);
        folder.in_force(&[], false)
    };
    folder.write("root/p.tar.gz", "");
    let errors = [
        folder.in_force(&["p.tar.gz"], false),
        wrong("policies \"a\" { source = \"./nowhere\" }"),
        // The rest lists the library, which grows.
        wrong("policies \"a\" { source = \"library:awz\" }")
            .split_once(" It has")
            .map_or(String::new(), |it| format!("{}\n", it.0)),
        wrong("policies \"a\" {\n source = \"./org\"\n version = \"1\"\n}"),
        wrong("policies \"a\" {\n source = \"a/b/c\"\n version = \"new\"\n}"),
        wrong("policies \"a\" { required = true }"),
    ];
    // What may be left out is not looked for where it is.
    folder.write("rc", "policies \"a\" { source = \"./nowhere\" }");
    assert_eq!(folder.in_force(&[], true), "");
    check(
        &errors.concat(),
        expect![[r#"
            Policy cannot be read: ROOT/root/p.tar.gz, which -policy names, is an archive. Archives are installed before they are used: name it as file://ROOT/root/p.tar.gz, with //FOLDER behind it for a folder in it.
            Policy cannot be read: "./nowhere", which the block policies "a" of the CLI configuration names, is no file or folder here. It can be a path, library:NAME, or the source address of a module, such as git::https://HOST/REPOSITORY.git//FOLDER?ref=v1.
            Not in the library: The library has no policies called awz. Did you mean library:aws?
            Policies without versions: "./org" has no versions, and the block policies "a" of the CLI configuration asks for one. Only addresses of a module registry, NAMESPACE/NAME/TARGET, have them; of a git repository, name one with ?ref=.
            Invalid version of policies: "new", the version that the block policies "a" of the CLI configuration asks for, is no condition such as "~> 1.2".
            Invalid policies block in the CLI configuration: The policies block at 1:1 of ROOT/rc has no source: where the policies are.
        "#]],
    );
}
