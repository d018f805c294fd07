//! The blocks of the language itself: their arguments and blocks, each with a sentence for who writes them.

/// A type of block.
#[derive(Debug)]
pub(super) struct BlockWords {
    /// The type.
    pub kind: &'static str,
    /// What its labels are called.
    pub labels: &'static [&'static str],
    /// What it is for.
    pub about: &'static str,
    /// Its arguments.
    pub arguments: &'static [ArgumentWords],
    /// Its blocks.
    pub blocks: &'static [BlockWords],
}

/// An argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArgumentWords {
    /// Its name.
    pub name: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// The type of its value, in words.
    pub ty: &'static str,
    /// What it is for.
    pub about: &'static str,
}

const fn block(
    kind: &'static str,
    labels: &'static [&'static str],
    about: &'static str,
    arguments: &'static [ArgumentWords],
    blocks: &'static [BlockWords],
) -> BlockWords {
    BlockWords { kind, labels, about, arguments, blocks }
}

const fn may(name: &'static str, ty: &'static str, about: &'static str) -> ArgumentWords {
    ArgumentWords { name, required: false, ty, about }
}

const fn must(name: &'static str, ty: &'static str, about: &'static str) -> ArgumentWords {
    ArgumentWords { required: true, ..may(name, ty, about) }
}

const COUNT: ArgumentWords = may("count", "number", "How many instances there are.");
const FOR_EACH: ArgumentWords =
    may("for_each", "map or set of strings", "One instance for each element, by its key.");
const ENABLED: ArgumentWords = may("enabled", "bool", "Whether there is an instance at all.");
const DEPENDS_ON: ArgumentWords = may(
    "depends_on",
    "list of references",
    "What must be done before, where no expression says so.",
);
const DESCRIPTION: ArgumentWords = may("description", "string", "What it is for.");
const SENSITIVE: ArgumentWords =
    may("sensitive", "bool", "Whether its value is hidden wherever values are shown.");
const EPHEMERAL: ArgumentWords =
    may("ephemeral", "bool", "Whether its value is kept neither in plans nor in states.");
const DEPRECATED: ArgumentWords = may("deprecated", "string", "What to use instead of it.");

const CONDITION: &[ArgumentWords] = &[
    must("condition", "bool", "What must be true."),
    must("error_message", "string", "What is said where it is not."),
];

const LIFECYCLE: BlockWords = block(
    "lifecycle",
    &[],
    "How objects of this resource come and go.",
    &[
        may(
            "create_before_destroy",
            "bool",
            "Whether a replacement is made before the old object is destroyed.",
        ),
        may("prevent_destroy", "bool", "Whether plans that would destroy an object are refused."),
        may(
            "destroy",
            "bool",
            "Whether an object whose block goes is destroyed, or only forgotten.",
        ),
        may(
            "ignore_changes",
            "list of attributes, or all",
            "Which arguments are looked at when an object is made, and not later.",
        ),
        may("replace_triggered_by", "list of references", "Whose changes replace the object."),
        ENABLED,
    ],
    &[
        block(
            "precondition",
            &[],
            "What must hold before the object is made or read.",
            CONDITION,
            &[],
        ),
        block("postcondition", &[], "What must hold of the object afterwards.", CONDITION, &[]),
    ],
);

const PROVISIONER: BlockWords = block(
    "provisioner",
    &["type"],
    "What is run once the object is made, or before it is destroyed.",
    &[
        may("when", "create or destroy", "When it runs."),
        may("on_failure", "continue or fail", "What a failure means."),
        may("command", "string", "What `local-exec` runs."),
        may("working_dir", "string", "Where `local-exec` runs it."),
        may(
            "interpreter",
            "list of strings",
            "The program that `local-exec` gives the command to.",
        ),
        may("environment", "map of strings", "Variables of the environment for `local-exec`."),
        may("inline", "list of strings", "The commands that `remote-exec` runs."),
        may("script", "string", "The script that `remote-exec` copies and runs."),
        may("scripts", "list of strings", "The scripts that `remote-exec` copies and runs."),
        may("source", "string", "What `file` copies."),
        may("content", "string", "The text that `file` writes."),
        may("destination", "string", "Where `file` puts it."),
    ],
    &[block("connection", &[], "How the machine is reached.", &[], &[])],
);

const RESOURCE_BLOCKS: &[BlockWords] = &[
    LIFECYCLE,
    PROVISIONER,
    block("connection", &[], "How provisioners reach the machine.", &[], &[]),
    DYNAMIC,
];

const DYNAMIC: BlockWords = block(
    "dynamic",
    &["type"],
    "One nested block for each element of a collection.",
    &[
        must("for_each", "collection", "The elements."),
        may(
            "iterator",
            "name",
            "What the element is called; the type of the block where it is not said.",
        ),
        may("labels", "list of strings", "The labels of each block."),
    ],
    &[block("content", &[], "The inside of each block.", &[], &[])],
);

/// What every `resource`, `data` and `ephemeral` block may say.
pub(super) const RESOURCE: BlockWords = block(
    "resource",
    &["type", "name"],
    "An object that is made, changed and destroyed as the configuration says.",
    &[
        COUNT,
        FOR_EACH,
        DEPENDS_ON,
        may("provider", "provider configuration", "Who looks after it."),
    ],
    RESOURCE_BLOCKS,
);

const DATA: BlockWords = block(
    "data",
    &["type", "name"],
    "Something that is there already, and is read.",
    RESOURCE.arguments,
    RESOURCE_BLOCKS,
);

const OVERRIDE: &[ArgumentWords] = &[
    must("target", "address", "What is overridden."),
    may("values", "object", "The values of its attributes."),
    may("override_during", "plan or apply", "From when on."),
];

const OVERRIDE_RESOURCE: BlockWords = block(
    "override_resource",
    &[],
    "Values that a resource has without its provider.",
    OVERRIDE,
    &[],
);
const OVERRIDE_DATA: BlockWords = block(
    "override_data",
    &[],
    "Values that a data source has without its provider.",
    OVERRIDE,
    &[],
);
const OVERRIDE_MODULE: BlockWords = block(
    "override_module",
    &[],
    "Outputs that a module has without what is in it.",
    &[must("target", "address", "The module."), may("outputs", "object", "Its outputs.")],
    &[],
);

/// What stands at the top level of a configuration file.
pub(super) const CONFIG: &[BlockWords] = &[
    RESOURCE,
    DATA,
    block(
        "ephemeral",
        &["type", "name"],
        "Something that is opened while a run needs it, and kept nowhere.",
        RESOURCE.arguments,
        RESOURCE_BLOCKS,
    ),
    block(
        "variable",
        &["name"],
        "A value that the module is given.",
        &[
            may("type", "type", "What values it takes."),
            may(
                "default",
                "any value",
                "Its value where none is given. Without one, it must be given.",
            ),
            DESCRIPTION,
            SENSITIVE,
            EPHEMERAL,
            may(
                "nullable",
                "bool",
                "Whether null is a value of it; otherwise null means the default.",
            ),
            may("const", "bool", "Whether its value must be known before anything is planned."),
            DEPRECATED,
        ],
        &[block("validation", &[], "What its values must fulfil.", CONDITION, &[])],
    ),
    block("locals", &[], "Values that have a name in this module.", &[], &[]),
    block(
        "output",
        &["name"],
        "A value that the module gives.",
        &[
            must("value", "any value", "The value."),
            may("type", "type", "What type its value is converted to."),
            DESCRIPTION,
            SENSITIVE,
            EPHEMERAL,
            DEPENDS_ON,
            DEPRECATED,
        ],
        &[block("precondition", &[], "What must hold before it is given.", CONDITION, &[])],
    ),
    block(
        "module",
        &["name"],
        "A module that is used here.",
        &[
            must(
                "source",
                "string",
                "Where it comes from: a folder such as \"./net\", an address of a registry, a repository.",
            ),
            may("version", "string", "Which versions of a registry's module will do."),
            COUNT,
            FOR_EACH,
            DEPENDS_ON,
            may(
                "providers",
                "object",
                "Which provider configurations it is given, by its own names.",
            ),
        ],
        &[block("lifecycle", &[], "Whether the module is used at all.", &[ENABLED], &[])],
    ),
    block(
        "provider",
        &["name"],
        "How a provider is configured.",
        &[
            may("alias", "string", "The name of this configuration, where a provider has several."),
            FOR_EACH,
        ],
        &[],
    ),
    TERRAFORM,
    block(
        "moved",
        &[],
        "Something has another address than before; its objects stay.",
        &[
            must("from", "address", "What it was called."),
            must("to", "address", "What it is called now."),
        ],
        &[],
    ),
    block(
        "import",
        &[],
        "An object that exists becomes one of this configuration.",
        &[
            must("to", "address", "The instance that it becomes."),
            may("id", "string", "What its provider knows it by."),
            may("identity", "object", "The attributes that its provider knows it by."),
            FOR_EACH,
            may("provider", "provider configuration", "Who reads it."),
        ],
        &[],
    ),
    block(
        "removed",
        &[],
        "Something is no longer in the configuration.",
        &[must("from", "address", "What it was called.")],
        &[
            block(
                "lifecycle",
                &[],
                "What becomes of its objects.",
                &[may("destroy", "bool", "Whether they are destroyed, or only forgotten.")],
                &[],
            ),
            PROVISIONER,
        ],
    ),
    block(
        "check",
        &["name"],
        "Something that should hold, and only warns where it does not.",
        &[],
        &[block("assert", &[], "What should hold.", CONDITION, &[]), DATA],
    ),
];

const TERRAFORM: BlockWords = block(
    "terraform",
    &[],
    "What the module needs, and where its state is kept.",
    &[may("required_version", "string", "Which versions of the program will do.")],
    &[
        block(
            "required_providers",
            &[],
            "The providers that the module uses, by the names that it has for them.",
            &[],
            &[],
        ),
        block("backend", &["type"], "Where the state is kept.", &[], &[]),
        block("encryption", &[], "How states and plans are encrypted.", &[], &[]),
        block(
            "provider_meta",
            &["provider"],
            "What the module tells a provider of itself.",
            &[],
            &[],
        ),
    ],
);

/// What stands at the top level of a test file.
pub(super) const TEST: &[BlockWords] = &[
    block(
        "run",
        &["name"],
        "A plan or an apply of the module, and what must hold of it.",
        &[
            may("command", "plan or apply", "What is done."),
            may("providers", "object", "Which provider configurations the module is given."),
            may("expect_failures", "list of references", "Whose conditions must fail."),
            may("expect_denied", "list of strings", "Which rules of policies must deny the plan."),
        ],
        &[
            block("assert", &[], "What must hold.", CONDITION, &[]),
            block("variables", &[], "Values for the module's variables.", &[], &[]),
            block(
                "module",
                &[],
                "Another module that this run is about.",
                &[
                    must("source", "string", "Where it comes from."),
                    may("version", "string", "Which versions will do."),
                ],
                &[],
            ),
            block(
                "plan_options",
                &[],
                "How it is planned.",
                &[
                    may("mode", "normal or refresh-only", "What is planned."),
                    may("refresh", "bool", "Whether objects are read anew."),
                    may("replace", "list of addresses", "What is replaced."),
                    may("target", "list of addresses", "What alone is planned."),
                ],
                &[],
            ),
            block(
                "snapshot",
                &["name"],
                "A value that is compared with the one of the last run.",
                &[must("value", "any value", "The value.")],
                &[],
            ),
            OVERRIDE_RESOURCE,
            OVERRIDE_DATA,
            OVERRIDE_MODULE,
        ],
    ),
    block("variables", &[], "Values for the variables of all runs.", &[], &[]),
    block(
        "mock_provider",
        &["name"],
        "A provider whose objects are made up.",
        &[may("alias", "string", "The configuration that it stands for."), FOR_EACH],
        &[
            block(
                "mock_resource",
                &["type"],
                "Values of such resources.",
                &[may("defaults", "object", "The values.")],
                &[],
            ),
            block(
                "mock_data",
                &["type"],
                "Values of such data sources.",
                &[may("defaults", "object", "The values.")],
                &[],
            ),
        ],
    ),
    block(
        "provider",
        &["name"],
        "How a provider is configured.",
        &[may("alias", "string", "The name of this configuration, where a provider has several.")],
        &[],
    ),
    OVERRIDE_RESOURCE,
    OVERRIDE_DATA,
    OVERRIDE_MODULE,
];
