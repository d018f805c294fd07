//! The commands that write packages of modules and plugins.

use super::registry;
use super::scenarios::{Scenario, USUAL};
use crate::support::faults::Fault;
use crate::support::place::Place;

pub const PACKAGES: &[Scenario] = &[
    Scenario {
        command: "get",
        shown: &[(Fault::Kill, "rename .terraform/modules/m")],
        files: &[".terraform/modules/modules.json", ".terraform/modules/m/*"],
        prepare: with_module,
        next: &["get"],
        ..USUAL
    },
    Scenario {
        command: "get -update",
        shown: &[
            (Fault::Kill, "rename .terraform/modules/m"),
            (Fault::Broken, "unlinkat .terraform/modules/.entail-"),
        ],
        files: &[".terraform/modules/modules.json", ".terraform/modules/m/*"],
        prepare: |it| {
            with_module(it);
            it.succeed(&["get"]);
            it.write("package/more.tf", "locals {\n  newer = 1\n}\n");
        },
        next: &["get -update"],
        ..USUAL
    },
    Scenario {
        command: "init -plugin-dir=mirror",
        files: &[".terraform.lock.hcl"],
        prepare: with_provider,
        next: &["init -plugin-dir=mirror"],
        // Where there can be no link, there is a copy.
        leaves: &[".terraform/providers/example.com/"],
        is_done: |it| it.run(&["providers"]).1 == Some(0),
        ..USUAL
    },
    Scenario {
        command: "providers lock -fs-mirror=mirror",
        files: &[".terraform.lock.hcl"],
        prepare: with_provider,
        next: &["providers lock -fs-mirror=mirror"],
        ..USUAL
    },
    Scenario {
        command: "init",
        about: "a registry's plugin",
        shown: &[(Fault::Kill, "unlink"), (Fault::Broken, "unlinkat .terraform/providers/")],
        files: &[".terraform.lock.hcl"],
        prepare: with_registry,
        next: &["init"],
        is_done: |it| it.run(&["providers"]).1 == Some(0),
        ..USUAL
    },
    Scenario {
        command: "providers lock",
        about: "a registry's plugin",
        files: &[".terraform.lock.hcl"],
        prepare: with_registry,
        next: &["providers lock"],
        ..USUAL
    },
    Scenario {
        command: "providers mirror copied",
        shown: &[
            (
                Fault::Unreadable,
                "statx copied/registry.opentofu.org/acme/thing/terraform-provider-",
            ),
            (Fault::Kill, "write copied/registry.opentofu.org/acme/thing/.entail-"),
        ],
        files: &[
            "copied/registry.opentofu.org/acme/thing/index.json",
            "copied/registry.opentofu.org/acme/thing/1.0.0.json",
        ],
        is_done: |it| it.path().join(ARCHIVE.replace("PLATFORM", &platform())).exists(),
        prepare: with_registry,
        next: &["providers mirror copied"],
        ..USUAL
    },
];

/// A package that only has to lie where it is looked for.
const PACKAGE: &str = "mirror/example.com/acme/thing/1.0.0/PLATFORM/terraform-provider-thing";

/// A package that comes from a registry.
const ARCHIVE: &str =
    "copied/registry.opentofu.org/acme/thing/terraform-provider-thing_1.0.0_PLATFORM.zip";

fn platform() -> String {
    entail::install::Platform::current().to_string()
}

/// Adds a module that is copied to its place, as from the web.
fn with_module(place: &Place) {
    place.write("package/main.tf", "locals {\n  one = 1\n}\n");
    place.write("package/inner/more.tf", "locals {\n  two = 2\n}\n");
    let from = place.path().join("package").display().to_string();
    place.add(&format!("module \"m\" {{\n  source = \"file::{from}\"\n}}\n"));
}

fn with_provider(place: &Place) {
    place.write(&PACKAGE.replace("PLATFORM", &platform()), "a program");
    place.add("terraform {\n  required_providers {\n    thing = {\n      source = \"example.com/acme/thing\"\n    }\n  }\n}\n");
}

fn with_registry(place: &Place) {
    place.write("home/cli.tfrc", &registry::settings());
    place.add("terraform {\n  required_providers {\n    thing = {\n      source = \"registry.opentofu.org/acme/thing\"\n    }\n  }\n}\n");
}
