//! The strata, and the ledger that each of them reads: facts, and what was concluded from them before.
//!
//! `strata!` lists every stratum once. From the list come the ledger, the conclusions as one value, and the texts.

use crate::facts::Facts;
use crate::tables::Tables;
use crate::{
    calls, changes, closing, configurations, decide, ephemeral_uses, ephemerals, instances, lint,
    moves, order, outputs, providers, recall, records, selection, spread, violations,
};

/// The source of one stratum.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The stratum, as its file is called.
    pub name: &'static str,
    /// The whole file, with exactly one `ascent! { … }` in it.
    pub source: &'static str,
}

/// The conclusions of one stratum, and how they are come by.
pub trait Stratum: Tables {
    /// Returns what the stratum is called, as its file is.
    fn name(&self) -> &'static str;

    /// Concludes with the compiled rules, in place of whatever is here.
    ///
    /// Only an engine calls this: whoever wants conclusions asks an engine.
    fn run_compiled(&mut self, ledger: &Ledger<'_>);

    /// Adds these conclusions to a ledger.
    fn enter<'a>(&'a self, ledger: &mut Ledger<'a>);
}

macro_rules! strata {
    ($( $(#[doc = $doc:literal])* $file:literal $name:ident: $Conclusions:ty = $run:path; )*) => {
        /// What a stratum reads: facts, and what was concluded from them so far. Nothing is copied into it.
        ///
        /// A stratum that concludes about a few nodes more starts from what stands here of itself; such rows must hold
        /// whatever else becomes known.
        #[derive(Clone, Copy, Debug)]
        pub struct Ledger<'a> {
            /// What the rules are told.
            pub facts: &'a Facts,
            $( $(#[doc = $doc])* pub $name: &'a $Conclusions, )*
        }

        impl<'a> Ledger<'a> {
            /// Returns a ledger of facts from which nothing was concluded yet.
            pub fn of(facts: &'a Facts) -> Ledger<'a> {
                Ledger { facts, $( $name: <$Conclusions>::NONE, )* }
            }

            /// Returns the ledger with the conclusions of one stratum more.
            pub fn with(mut self, conclusions: &'a dyn Stratum) -> Ledger<'a> {
                conclusions.enter(&mut self);
                self
            }

            /// Returns everything in it: facts first, then the strata in their order.
            pub fn tables(&self) -> Vec<&'a dyn Tables> {
                vec![self.facts, $( self.$name, )*]
            }
        }

        $(
            impl Stratum for $Conclusions {
                fn name(&self) -> &'static str {
                    $file
                }

                fn run_compiled(&mut self, ledger: &Ledger<'_>) {
                    *self = $run(ledger);
                }

                fn enter<'a>(&'a self, ledger: &mut Ledger<'a>) {
                    ledger.$name = self;
                }
            }
        )*

        /// Everything that the strata conclude.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Conclusions {
            $( $(#[doc = $doc])* pub $name: $Conclusions, )*
        }

        impl Conclusions {
            /// Concludes stratum by stratum, each from the facts and from the strata before it.
            ///
            /// - `conclude`: fills in what one stratum concludes from a ledger.
            pub fn of(
                facts: &Facts,
                mut conclude: impl FnMut(&Ledger<'_>, &mut dyn Stratum),
            ) -> Conclusions {
                let mut all = Conclusions::default();
                $(
                    let mut next = <$Conclusions>::default();
                    conclude(&all.ledger(facts), &mut next);
                    all.$name = next;
                )*
                all
            }

            /// Returns the ledger of these conclusions, and the facts that they were made from.
            pub fn ledger<'a>(&'a self, facts: &'a Facts) -> Ledger<'a> {
                Ledger { facts, $( $name: &self.$name, )* }
            }

            /// Returns the conclusions as tables, in the order of the strata.
            pub fn tables(&self) -> Vec<&dyn Tables> {
                vec![$( &self.$name, )*]
            }

            /// Returns the conclusions as tables that can be filled, in the order of the strata.
            pub fn tables_mut(&mut self) -> Vec<&mut dyn Tables> {
                vec![$( &mut self.$name, )*]
            }
        }

        /// The strata in the order in which they are concluded: each rests only on base facts and on those before it.
        pub const TEXTS: &[Text] = &[ $(
            Text { name: $file, source: include_str!(concat!($file, ".rs")) },
        )* ];
    };
}

strata! {
    /// In which order move statements are carried out.
    "moves" moves: moves::Moves = moves::arrange;
    /// Which provider configuration serves which block.
    "configurations" configurations: configurations::Configurations = configurations::configure;
    /// Which provider instance serves which object.
    "providers" providers: providers::Providers = providers::serve;
    /// Orphans, and what is to be destroyed.
    "instances" instances: instances::Instances = instances::judge;
    /// Which objects take part.
    "selection" selection: selection::Selection = selection::select;
    /// Which prior states are loaded of what takes no part.
    "recall" recall: recall::Recall = recall::recall;
    /// Where `create_before_destroy` spreads.
    "spread" spread: spread::Spread = spread::spread;
    /// Which provider instances may be called.
    "calls" calls: calls::Calls = calls::allow;
    /// What is to be done.
    "decide" decisions: decide::Decisions = decide::decide;
    /// Which root outputs are recalculated.
    "outputs" outputs: outputs::Outputs = outputs::split;
    /// What is done with root outputs.
    "changes" changes: changes::Changes = changes::conclude;
    /// What is opened when the plan is carried out.
    "ephemerals" ephemerals: ephemerals::Ephemerals = ephemerals::lend;
    /// Steps and their order.
    "order" order: order::Order = order::order;
    /// What forbids the plan.
    "violations" violations: violations::Violations = violations::collect;
    /// How long what is opened stays open.
    "ephemeral_uses" ephemeral_uses: ephemeral_uses::EphemeralUses = ephemeral_uses::find;
    /// What objects are made from.
    "records" records: records::Records = records::record;
    /// What is held back, and what is looked at when all is carried out.
    "closing" closing: closing::Closing = closing::close;
    /// What `-lint` reports of the configuration.
    "lint" lint: lint::Lint = lint::find;
}
