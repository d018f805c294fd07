//! CLI configuration in, settings and problems out.

use std::path::PathBuf;

use super::*;

fn world(variables: &[(&str, &str)]) -> (tempfile::TempDir, World) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::of_this_process();
    world.cwd = folder.path().to_owned();
    world.root = folder.path().to_owned();
    world.environment = variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    world.environment.insert("HOME".into(), folder.path().display().to_string());
    (folder, world)
}

fn read(file: &str, text: &str, variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
    let (folder, world) = world(variables);
    std::fs::write(folder.path().join(file), text).expect("written");
    let settings = Settings::read(&world);
    let problems = settings.problems.iter().map(|it| it.to_string()).collect();
    (settings, problems)
}

const ALL: &str = r#"
plugin_cache_dir = "$CACHE"
provider_installation {
  dev_overrides {
    "hashicorp/null" = "/dev/here/"
  }
  filesystem_mirror {
    path    = "/mirror"
    include = ["example.com/*/*"]
  }
  direct {
    exclude = ["example.com/*/*"]
  }
}
credentials "Registry.example.com" { token = "hush" }
host "h.example.com" {
  services = {
    "providers.v1" = "http://127.0.0.1:1/v1/"
    "login.v1" = { client = "c", ports = [10000, 10010] }
  }
}
disable_checkpoint = true
"#;

#[test]
fn every_setting_is_read() {
    let (settings, problems) = read(".tofurc", ALL, &[("CACHE", "/tmp")]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(settings.cache, Some(PathBuf::from("/tmp")));
    let installation = &settings.installations[0];
    assert_eq!(installation.overrides.values().next(), Some(&PathBuf::from("/dev/here")));
    assert_eq!(installation.methods.len(), 2);
    assert_eq!(installation.methods[0].include, ["example.com/*/*"]);
    assert_eq!(settings.hosts["h.example.com"]["providers.v1"], "http://127.0.0.1:1/v1/");
    let login = &settings.hosts["h.example.com"]["login.v1"];
    assert_eq!(login.to_string(), r#"{"client":"c","ports":[10000,10010]}"#);
    assert_eq!(settings.credentials["registry.example.com"].reveal(), "hush");
}

#[test]
fn json_says_the_same() {
    let text = r#"{"credentials": {"a.b": {"token": "hush"}},
        "provider_installation": {"dev_overrides": {"hashicorp/null": "/x"}, "direct": {}}}"#;
    let (settings, problems) = read(".terraformrc", text, &[]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(settings.overrides().len(), 1);
    assert_eq!(settings.credentials["a.b"].reveal(), "hush");
}

#[test]
fn a_token_is_never_printed() {
    let (settings, _) = read(".tofurc", ALL, &[]);
    assert!(!format!("{settings:?}").contains("hush"));
}

#[test]
fn a_token_of_the_environment_comes_first() {
    let variables = [("TF_TOKEN_registry_example_com", "first"), ("TF_TOKEN_a__b_c", "dash")];
    let (folder, world) = world(&variables);
    std::fs::write(folder.path().join(".tofurc"), ALL).expect("written");
    let settings = Settings::read(&world);
    let token = |host: &str| settings.token(&world, host).map(|it| it.reveal().to_owned());
    assert_eq!(token("registry.example.com").as_deref(), Some("first"));
    assert_eq!(token("a-b.c").as_deref(), Some("dash"));
    assert_eq!(token("other.example.com"), None);
}

#[test]
fn what_is_wrong_is_told_and_the_rest_is_used() {
    let text = "plugin_cache_dir = \"/nowhere/at/all\"\nprovider_installation {\n  filesystem_mirror {}\n  magic {}\n  direct {}\n}\nprovider_installation {}\n";
    let (settings, problems) = read(".tofurc", text, &[]);
    assert_eq!(settings.installations[0].methods.len(), 1);
    assert_eq!(
        problems,
        [
            "Invalid provider_installation method block: Invalid filesystem_mirror block at 2:1: \"path\" argument is required.",
            "Invalid provider_installation method block: Unknown provider installation method \"magic\" at 4:3.",
            "No more than one provider_installation block may be specified",
            "The specified plugin cache dir /nowhere/at/all cannot be opened: No such file or directory (os error 2)",
        ]
    );
    let (_, problems) = read(".tofurc", "a = ", &[]);
    assert!(problems[0].starts_with("Error parsing "), "{problems:?}");
}

#[test]
fn a_named_file_that_is_missing_is_a_warning() {
    let (_, problems) = read("other", "", &[("TF_CLI_CONFIG_FILE", "gone.tfrc")]);
    assert_eq!(
        problems,
        [
            "Unable to open CLI configuration file: The CLI configuration file at \"gone.tfrc\" does not exist."
        ]
    );
}

#[test]
fn policies_are_named_and_nothing_in_them_is_passed_over() {
    let text = r#"
policies "corp" {
  source   = "corp/rules/aws"
  version  = "~> 1.0"
  required = true
}
policies "mine" { source = "./rules" }
"#;
    let (settings, problems) = read(".tofurc", text, &[]);
    assert_eq!((problems, &settings.policies.problems.0), (vec![], &vec![]));
    let (corp, mine) = (&settings.policies.by_name["corp"], &settings.policies.by_name["mine"]);
    assert_eq!((corp.source.as_str(), corp.version.as_deref()), ("corp/rules/aws", Some("~> 1.0")));
    assert!(corp.is_required && !mine.is_required);
    assert!(mine.folder.is_absolute(), "{}", mine.folder.display());

    let json = r#"{"policies": {"corp": {"source": "a/b/c", "required": true}}}"#;
    let (settings, _) = read(".tofurc", json, &[]);
    assert!(settings.policies.by_name["corp"].is_required);

    let wrong_file = |text: &str| {
        let found = read(".tofurc", text, &[]).0.policies.problems;
        found.iter().map(|it| it.detail.clone()).collect::<String>()
    };
    let wrong = |text: &str| {
        let (settings, problems) = read(".tofurc", text, &[]);
        assert_eq!(problems, Vec::<String>::new(), "whoever judges tells them");
        let found: Vec<String> =
            settings.policies.problems.iter().map(|it| it.detail.clone()).collect();
        let found = found.join("; ");
        found.split_once(".tofurc ").map_or(found.clone(), |it| it.1.to_owned())
    };
    assert_eq!(wrong("policies \"a\" {}"), "has no source: where the policies are.");
    assert_eq!(wrong("policies { source = \"x\" }"), "must have one label, their name.");
    assert_eq!(
        wrong("policies \"a\" { source = \"x\"\n requried = true }"),
        "has an unknown argument \"requried\"; known are source, version and required."
    );
    assert_eq!(
        wrong("policies \"a\" { source = \"x\"\n required = \"yes\" }"),
        "needs true or false as its required."
    );
    assert_eq!(
        wrong("policies \"a/b\" { source = \"x\" }"),
        "has the name \"a/b\"; a name is made of letters, digits, _ and -."
    );
    let unparsable = wrong_file("policies \"a\" {");
    assert!(unparsable.contains("speaks of policies and cannot be parsed"), "{unparsable}");
    assert_eq!(wrong_file("a = "), "");
    let twice = "policies \"a\" { source = \"x\" }\npolicies \"a\" { source = \"y\" }";
    assert_eq!(wrong(twice), "has the name \"a\", as another has.");
}

#[test]
fn a_token_is_withheld_from_addresses_that_others_can_read_along() {
    let url = |text: &str| Url::parse(text).expect("an address");
    let token = Token::new("hush");
    for open in ["https://a/", "http://localhost:1/", "http://127.8.9.1/", "http://[::1]:80/"] {
        assert_eq!(token.withheld_from(&url(open)), None, "{open}");
    }
    for closed in ["http://a/", "http://localhost.a/", "http://10.0.0.1/", "http://[::2]/"] {
        let why = token.withheld_from(&url(closed)).unwrap_or_default();
        assert_eq!(why, "the address is not secure: it must be of https", "{closed}");
    }
    let token = token.only_for(&url("https://a:444/x"));
    assert_eq!(token.withheld_from(&url("https://a:444/y")), None);
    for closed in ["https://a/x", "https://b:444/x", "http://127.0.0.1/"] {
        assert!(token.withheld_from(&url(closed)).is_some(), "{closed}");
    }
}
