//! What a column can hold: ids of things, and words of small closed vocabularies. All `Copy`, all one whole number.

/// Anything that a column of a relation can hold.
pub trait Atom: Copy + Ord {
    /// What the column is called in declarations, such as `Node`.
    const KIND: &'static str;

    /// How many there are at most.
    const COUNT: u64;

    /// Returns it as a whole number.
    fn word(self) -> u64;

    /// Reads it back, unless the number stands for nothing of this kind.
    fn from_word(word: u64) -> Option<Self>;
}

/// A closed vocabulary, for the interpreter and for printing.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    /// The kind, such as `Action`.
    pub kind: &'static str,
    /// Each word: as rules write it after `Kind::`, its number, and as people read it.
    pub words: &'static [(&'static str, u64, &'static str)],
}

macro_rules! ids {
    ($( $(#[$meta:meta])* $Name:ident $( { $( $(#[$of:meta])* $CONST:ident = $value:literal ),* } )? ; )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $Name(pub u32);

            $( impl $Name { $( $(#[$of])* pub const $CONST: $Name = $Name($value); )* } )?

            impl Atom for $Name {
                const KIND: &'static str = stringify!($Name);
                const COUNT: u64 = 1 << 32;

                fn word(self) -> u64 {
                    u64::from(self.0)
                }

                fn from_word(word: u64) -> Option<Self> {
                    u32::try_from(word).ok().map($Name)
                }
            }
        )*

        /// Kinds that name things, in the order of declaration.
        pub const IDS: &[&str] = &[$(stringify!($Name)),*];

        /// Ids that rules write by name.
        const NAMED_IDS: &[Vocabulary] = &[
            $($( Vocabulary {
                kind: stringify!($Name),
                words: &[$( (stringify!($CONST), $value, stringify!($CONST)) ),*],
            }, )?)*
        ];
    };
}

macro_rules! words {
    ($( $(#[$meta:meta])* $Name:ident { $( $(#[$of:meta])* $Word:ident = $text:literal ),* $(,)? } )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            #[repr(u8)]
            pub enum $Name { $( $(#[$of])* $Word ),* }

            impl $Name {
                /// Every word, in order.
                pub const ALL: &[$Name] = &[$($Name::$Word),*];

                /// Returns the word as people read it.
                pub fn text(self) -> &'static str {
                    match self { $( $Name::$Word => $text ),* }
                }
            }

            impl Atom for $Name {
                const KIND: &'static str = stringify!($Name);
                const COUNT: u64 = $Name::ALL.len() as u64;

                fn word(self) -> u64 {
                    self as u64
                }

                fn from_word(word: u64) -> Option<Self> {
                    $Name::ALL.get(usize::try_from(word).ok()?).copied()
                }
            }
        )*

        /// Every closed vocabulary.
        const WORDS: &[Vocabulary] = &[
            $( Vocabulary {
                kind: stringify!($Name),
                words: &[$( (stringify!($Word), $Name::$Word as u64, $text) ),*],
            } ),*
        ];
    };
}

/// Returns every constant that rules may write as `Kind::Word`, by kind.
pub fn vocabularies() -> impl Iterator<Item = &'static Vocabulary> {
    WORDS.iter().chain(NAMED_IDS)
}

/// Returns the number of `Kind::Word`, if there is such a constant.
pub fn constant(kind: &str, word: &str) -> Option<u64> {
    let vocabulary = vocabularies().find(|it| it.kind == kind)?;
    vocabulary.words.iter().find(|it| it.0 == word).map(|it| it.1)
}

/// Returns how people read `word` in a column of this kind, if the kind is a closed vocabulary.
pub fn word_text(kind: &str, word: u64) -> Option<&'static str> {
    let vocabulary = WORDS.iter().find(|it| it.kind == kind)?;
    vocabulary.words.iter().find(|it| it.1 == word).map(|it| it.2)
}

ids! {
    /// A node of the graph: an object (current or deposed), data source or ephemeral resource; a variable, local or
    /// output per module instance; a module instance; a provider instance; a repetition or collection; a pending block.
    Node;
    /// A block of the configuration: resource, data, variable, local, output, module call.
    Block;
    /// A module's code: a path of calls without keys and, where instances come from several sources, one of these.
    Module {
        /// The root module.
        ROOT = 0
    };
    /// A provider's source address.
    Family;
    /// A provider configuration's alias within its module and family.
    Alias {
        /// The configuration without alias, which child modules inherit.
        DEFAULT = 0,
        /// A configuration that repeats without an alias: each of its keys is one.
        KEYS = 1
    };
    /// A provider configuration: one `provider` block, or the empty one that nobody wrote.
    Config;
    /// A key expression: what chooses among the instances of a provider configuration.
    Choice {
        /// Nothing chooses: there is one instance.
        NONE = 0
    };
    /// The key of a provider instance.
    Key {
        /// The configuration has no `for_each`.
        NONE = 0
    };
    /// An option or line of a file that named something, in the order of the request.
    Flag;
    /// A `moved` statement, written or implied.
    Statement;
    /// A place in the configuration that a lint rule looks at: an item of `depends_on`, a reference, a quoted string, a
    /// comparison, a function call.
    Site;
    /// What gives a value: the expression of a local value, an output, an input or an argument, or of one item of an object
    /// that is written there.
    Definition;
    /// The type of a value.
    ValueType;
}

words! {
    /// What kind of plan is asked for.
    Mode {
        /// Make the world as the configuration says.
        Normal = "normal",
        /// Destroy everything.
        Destroy = "destroy",
        /// Only record what changed outside.
        RefreshOnly = "refresh-only",
    }

    /// How the request names a node.
    Hit {
        /// By `-exclude`, an `-exclude-file`, or a user's `exclude`.
        Exclude = "exclude",
        /// By `-target` or a `-target-file`.
        Target = "target",
        /// By an exclusion of an instance inside this pending node.
        Part = "exclude a part of",
        /// By a target that may be an instance inside this pending node.
        Among = "target a part of",
    }

    /// One of the two addresses of something that moved.
    End {
        /// The address before.
        Old = "old",
        /// The address now.
        New = "new",
    }

    /// How a block repeats.
    Repetition {
        /// It does not.
        Single = "no repetition",
        /// `count`
        Count = "count",
        /// `for_each`
        ForEach = "for_each",
        /// `enabled`
        Enabled = "enabled",
    }

    /// What kind of key an instance has.
    KeyKind {
        /// None.
        Bare = "no key",
        /// A number.
        Number = "a number",
        /// A string.
        Text = "a string",
    }

    /// What a `removed` block wants for objects whose block is gone.
    Fate {
        /// Destroy them.
        Destroy = "destroy",
        /// Leave them alone and forget them.
        Forget = "forget",
    }

    /// What `prevent_destroy` of an object comes to, where it does not let the object go.
    Protection {
        /// True: the object stays.
        On = "true",
        /// Null, which says neither.
        Null = "null",
        /// Not known before apply.
        Unknown = "known after apply",
        /// Nothing that could say it.
        Invalid = "not valid",
    }

    /// What is to be done with an object.
    Action {
        /// Nothing.
        NoOp = "no-op",
        /// Make it.
        Create = "create",
        /// Read a data source during apply.
        Read = "read",
        /// Change it in place.
        Update = "update",
        /// Replace it, the old object first.
        DeleteThenCreate = "delete, then create",
        /// Replace it, the new object first.
        CreateThenDelete = "create, then delete",
        /// Destroy it.
        Delete = "delete",
        /// Take it out of the state and leave it alone.
        Forget = "forget",
        /// Leave the old object alone and make a new one.
        ForgetThenCreate = "forget, then create",
        /// Take it out of the state without a word: it is gone already, or was only ever read.
        Drop = "drop",
    }

    /// Why, where the action alone does not say.
    Reason {
        /// The action says it.
        Plain = "",
        /// Half made, by an apply that failed.
        ReplaceBecauseTainted = "tainted",
        /// The provider cannot change it in place.
        ReplaceBecauseCannotUpdate = "the provider cannot change it in place",
        /// `-replace` names it.
        ReplaceByRequest = "asked for",
        /// Something in `replace_triggered_by` changes.
        ReplaceByTriggers = "replace_triggered_by",
        /// No block declares it.
        DeleteBecauseNoResourceConfig = "its block is gone",
        /// Its key does not suit how the block repeats now.
        DeleteBecauseWrongRepetition = "its key does not suit the block's repetition",
        /// Its number is not below `count`.
        DeleteBecauseCountIndex = "its number is not below count",
        /// Its key is not in `for_each`.
        DeleteBecauseEachKey = "its key is not in for_each",
        /// `enabled` is false.
        DeleteBecauseEnabledFalse = "enabled is false",
        /// The module instance that held it is gone.
        DeleteBecauseNoModule = "its module instance is gone",
        /// It was moved to where no block is.
        DeleteBecauseNoMoveTarget = "it was moved to where no block is",
        /// The arguments are not known before apply.
        ReadBecauseConfigUnknown = "its arguments are known after apply",
        /// Something it depends on changes.
        ReadBecauseDependencyPending = "something it depends on changes",
        /// It stands in a `check` block and is read again.
        ReadBecauseCheckNested = "it stands in a check block",
        /// The state says `destroy = false`.
        ForgotBecauseLifecycleDestroyInState = "the state says destroy = false",
        /// The configuration says `destroy = false`.
        ForgotBecauseLifecycleDestroyInConfig = "the configuration says destroy = false",
        /// Something that is left out of this run rests on it.
        KeptForAnother = "something that is left out rests on it",
    }

    /// What a node concluded before may have become, for those that read it.
    Seen {
        /// Something is to be done with it.
        Changing = "changing",
        /// It is made, changed or replaced: what `replace_triggered_by` looks for.
        Triggering = "triggering",
        /// It, or something behind it, is changing.
        Unsettled = "unsettled",
        /// Its own question failed.
        Failed = "failed",
        /// Something it rests on failed.
        Blocked = "blocked",
        /// It is a provider instance, and its configuration is not known before apply.
        HalfConfigured = "half_configured",
    }

    /// Why an output keeps its value.
    Keep {
        /// A destroy run with a selection changes no output.
        Destroying = "outputs stay as they are while a selection is destroyed",
        /// It relies on nothing that takes part.
        NothingTaken = "it relies on no object that takes part in this run",
        /// Something it relies on takes no part.
        SomethingMissing = "something it relies on takes no part in this run",
        /// It cannot be evaluated without what is left out.
        NoValue = "it has no value in this run",
    }

    /// When a step of a node is carried out, relative to its other steps.
    Phase {
        /// Destroy first.
        Down = "destroy",
        /// Create, update or read.
        Up = "create, update or read",
        /// Everything that used the old object uses the new one.
        Settled = "settled",
        /// Destroy last: what was replaced by a new object, and deposed objects.
        Late = "destroy afterwards",
        /// Everything that is made from the configuration is made.
        Made = "everything is made",
    }

    /// What is missing to serve an object.
    Lack {
        /// No provider configuration of that name is there.
        Configuration = "provider configuration",
        /// The configuration has no instance of that key.
        Instance = "provider instance",
        /// The state names another configuration than the block does.
        Fallback = "provider recorded in the state",
    }

    /// What forbids a plan.
    Violation {
        /// `prevent_destroy` stands against a delete or a replacement.
        PreventsDestroy = "prevent_destroy",
        /// `prevent_destroy` is nothing that could be obeyed, whatever is to be done.
        InvalidProtection = "an invalid prevent_destroy",
        /// `replace_triggered_by` names an instance that does not exist.
        NoTrigger = "replace_triggered_by names no instance",
        /// An object that was moved to another type is left out of the run.
        MoveExcluded = "an object moved to another type is excluded",
        /// A moved object is only partly targeted.
        MoveUntargeted = "a moved object is not targeted",
        /// No provider configuration.
        NoConfiguration = "no provider configuration",
        /// No such provider instance.
        NoInstance = "no provider instance",
        /// The state's provider cannot stand in.
        NoFallback = "the state's provider is another one",
    }

    /// An identifier of `-lint`: a lint rule, or a group of lint rules.
    LintName {
        /// Every lint rule.
        All = "all",
        /// Every lint rule of the language itself.
        CoreAll = "core:all",
        /// What may mislead a reader.
        Confusing = "core:confusing",
        /// What is probably not meant so.
        Mistake = "core:mistake",
        /// What keeps changing without a reason.
        NoConverge = "core:noconverge",
        /// An item of `depends_on` that another reference implies.
        UnusedDeps = "core:unuseddeps",
        /// A string that has the text of a reference.
        QuotedRef = "core:quotedref",
        /// A comparison of values of different types.
        IneffEq = "core:ineffeq",
        /// An argument whose value is another one in each run.
        ImpureFunc = "core:impurefunc",
    }

    /// What kind of type it is.
    TypeKind {
        /// `bool`
        Bool = "bool",
        /// `number`
        Number = "number",
        /// `string`
        String = "string",
        /// `list(…)`
        List = "list",
        /// `set(…)`
        Set = "set",
        /// `map(…)`
        Map = "map",
        /// `tuple([…])`
        Tuple = "tuple",
        /// `object({…})`
        Object = "object",
    }
}
