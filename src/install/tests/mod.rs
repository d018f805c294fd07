//! Mirrors, registries and lock files in; what is installed, locked and refused out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use expect_test::{Expect, expect};
use parking_lot::Mutex;

use super::*;
use crate::address::Provider;
use crate::config::version::Constraints;
use crate::diagnostic::Sources;
use crate::world::World;

mod images;
mod remote;
pub(crate) mod server;
mod signatures;
mod tokens;

/// A folder to work in, with a CLI configuration.
struct Room {
    folder: tempfile::TempDir,
    world: World,
    required: Requirements,
}

impl Room {
    fn new(cli: &str) -> Room {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        std::fs::create_dir(path.join("work")).expect("a folder");
        std::fs::create_dir(path.join("mirror")).expect("a folder");
        let text = cli.replace("MIRROR", &path.join("mirror").display().to_string());
        std::fs::write(path.join("cli.tfrc"), text).expect("written");
        let mut world = World::of_this_process();
        world.cwd = path.join("work");
        world.root = path.join("work");
        world.environment = [
            ("HOME", path.display().to_string()),
            ("TF_CLI_CONFIG_FILE", path.join("cli.tfrc").display().to_string()),
            ("XDG_DATA_DIRS", path.join("none").display().to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        Room { folder, world, required: Requirements::default() }
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    fn needs(mut self, source: &str, conditions: &str) -> Room {
        let conditions = match conditions {
            "" => Vec::new(),
            text => Constraints::parse(text).expect("conditions").0,
        };
        self.required.0.insert(source.parse::<Provider>().expect("an address"), conditions);
        self
    }

    /// Puts an unpacked package into the mirror.
    fn unpacked(self, source: &str, version: &str, content: &str) -> Room {
        let provider = source.parse::<Provider>().expect("an address");
        let version = strict(version);
        let folder =
            installed_folder(&self.path("mirror"), &provider, &version, &Platform::current());
        std::fs::create_dir_all(&folder).expect("a folder");
        let name = format!("terraform-provider-{}_v{version}", provider.kind);
        std::fs::write(folder.join(name), content).expect("written");
        self
    }

    /// Puts an archive into the mirror.
    fn packed(self, source: &str, version: &str, content: &str) -> Room {
        let provider = source.parse::<Provider>().expect("an address");
        let version = strict(version);
        let folder = self
            .path("mirror")
            .join(&*provider.host)
            .join(&*provider.namespace)
            .join(&*provider.kind);
        std::fs::create_dir_all(&folder).expect("a folder");
        let name = archive_name(&provider, &version, &Platform::current());
        std::fs::write(folder.join(name), archive(&provider, content)).expect("written");
        self
    }

    fn locks(&self) -> Locks {
        let (locks, problems) = Locks::read(&self.world, &Sources::default());
        assert!(problems.is_empty(), "{problems:?}");
        locks
    }

    fn settings(&self) -> Arc<Settings> {
        Settings::of(&self.world.clone())
    }

    /// Installs, writes the lock file, and tells everything that happened.
    fn install(&self, mode: Mode) -> String {
        let settings = self.settings();
        let (package_sources, problems) = PackageSources::of(&settings, &self.world);
        let told = Mutex::new(String::new());
        let tell = |event: Event| {
            told.lock().push_str(&(show(&event) + "\n"));
        };
        let plugins = Plugins::open(&self.world, &Sources::default()).expect("readable");
        let installer = Installer {
            package_sources: &package_sources,
            folder: providers_folder(&self.world),
            cache: settings.cache.clone(),
            trusts_cache: settings.cache_may_break_lock,
            platform: Platform::current(),
            overridden: plugins.overridden(),
            tell: &tell,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let ensure = installer.ensure(&plugins.locks, &self.required, mode);
        let outcome = runtime.expect("a runtime").block_on(ensure);
        let mut text = told.into_inner();
        for problem in problems.iter() {
            text.push_str(&format!("{problem}\n"));
        }
        for (provider, failure) in &outcome.failures {
            let problem = problems::failed(provider, failure, &self.required.0[provider]);
            text.push_str(&format!("! {problem}\n"));
        }
        for provider in &outcome.incomplete {
            text.push_str(&format!("incomplete: {}\n", provider.short()));
        }
        if outcome.failures.is_empty() {
            outcome.locks.write(&self.world).expect("written");
        }
        text.replace(&self.folder.path().display().to_string(), "DIR")
            .replace(&Platform::current().to_string(), "OS_ARCH")
    }

    /// Returns what is used for a provider now, and why.
    fn locate(&self, source: &str) -> String {
        let plugins = Plugins::open(&self.world, &Sources::default()).expect("readable");
        let located = plugins.locate(&source.parse::<Provider>().expect("an address"));
        let text = match located {
            Ok(Located { place, version, why }) => {
                let place = match place {
                    Place::Embedded => "embedded".to_owned(),
                    Place::Running(it) => format!("running at {}", it.address),
                    Place::Plugin(it) => match it.verify(&self.world) {
                        Ok(_) => it.executable.display().to_string(),
                        Err(why) => format!("refused: {why}"),
                    },
                };
                let version = version.map(|it| it.to_string()).unwrap_or_default();
                format!("{place} {version}: {why}")
            }
            Err(why) => format!("nothing: {why}"),
        };
        text.replace(&self.folder.path().display().to_string(), "DIR")
            .replace(&Platform::current().to_string(), "OS_ARCH")
    }
}

fn strict(version: &str) -> crate::config::version::Version {
    search::strict_version(version).expect("a version")
}

/// An archive with a program in it.
fn archive(provider: &Provider, content: &str) -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    writer.start_file(format!("terraform-provider-{}", provider.kind), options).expect("started");
    writer.write_all(content.as_bytes()).expect("written");
    writer.finish().expect("finished").into_inner()
}

fn show(event: &Event) -> String {
    match event {
        Event::BuiltIn(it) => format!("built in {}", it.short()),
        Event::Embedded(it, version) => format!("embedded {} {version}", it.short()),
        Event::Reusing(it) => format!("reusing {}", it.short()),
        Event::Finding(it, None) => format!("finding {}", it.short()),
        Event::Finding(it, Some(conditions)) => format!("finding {} {conditions}", it.short()),
        Event::AlreadyInstalled { provider, version, in_cache } => {
            format!(
                "there already {} {version}{}",
                provider.short(),
                if *in_cache { " in cache" } else { "" }
            )
        }
        Event::Linking(it, version) => format!("linking {} {version}", it.short()),
        Event::Installing { provider, version, to_cache } => {
            format!(
                "installing {} {version}{}",
                provider.short(),
                if *to_cache { " to cache" } else { "" }
            )
        }
        Event::Installed { provider, version, authentication } => {
            format!("installed {} {version} ({})", provider.short(), authentication.summary())
        }
        Event::WaitingForCache(_) => "waiting".to_owned(),
        Event::Signed => "signed".to_owned(),
        Event::Warning(it, words) => format!("warning {} {}", it.short(), words.join(" ")),
    }
}

#[track_caller]
fn check(told: &str, expected: Expect) {
    expected.assert_eq(told);
}

const MIRROR: &str = "provider_installation {\n  filesystem_mirror { path = \"MIRROR\" }\n}\n";

#[test]
fn the_newest_mirrored_version_that_fits_is_linked_and_locked() {
    let room = Room::new(MIRROR)
        .needs("acme/thing", ">= 1.0, < 2.0")
        .unpacked("acme/thing", "1.0.0", "old")
        .unpacked("acme/thing", "1.2.0", "new")
        .unpacked("acme/thing", "2.0.0", "newer");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding acme/thing >= 1.0.0, < 2.0.0
        installing acme/thing 1.2.0
        installed acme/thing 1.2.0 (unauthenticated)
        incomplete: acme/thing
    "#]],
    );
    check(
        &room.locks().text(),
        expect![[r##"
        # This file is maintained automatically by "tofu init".
        # Manual edits may be lost in future updates.

        provider "registry.opentofu.org/acme/thing" {
          version     = "1.2.0"
          constraints = ">= 1.0.0, < 2.0.0"
          hashes = [
            "h1:ZjtTTMjFXj7a5kKF5e/q3Tj5NLESdzSPsQlsikkiEUo=",
          ]
        }
    "##]],
    );
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        reusing acme/thing
        there already acme/thing 1.2.0
    "#]],
    );
    check(
        &room.locate("acme/thing"),
        expect![
            "DIR/work/.terraform/providers/registry.opentofu.org/acme/thing/1.2.0/OS_ARCH/terraform-provider-thing_v1.2.0 1.2.0: the lock file selects it, and it is installed"
        ],
    );
}

#[test]
fn an_archive_is_unpacked_and_its_program_may_be_run() {
    let room = Room::new(MIRROR).needs("acme/thing", "").packed("acme/thing", "1.0.0", "x");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding acme/thing
        installing acme/thing 1.0.0
        installed acme/thing 1.0.0 (unauthenticated)
        incomplete: acme/thing
    "#]],
    );
    let provider = "acme/thing".parse::<Provider>().expect("an address");
    let folder = installed_folder(
        &providers_folder(&room.world),
        &provider,
        &strict("1.0.0"),
        &Platform::current(),
    );
    let program = executable(&folder, &provider).expect("a program");
    assert_eq!(std::fs::read_to_string(&program).expect("readable"), "x");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&program).expect("there").permissions().mode() & 0o111, 0o111);
}

#[test]
fn what_is_locked_stays_until_an_upgrade() {
    let room = Room::new(MIRROR).needs("acme/thing", "").unpacked("acme/thing", "1.0.0", "a");
    room.install(Mode::Keep);
    let room = room.unpacked("acme/thing", "1.1.0", "b");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        reusing acme/thing
        there already acme/thing 1.0.0
    "#]],
    );
    check(
        &room.install(Mode::Upgrade),
        expect![[r#"
        finding acme/thing
        installing acme/thing 1.1.0
        installed acme/thing 1.1.0 (unauthenticated)
        incomplete: acme/thing
    "#]],
    );
    let room = room.needs("acme/thing", "< 1.1");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
            reusing acme/thing
            ! Failed to resolve provider packages: Could not resolve provider acme/thing: locked provider registry.opentofu.org/acme/thing 1.1.0 does not match configured version constraint < 1.1.0; must use entail init -upgrade to allow selection of new versions
        "#]],
    );
}

#[test]
fn a_package_with_another_checksum_is_not_installed() {
    let room = Room::new(MIRROR).needs("acme/thing", "").unpacked("acme/thing", "1.0.0", "a");
    room.install(Mode::Keep);
    let room = room.unpacked("acme/thing", "1.0.0", "tampered");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        reusing acme/thing
        installing acme/thing 1.0.0
        ! Failed to install provider: Error while installing acme/thing v1.0.0: the local package for registry.opentofu.org/acme/thing 1.0.0 doesn't match any of the checksums previously recorded in the dependency lock file (this might be because the available checksums are for packages targeting different platforms); for more information: https://opentofu.org/docs/language/files/dependency-lock/#checksum-verification
    "#]],
    );
    check(
        &room.locate("acme/thing"),
        expect![
            "refused: the cached package for registry.opentofu.org/acme/thing 1.0.0 (in .terraform/providers) does not match any of the checksums recorded in the dependency lock file, run entail init to ensure all providers are correctly installed 1.0.0: the lock file selects it, and it is installed"
        ],
    );
}

#[test]
fn an_embedded_provider_needs_no_plugin() {
    let room = Room::new(MIRROR).needs("hashicorp/null", "~> 3.0");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        embedded hashicorp/null 3.3.1
    "#]],
    );
    assert!(room.locks().0.is_empty());
    check(
        &room.locate("hashicorp/null"),
        expect!["embedded 3.3.1: it is part of the program, and no plugin is locked"],
    );
    let room = room.unpacked("hashicorp/null", "3.2.0", "x");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding hashicorp/null ~> 3.0
        installing hashicorp/null 3.2.0
        installed hashicorp/null 3.2.0 (unauthenticated)
        incomplete: hashicorp/null
    "#]],
    );
}

#[test]
fn a_locked_package_is_not_replaced_by_the_embedded_provider() {
    let room = Room::new(MIRROR).needs("hashicorp/null", "3.3.1").unpacked(
        "hashicorp/null",
        "3.3.1",
        "patched",
    );
    room.install(Mode::Keep);
    check(
        &room.locate("hashicorp/null"),
        expect![
            "DIR/work/.terraform/providers/registry.opentofu.org/hashicorp/null/3.3.1/OS_ARCH/terraform-provider-null_v3.3.1 3.3.1: the lock file selects it, and it is installed"
        ],
    );
    std::fs::remove_dir_all(room.path("work/.terraform")).expect("a folder");
    check(
        &room.locate("hashicorp/null"),
        expect![
            "nothing: there is no package for registry.opentofu.org/hashicorp/null 3.3.1 cached in .terraform/providers"
        ],
    );
    std::fs::remove_dir_all(room.path("mirror/registry.opentofu.org")).expect("a folder");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        reusing hashicorp/null
        ! Failed to query available provider packages: Could not retrieve the list of available versions for provider hashicorp/null: provider registry.opentofu.org/hashicorp/null was not found in any of the search locations

          - DIR/mirror

        Version 3.3.1 of this provider is part of the program. It is used without a download where the constraints allow it, the lock file has no checksums for the provider, and no -plugin-dir is given.
    "#]],
    );
    check(
        &room.install(Mode::Upgrade),
        expect![[r#"
        finding hashicorp/null 3.3.1
        ! Failed to query available provider packages: Could not retrieve the list of available versions for provider hashicorp/null: provider registry.opentofu.org/hashicorp/null was not found in any of the search locations

          - DIR/mirror

        Version 3.3.1 of this provider is part of the program. It is used without a download where the constraints allow it, the lock file has no checksums for the provider, and no -plugin-dir is given.
    "#]],
    );
}

#[test]
fn an_embedded_provider_that_does_not_fit_is_told_where_no_lock_is_checked() {
    let room = Room::new("").needs("hashicorp/null", "> 99.0").needs("hashicorp/random", "");
    let plugins = Plugins::open(&room.world, &Sources::default()).expect("readable");
    let told: Vec<String> =
        plugins.check_embedded(&room.required).iter().map(|it| it.to_string()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("version 3.3.1, which is part of the program, does not match the constraints \"> 99.0.0\""), "{told:?}");
}

#[test]
fn a_folder_of_a_development_override_that_is_not_there_is_named() {
    let room = Room::new(
        "provider_installation {\n  dev_overrides {\n    \"acme/thing\" = \"/nowhere/at/all\"\n  }\n}\n",
    );
    check(
        &room.locate("acme/thing"),
        expect![
            "nothing: could not read package directory /nowhere/at/all: No such file or directory (os error 2)"
        ],
    );
}

#[test]
fn an_embedded_provider_that_does_not_fit_is_named_where_nothing_else_does() {
    let room = Room::new(MIRROR).needs("hashicorp/null", "< 3.0");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
            finding hashicorp/null < 3.0.0
            ! Failed to query available provider packages: Could not retrieve the list of available versions for provider hashicorp/null: provider registry.opentofu.org/hashicorp/null was not found in any of the search locations

              - DIR/mirror

            Version 3.3.1 of this provider is part of the program. It is used without a download where the constraints allow it, the lock file has no checksums for the provider, and no -plugin-dir is given.
        "#]],
    );
}

#[test]
fn no_version_that_fits_and_no_package_for_this_platform() {
    let room = Room::new(MIRROR).needs("acme/thing", "> 5").unpacked("acme/thing", "1.0.0", "a");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
            finding acme/thing > 5.0.0
            ! Failed to resolve provider packages: Could not resolve provider acme/thing: no available releases match the given constraints > 5.0.0

            There is only version 1.0.0. Allow it, or add a place that has others to the CLI configuration.
        "#]],
    );
    let room = Room::new(MIRROR).needs("acme/thing", "");
    std::fs::create_dir_all(room.path("mirror/registry.opentofu.org/acme/thing/1.0.0/plan9_mips"))
        .expect("a folder");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding acme/thing
        ! Incompatible provider version: Provider registry.opentofu.org/acme/thing v1.0.0 does not have a package available for your current platform, OS_ARCH.

        Not all providers are available for all platforms. Other versions of this provider may have different platforms supported.
    "#]],
    );
}

#[test]
fn patterns_decide_which_mirror_is_asked() {
    let cli = "provider_installation {\n  filesystem_mirror {\n    path = \"MIRROR\"\n    exclude = [\"acme/*\"]\n  }\n}\n";
    let room = Room::new(cli).needs("acme/thing", "").unpacked("acme/thing", "1.0.0", "a");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding acme/thing
        ! Failed to query available provider packages: Could not retrieve the list of available versions for provider acme/thing: provider registry.opentofu.org/acme/thing was not found in any of the search locations

        The CLI configuration names no place for it: add a filesystem_mirror, network_mirror or direct block that includes it.
    "#]],
    );
}

#[test]
fn a_shared_cache_is_filled_once_and_linked() {
    let cli = format!("plugin_cache_dir = \"MIRROR/../cache\"\n{MIRROR}");
    let room = Room::new(&cli).needs("acme/thing", "").packed("acme/thing", "1.0.0", "x");
    std::fs::create_dir(room.path("cache")).expect("a folder");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        finding acme/thing
        installing acme/thing 1.0.0 to cache
        installed acme/thing 1.0.0 (unauthenticated)
        linking acme/thing 1.0.0
        incomplete: acme/thing
    "#]],
    );
    std::fs::remove_dir_all(room.path("work/.terraform")).expect("removed");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
        reusing acme/thing
        there already acme/thing 1.0.0 in cache
        linking acme/thing 1.0.0
    "#]],
    );
}

#[test]
fn development_overrides_and_running_plugins_come_first() {
    let cli = "provider_installation {\n  dev_overrides { \"acme/thing\" = \"MIRROR\" }\n  direct {}\n}\n";
    let mut room = Room::new(cli).needs("acme/thing", "> 9");
    std::fs::write(room.path("mirror/terraform-provider-thing"), "x").expect("written");
    assert_eq!(room.install(Mode::Keep), "");
    check(
        &room.locate("acme/thing"),
        expect![
            "DIR/mirror/terraform-provider-thing : dev_overrides in the CLI configuration name DIR/mirror"
        ],
    );
    let running = r#"{"acme/thing":{"Protocol":"grpc","ProtocolVersion":6,"Pid":1,"Test":true,"Addr":{"Network":"unix","String":"/tmp/socket"}}}"#;
    room.world.environment.insert("TF_REATTACH_PROVIDERS".into(), running.into());
    check(
        &room.locate("acme/thing"),
        expect!["running at /tmp/socket : TF_REATTACH_PROVIDERS says where it runs"],
    );
}

#[test]
fn built_in_providers_take_no_conditions() {
    let room = Room::new(MIRROR)
        .needs("terraform.io/builtin/terraform", "> 1")
        .needs("terraform.io/builtin/other", "");
    check(
        &room.install(Mode::Keep),
        expect![[r#"
            ! Invalid dependency on built-in provider: Cannot use terraform.io/builtin/other: this entail release has no built-in provider named "other".
            ! Invalid dependency on built-in provider: Cannot use terraform.io/builtin/terraform: built-in providers do not support explicit version constraints.
        "#]],
    );
}

#[test]
fn an_archive_cannot_write_outside_its_folder() {
    use std::io::Write;
    let room = Room::new(MIRROR);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("../evil", zip::write::SimpleFileOptions::default()).expect("started");
    writer.write_all(b"x").expect("written");
    std::fs::write(room.path("a.zip"), writer.finish().expect("finished").into_inner())
        .expect("written");
    let result = package::install_archive(&room.path("a.zip"), &room.path("out/here"), "it", &[]);
    let told = result.expect_err("refused");
    let expected = "the entry \"../evil\" leads out of the package";
    assert!(told.words().ends_with(expected), "{told}");
    assert!(!room.path("out/evil").exists() && !Path::new(&room.path("evil")).exists());
}

/// Writes an archive with a program of some mode, and returns its path.
fn packed_with(room: &Room, mode: u32, content: &[u8]) -> PathBuf {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(mode);
    writer.start_file("terraform-provider-thing", options).expect("started");
    writer.write_all(content).expect("written");
    let bytes = writer.finish().expect("finished").into_inner();
    std::fs::write(room.path("a.zip"), bytes).expect("written");
    room.path("a.zip")
}

#[test]
fn only_the_owner_may_write_what_is_installed() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new(MIRROR);
    for (mode, expected) in [(0o777, 0o755), (0o666, 0o644), (0o500, 0o500)] {
        let (archive, target) = (packed_with(&room, mode, b"x"), room.path(&format!("{mode:o}")));
        package::install_archive(&archive, &target, "it", &[]).expect("installed");
        let program = target.join("terraform-provider-thing");
        let about = std::fs::metadata(program).expect("there");
        assert_eq!(about.permissions().mode() & 0o777, expected, "{mode:o}");
    }
}

#[test]
fn an_archive_unpacks_to_no_more_than_the_bound() {
    let room = Room::new(MIRROR);
    let archive = packed_with(&room, 0o755, &[0; 4096]);
    let unpack = |target: &str, most: u64| {
        package::unpack(&archive, &room.path(target), unpacked::Budget::of(most))
    };
    let told = unpack("less", 4095).expect_err("refused").to_string();
    assert_eq!(told, "its files have more than 4095 bytes together, the most allowed");
    assert!(!room.path("less").exists());
    unpack("enough", 4096).expect("unpacked");
}

#[test]
fn what_is_required_must_be_locked_and_installed() {
    let room = Room::new(MIRROR)
        .needs("acme/thing", "> 1.0")
        .needs("hashicorp/null", ">= 4")
        .needs("hashicorp/random", "");
    let told = || -> String {
        let plugins = Plugins::open(&room.world, &Sources::default()).expect("readable");
        plugins.check(&room.required).iter().map(|it| format!("{it}\n")).collect()
    };
    check(
        &told(),
        expect![[r#"
            Inconsistent dependency lock file: The following dependency selections recorded in the lock file are inconsistent with the current configuration:
              - provider registry.opentofu.org/acme/thing: required by this configuration but no version is selected
              - provider registry.opentofu.org/hashicorp/null: required by this configuration but no version is selected (the version 3.3.1 that is part of the program does not match the constraints ">= 4.0.0")

            To make the initial dependency selections that will initialize the dependency lock file, run:
              entail init
        "#]],
    );
    std::fs::write(
        room.path("work/.terraform.lock.hcl"),
        "provider \"registry.opentofu.org/acme/thing\" {\n  version = \"1.0.0\"\n}\n",
    )
    .expect("written");
    check(
        &told(),
        expect![[r#"
            Required plugins are not installed: The installed provider plugins are not consistent with the packages selected in the dependency lock file:
              - registry.opentofu.org/acme/thing: there is no package for registry.opentofu.org/acme/thing 1.0.0 cached in .terraform/providers

            Plugins do the work on each kind of infrastructure. To download the plugins required for this configuration, run:
              entail init
        "#]],
    );
}

#[test]
fn a_lock_file_is_read_strictly() {
    let told = |text: &str| -> String {
        let (_, problems) = Locks::parse(lock::FILE, text, &Sources::default());
        problems.iter().map(|it| format!("{}\n", it.summary)).collect()
    };
    let block = |inner: &str| format!("provider \"registry.opentofu.org/a/b\" {{\n{inner}\n}}\n");
    assert_eq!(told(&block("version = \"1.0.0\"")), "");
    assert_eq!(told(&block("version = \"v1.0\"")), "Invalid provider version number\n");
    assert_eq!(
        told(&block("version = \"1.0.0\"\nconstraints = \">=1\"")),
        "Invalid provider version constraints\n"
    );
    assert_eq!(told(&block("version = \"1.0.0\"\nhashes = []")), "Invalid provider hash set\n");
    assert_eq!(
        told(&block("version = \"1.0.0\"\nhashes = [\"x\"]")),
        "Invalid provider hash string\n"
    );
    assert_eq!(told(&block("version = \"1.0.0\"").repeat(2)), "Duplicate provider lock\n");
    assert_eq!(
        told("provider \"a/b\" {\n  version = \"1.0.0\"\n}\n"),
        "Non-normalized provider source address\n"
    );
    assert_eq!(
        told("provider \"terraform.io/builtin/terraform\" {\n  version = \"1.0.0\"\n}\n"),
        "Invalid provider source address\n"
    );
    assert_eq!(told("module \"x\" {}\n"), "Dependency locks for modules are not yet supported\n");
}

#[test]
fn entries_of_the_other_registry_keep_their_version() {
    let text = "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n  hashes = [\n    \"h1:x\",\n  ]\n}\n";
    let (mut locks, _) = Locks::parse(lock::FILE, text, &Sources::default());
    assert_eq!(locks.adopt().len(), 1);
    let new = &locks.0[&Provider::implied("null")];
    assert_eq!((new.version.to_string(), new.hashes.len()), ("3.2.1".to_owned(), 0));
    assert_eq!(locks.adopt(), []);
}
