//! Addresses of `-target` and `-exclude`, as users write them: read, printed, refused.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::address::{Mode, Module, Provider, ProviderConfig, ProviderInstance, ResourceName};

#[track_caller]
fn check<T: std::str::FromStr<Err = Diagnostic> + std::fmt::Display>(
    texts: &[&str],
    expected: Expect,
) {
    let show = |text: &&str| match text.parse::<T>() {
        Ok(it) => format!("{text}  ->  {it}\n"),
        Err(problem) => format!("{text}  ->  {problem}\n"),
    };
    expected.assert_eq(&texts.iter().map(show).collect::<String>());
}

#[test]
fn addresses_are_read_as_flags_give_them() {
    check::<Target>(
        &[
            "module.m",
            " module . m [ 0 ] . module.n[\"x\"] ",
            "a.b",
            "a.b[00]",
            "a.b[1e0] # c",
            "a.b[\"\"] // c",
            "a.b[\"$${x}\\n\"]",
            "module.m[1].data.t.n[\"k\"]",
            "ephemeral.t.n",
            "resource.t.n",
            "module.m.resource.t.n[0]",
            "resource.t",
            "resource.t[0]",
            "data.data.data",
            "var.x",
            "local.x",
            "self.x",
            "provider.aws",
        ],
        expect![[r#"
            module.m  ->  module.m
             module . m [ 0 ] . module.n["x"]   ->  module.m[0].module.n["x"]
            a.b  ->  a.b
            a.b[00]  ->  a.b[0]
            a.b[1e0] # c  ->  a.b[1]
            a.b[""] // c  ->  a.b[""]
            a.b["$${x}\n"]  ->  a.b["$${x}\n"]
            module.m[1].data.t.n["k"]  ->  module.m[1].data.t.n["k"]
            ephemeral.t.n  ->  ephemeral.t.n
            resource.t.n  ->  t.n
            module.m.resource.t.n[0]  ->  module.m.t.n[0]
            resource.t  ->  resource.t
            resource.t[0]  ->  resource.t[0]
            data.data.data  ->  data.data.data
            var.x  ->  var.x
            local.x  ->  local.x
            self.x  ->  self.x
            provider.aws  ->  provider.aws
        "#]],
    );
}

#[test]
fn malformed_addresses_say_what_is_missing() {
    check::<Target>(
        &[
            "",
            "1a.b",
            "\"a.b\"",
            ".a",
            "aws_instance",
            "data.x",
            "module.m.x",
            "data[0]",
            "module.m.data",
            "module",
            "module.m.module",
            "module[0]",
            "module.",
            "a.",
            "a.0",
            "b.[",
            "module.m[0][1]",
            "data",
            "module.m.data.x",
            "data[\"x\"].y",
            "ephemeral[0].x",
            "a[\"x\"]",
            "a[0].b",
            "data.x[0]",
            "a.b.c",
            "data.a.b.c",
            "managed.a.b",
            "a.b[0][1]",
            "a.b[0].id",
            "a.b[-1]",
            "a.b[each.key]",
            "a.b[1+1]",
            "a.b[*]",
            "a.*",
            "a.b[\"${x}\"]",
            "a.b, c.d",
            "a.b c.d",
            "a.b[1.5]",
            "a.b[9223372036854775808]",
            "module.m[1.5].a.b",
            "a'b",
        ],
        expect![[r#"
              ->  Variable name required: Must begin with a variable name.
            1a.b  ->  Variable name required: Must begin with a variable name.
            "a.b"  ->  Variable name required: Must begin with a variable name.
            .a  ->  Variable name required: Must begin with a variable name.
            aws_instance  ->  Invalid address: Resource specification must include a resource type and name.
            data.x  ->  Invalid address: Resource specification must include a resource type and name.
            module.m.x  ->  Invalid address: Resource specification must include a resource type and name.
            data[0]  ->  Invalid address: Resource specification must include a resource type and name.
            module.m.data  ->  Invalid address: Resource specification must include a resource type and name.
            module  ->  Invalid address operator: Prefix "module." must be followed by a module name.
            module.m.module  ->  Invalid address operator: Prefix "module." must be followed by a module name.
            module[0]  ->  Invalid address operator: Prefix "module." must be followed by a module name.
            module.  ->  Attribute name required: Dot must be followed by attribute name.
            a.  ->  Attribute name required: Dot must be followed by attribute name.
            a.0  ->  Attribute name required: Dot must be followed by attribute name.
            b.[  ->  Attribute name required: Dot must be followed by attribute name.
            module.m[0][1]  ->  Invalid address operator: Module address prefix must be followed by dot and then a name.
            data  ->  Invalid address: Resource specification must include a resource type and name.
            module.m.data.x  ->  Invalid address: Resource specification must include a resource type and name.
            data["x"].y  ->  Invalid address: A data source name is required.
            ephemeral[0].x  ->  Invalid address: An ephemeral resource name is required.
            a["x"]  ->  Invalid address: A resource name is required.
            a[0].b  ->  Invalid address: A resource name is required.
            data.x[0]  ->  Invalid address: A resource name is required.
            a.b.c  ->  Invalid address: Resource instance key must be given in square brackets.
            data.a.b.c  ->  Invalid address: Resource instance key must be given in square brackets.
            managed.a.b  ->  Invalid address: Resource instance key must be given in square brackets.
            a.b[0][1]  ->  Invalid address: Unexpected extra operators after address.
            a.b[0].id  ->  Invalid address: Unexpected extra operators after address.
            a.b[-1]  ->  Index value required: Index brackets must contain either a literal number or a literal string.
            a.b[each.key]  ->  Index value required: Index brackets must contain either a literal number or a literal string.
            a.b[1+1]  ->  Unclosed index brackets: Index key must be followed by a closing bracket.
            a.b[*]  ->  Attribute name required: Splat expressions ([*]) may not be used here.
            a.*  ->  Attribute name required: Splat expressions (.*) may not be used here.
            a.b["${x}"]  ->  Invalid string literal: Template sequences are not allowed in this string. To include a literal "$", double it (as "$$") to escape it.
            a.b, c.d  ->  Invalid character: Expected an attribute access or an index operator.
            a.b c.d  ->  Invalid character: Expected an attribute access or an index operator.
            a.b[1.5]  ->  Invalid address: Invalid resource instance key: value must be a whole number, between -9223372036854775808 and 9223372036854775807.
            a.b[9223372036854775808]  ->  Invalid address: Invalid resource instance key: value must be a whole number, between -9223372036854775808 and 9223372036854775807.
            module.m[1.5].a.b  ->  Invalid address operator: Invalid module index: value must be a whole number, between -9223372036854775808 and 9223372036854775807.
            a'b  ->  Invalid character: Single quotes are not valid. Use double quotes (") to enclose strings.
        "#]],
    );
    let problem = "a[\"x\"].b".parse::<Target>().expect_err("no name");
    assert_eq!(
        invalid_flag("exclude", "a[\"$x${y}\\\"]", &problem).to_string(),
        "Invalid exclude \"a[\\\"$x${y}\\\\\\\"]\": A resource name is required."
    );
}

#[test]
fn files_of_addresses_may_be_commented() {
    let text = "\u{feff}a.b\r\n\r\n  # c\n// d\n  module.m[\"x\"] # e\n\t\na.\n";
    let lines = parse_target_lines(text);
    let show = |it: &(usize, Result<Target, Diagnostic>)| match &it.1 {
        Ok(target) => format!("{}: {target}\n", it.0),
        Err(problem) => format!("{}: {problem}\n", it.0),
    };
    expect![[r#"
        1: a.b
        5: module.m["x"]
        7: Attribute name required: Dot must be followed by attribute name.
    "#]]
    .assert_eq(&lines.iter().map(show).collect::<String>());
}

#[test]
fn module_steps_without_key_stand_for_every_instance() {
    let contains = |target: &str, instance: &str| {
        let target: Target = target.parse().expect("valid");
        target.contains(&instance.parse().expect("valid"))
    };
    for (target, instance, expected) in [
        ("module.m", "module.m[\"x\"].module.n[0].t.a[1]", true),
        ("module.m", "module.mm.t.a", false),
        ("module.m", "t.a", false),
        ("module.m.module.n", "module.m[\"x\"].module.n[0].t.a", true),
        ("module.m.module.n", "module.m[\"x\"].t.a", false),
        ("module.m[0]", "module.m[0].t.a", true),
        ("module.m[0]", "module.m[1].t.a", false),
        ("module.m[0]", "module.m[\"0\"].t.a", false),
        ("module.m[0]", "module.m.t.a", false),
        ("module.m.t.a", "module.m[\"x\"].t.a[0]", true),
        ("module.m.t.a", "module.m[\"x\"].module.n.t.a", false),
        ("module.m.t.a[0]", "module.m[\"x\"].t.a[0]", true),
        ("module.m.t.a[0]", "module.m[\"x\"].t.a[1]", false),
        ("module.m[\"y\"].t.a", "module.m[\"x\"].t.a", false),
        ("t.a", "t.a", true),
        ("t.a", "t.a[\"k\"]", true),
        ("t.a", "data.t.a", false),
        ("t.a[\"0\"]", "t.a[0]", false),
        ("t.a[0]", "t.a", false),
    ] {
        assert_eq!(contains(target, instance), expected, "{target} contains {instance}");
    }
    let target: Target = "module.m.t.a".parse().expect("valid");
    assert!(target.contains_resource(&"module.m[0].t.a".parse().expect("valid")));
    assert!(!target.contains_module(&"module.m".parse().expect("valid")));
    assert!(target.concerns(&"module.m.t.a".parse().expect("valid")));
    assert!(!target.concerns(&"module.m.t.b".parse().expect("valid")));
    let target: Target = "module.m[3]".parse().expect("valid");
    assert!(target.contains_module(&"module.m[3].module.n".parse().expect("valid")));
    assert!(target.concerns(&"module.m.module.n.t.a".parse().expect("valid")));
    assert!(!target.concerns(&"t.a".parse().expect("valid")));
}

#[test]
fn providers_are_read_as_sources_and_as_state_records_them() {
    check::<Provider>(
        &[
            "null",
            "hashicorp/Null",
            "terraform.io/builtin/terraform",
            "Example.com:443/a/b",
            "localhost:8080/a/b",
            "a//b",
            "a/b/c/d",
            "",
            "a_b",
            "a.b/c",
            "a--b",
            "-a",
            "x/a/b",
            "x..y/a/b",
            "x.y:/a/b",
            "x.y:70000/a/b",
            "-/aws",
            "hashicorp/terraform-provider-aws",
        ],
        expect![[r#"
            null  ->  registry.opentofu.org/hashicorp/null
            hashicorp/Null  ->  registry.opentofu.org/hashicorp/null
            terraform.io/builtin/terraform  ->  terraform.io/builtin/terraform
            Example.com:443/a/b  ->  example.com/a/b
            localhost:8080/a/b  ->  localhost:8080/a/b
            a//b  ->  Invalid provider source string: The "source" attribute must be in the format "[hostname/][namespace/]name".
            a/b/c/d  ->  Invalid provider source string: The "source" attribute must be in the format "[hostname/][namespace/]name".
              ->  Invalid provider source string: The "source" attribute must be in the format "[hostname/][namespace/]name".
            a_b  ->  Invalid provider type: Invalid provider type "a_b" in source "a_b": must contain only letters, digits, and dashes, and may not use leading or trailing dashes.
            a.b/c  ->  Invalid provider namespace: Invalid provider namespace "a.b" in source "a.b/c": dots are not allowed.
            a--b  ->  Invalid provider type: Invalid provider type "a--b" in source "a--b": cannot use multiple consecutive dashes.
            -a  ->  Invalid provider type: Invalid provider type "-a" in source "-a": must contain only letters, digits, and dashes, and may not use leading or trailing dashes.
            x/a/b  ->  x/a/b
            x..y/a/b  ->  Invalid provider source hostname: Invalid provider source hostname "x..y" in source "x..y/a/b": it has an empty label.
            x.y:/a/b  ->  Invalid provider source hostname: Invalid provider source hostname "x.y:" in source "x.y:/a/b": its port has other characters than digits.
            x.y:70000/a/b  ->  Invalid provider source hostname: Invalid provider source hostname "x.y:70000" in source "x.y:70000/a/b": its port is greater than 65535.
            -/aws  ->  registry.opentofu.org/-/aws
            hashicorp/terraform-provider-aws  ->  Invalid provider type: Provider source "hashicorp/terraform-provider-aws" has a type with the prefix "terraform-", which belongs to names of repositories, not of providers. Did you mean "hashicorp/aws"?
        "#]],
    );
    check::<ProviderInstance>(
        &[
            "provider[\"hashicorp/aws\"]",
            "module.m.module.n.provider[\"registry.opentofu.org/hashicorp/aws\"].west[\"k\"]",
            "module.m.provider[\"registry.opentofu.org/hashicorp/aws\"].west[0]",
            "provider.aws",
            "provider[0]",
            "module.m[0].provider[\"aws\"]",
            "provider[\"aws\"][\"k\"]",
            "provider[\"aws\"].a.b",
            "provider[\"aws\"].a[0].b",
            "aws.west",
        ],
        expect![[r#"
            provider["hashicorp/aws"]  ->  provider["registry.opentofu.org/hashicorp/aws"]
            module.m.module.n.provider["registry.opentofu.org/hashicorp/aws"].west["k"]  ->  module.m.module.n.provider["registry.opentofu.org/hashicorp/aws"].west["k"]
            module.m.provider["registry.opentofu.org/hashicorp/aws"].west[0]  ->  module.m.provider["registry.opentofu.org/hashicorp/aws"].west[0]
            provider.aws  ->  Invalid provider configuration address: The prefix "provider." must be followed by a provider type name.
            provider[0]  ->  Invalid provider configuration address: The prefix "provider." must be followed by a provider type name.
            module.m[0].provider["aws"]  ->  Invalid provider configuration address: A provider configuration must not appear in a module instance that uses count or for_each.
            provider["aws"]["k"]  ->  Invalid provider configuration address: Provider type name must be followed by a configuration alias name.
            provider["aws"].a.b  ->  Invalid provider configuration address: A provider configuration alias can be followed only by an instance key in brackets.
            provider["aws"].a[0].b  ->  Invalid provider configuration address: Extraneous operators after provider configuration reference.
            aws.west  ->  Invalid provider configuration address: Provider address must begin with "provider.", followed by a provider type name.
        "#]],
    );
    check::<ProviderConfig>(
        &["provider[\"hashicorp/aws\"].a", "provider[\"hashicorp/aws\"].a[0]"],
        expect![[r#"
            provider["hashicorp/aws"].a  ->  provider["registry.opentofu.org/hashicorp/aws"].a
            provider["hashicorp/aws"].a[0]  ->  Invalid provider configuration address: A provider address must not include an instance key.
        "#]],
    );
}

#[test]
fn modules_and_blocks_have_no_more_than_they_need() {
    check::<ModuleInstance>(
        &["", "module.a[0].module.b", "a.b", "module.a.b"],
        expect![[r#"
              ->  
            module.a[0].module.b  ->  module.a[0].module.b
            a.b  ->  Invalid module instance address: A module instance address must begin with "module.".
            module.a.b  ->  Invalid module instance address: The module instance address is followed by additional invalid content.
        "#]],
    );
    check::<Module>(
        &["", "module.a.module.b", "module.a[0]"],
        expect![[r#"
              ->  
            module.a.module.b  ->  module.a.module.b
            module.a[0]  ->  Invalid module instance address: A module address without instance keys is required here.
        "#]],
    );
    check::<ConfigResource>(
        &["module.a.t.b", "module.a[0].t.b", "t.b[0]", "module.a"],
        expect![[r#"
            module.a.t.b  ->  module.a.t.b
            module.a[0].t.b  ->  Module instance address with keys is not allowed: Module address cannot be a module instance (e.g. "module.a[0]"), it must be a module instead (e.g. "module.a").
            t.b[0]  ->  Invalid address: A resource address is required. This instance key identifies a specific resource instance, which is not expected here.
            module.a  ->  Invalid address: A resource address is required here. The module path must be followed by a resource specification.
        "#]],
    );
    check::<Instance>(
        &["t.b", "module.a"],
        expect![[r#"
            t.b  ->  t.b
            module.a  ->  Invalid address: A resource instance address is required here. The module path must be followed by a resource instance specification.
        "#]],
    );
}

fn key() -> impl Strategy<Value = InstanceKey> {
    prop_oneof![
        Just(InstanceKey::None),
        any::<u32>().prop_map(|it| InstanceKey::Int(it.into())),
        any::<String>().prop_map(|it| InstanceKey::Str(crate::value::nfc(&it))),
    ]
}

fn name() -> impl Strategy<Value = Str> {
    "[a-z_é][a-z0-9_é-]{0,8}".prop_map(|it| crate::value::nfc(&it))
}

fn instance() -> impl Strategy<Value = Instance> {
    let mode = prop_oneof![Just(Mode::Managed), Just(Mode::Data), Just(Mode::Ephemeral)];
    let kind = name().prop_filter("has a meaning of its own", |it| {
        !["module", "data", "ephemeral", "resource"].contains(&&**it)
    });
    (proptest::collection::vec((name(), key()), 0..4), mode, kind, name(), key()).prop_map(
        |(module, mode, kind, name, key)| Instance {
            module: ModuleInstance(module.into()),
            resource: ResourceName { mode, kind, name },
            key,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_back(instance in instance(), alias in proptest::option::of(name())) {
        prop_assert_eq!(instance.to_string().parse::<Instance>(), Ok(instance.clone()));
        prop_assert_eq!(instance.of().to_string().parse::<Resource>(), Ok(instance.of()));
        prop_assert_eq!(instance.config().to_string().parse::<ConfigResource>(), Ok(instance.config()));
        prop_assert_eq!(instance.module.to_string().parse::<ModuleInstance>(), Ok(instance.module.clone()));
        let key = if alias.is_some() { instance.key.clone() } else { InstanceKey::None };
        let config = ProviderConfig { module: instance.module.module(), provider: Provider::implied("null"), alias };
        let provider = ProviderInstance { config, key };
        prop_assert_eq!(provider.to_string().parse::<ProviderInstance>(), Ok(provider));
    }

    #[test]
    fn every_target_contains_what_it_names(instance in instance()) {
        let target: Target = instance.to_string().parse().expect("printed");
        prop_assert!(target.contains(&instance));
        prop_assert!(Target::Module(instance.module.clone()).contains(&instance));
        prop_assert!(target.concerns(&instance.config()));
    }
}
