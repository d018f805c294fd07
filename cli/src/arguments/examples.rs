//! Command lines that help shows: what people do most with a command.

/// A command, and for each example the command line and what it does. Tests read every line as it would be read from a shell.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "init",
        &[
            ("init", "Install what the configuration needs"),
            ("init -upgrade", "Take newer versions where the constraints allow them"),
            ("init -backend-config=prod.hcl -reconfigure", "Use another place for the state"),
        ],
    ),
    (
        "plan",
        &[
            ("plan", "Show what would be done"),
            ("plan -out=run.plan", "Save the plan, so that exactly this is applied"),
            ("plan -exclude=module.db", "Leave out a module and what needs it"),
            ("plan -replace='aws_instance.web[0]'", "Replace one instance"),
            ("plan -var image_tag=2 -var-file=prod.tfvars", "Plan with these variables"),
        ],
    ),
    (
        "apply",
        &[
            ("apply", "Plan, ask, and carry the plan out"),
            ("apply run.plan", "Carry out a saved plan"),
            ("apply -auto-approve", "Ask nothing"),
            ("apply -refresh-only", "Record what was changed outside"),
        ],
    ),
    (
        "destroy",
        &[
            ("destroy", "Destroy everything, after a question"),
            ("destroy -target=module.lab", "Destroy a module, and what needs it"),
        ],
    ),
    (
        "why",
        &[
            ("why aws_instance.web", "Say why the object is changed as the plan says"),
            ("why aws_instance.web -not=update", "Say why it is not updated"),
            ("why -order", "Say what the longest way through the run is"),
            ("why aws_instance.web -plan=run.plan", "Ask a saved plan"),
            (
                "why aws_s3_bucket.logs -policy=buckets.private",
                "Say why a policy says what it says",
            ),
        ],
    ),
    ("whatif", &[("whatif -exclude=module.db", "Say what a filter would leave out")]),
    (
        "impact",
        &[
            ("impact var.image_tag", "Say what a change of the variable could touch"),
            ("impact main.tf:12 -depth=2", "The same of what stands in this line, two steps far"),
            ("impact aws_instance.web -reverse", "Say what it rests on"),
        ],
    ),
    (
        "diff",
        &[
            ("diff a.plan b.plan", "Compare two saved plans"),
            ("diff -- -var image_tag=2", "Compare the plan with that under another flag"),
            ("diff -since=main", "Compare with the plan of another commit"),
        ],
    ),
    (
        "minimal",
        &[
            ("minimal -change=aws_instance.web", "Find the fewest -target that bring this change"),
            ("minimal -keep=module.db", "Find the fewest -exclude that keep this untouched"),
        ],
    ),
    ("unused", &[("unused", "List what is declared and read by nothing")]),
    (
        "query",
        &[("query 'resource(b, \"aws_s3_bucket\"), b.acl == a'", "List buckets and their `acl`")],
    ),
    (
        "facts",
        &[
            ("facts -catalogue", "List the relations"),
            ("facts selected", "List the rows of one relation"),
        ],
    ),
    ("import", &[("import aws_instance.web i-0123456789", "Record an object that exists already")]),
    (
        "output",
        &[
            ("output", "Show all outputs"),
            ("output -raw address", "Write the text of one output, for scripts"),
        ],
    ),
    (
        "show",
        &[
            ("show", "Show the state"),
            ("show run.plan", "Show a saved plan"),
            ("show -json run.plan", "The same for programs"),
            ("show -html=run.html run.plan", "The same as a page for a browser"),
        ],
    ),
    ("state list", &[("state list module.db", "List what a module has in the state")]),
    (
        "state mv",
        &[("state mv aws_instance.a 'aws_instance.b[\"x\"]'", "Give an object another address")],
    ),
    ("state rm", &[("state rm -dry-run module.old", "Say what would be forgotten")]),
    ("state show", &[("state show 'aws_instance.web[0]'", "Show one object")]),
    ("workspace new", &[("workspace new staging", "Make a workspace, and switch to it")]),
    ("workspace select", &[("workspace select staging", "Switch to a workspace")]),
    ("providers lock", &[("providers lock -platform=linux_arm64", "Record checksums for others")]),
    ("policy check", &[("policy check -policy=rules/", "Judge the plan by the rules of a folder")]),
    ("policy test", &[("policy test rules/", "Run the cases beside the rules")]),
    (
        "completion",
        &[
            ("completion bash", "As in: source <(entail completion bash)"),
            ("completion fish", "As in: entail completion fish | source"),
        ],
    ),
    ("login", &[("login registry.example.com", "Get a token from a host, and keep it")]),
    ("logout", &[("logout registry.example.com", "Forget the token of a host")]),
    ("force-unlock", &[("force-unlock 5c1d5f44", "Take away a lock that nobody holds any more")]),
];

/// Returns the examples of a command.
pub fn of(command: &str) -> &'static [(&'static str, &'static str)] {
    EXAMPLES.iter().find(|it| it.0 == command).map_or(&[], |it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Asked, read, words};

    #[test]
    fn every_example_is_a_command_line_that_is_understood() {
        for (command, line) in EXAMPLES.iter().flat_map(|it| it.1.iter().map(|line| (it.0, line.0)))
        {
            let given = words::split(line).expect("its quotes are closed");
            match read(given, &Default::default()) {
                Asked::Run(it) => assert_eq!(it.asked.name, command, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
