//! The words that pet names are made of.

/// What a pet can be like.
pub(super) const ADJECTIVES: &str = "
    able agile airy alert amber ample apt avid basic bold bonny brave breezy brief bright brisk broad bubbly busy calm
    candid careful cheery chief civil clean clear clever close coastal cosy cool crisp curious daring dear decent deep
    direct dreamy eager early earnest easy elder elegant even exact fabled fair famous fancy fast fearless fine firm
    fleet fluent fond frank free fresh full funny gallant gentle giddy glad golden good grand great green handy happy
    hardy hearty helpful honest humble ideal jolly joyful keen kind large lasting lean learned light limber lively
    loyal lucid lucky major mellow merry mighty mild modern modest musical native neat nimble noble novel open orderly
    patient peaceful plain pleasant plucky polite prime prompt proper proud pure quick quiet rapid rare ready regal
    relaxed robust rosy rugged sage sandy serene sharp shiny silent silver simple sleek smart smooth snug sober solid
    sound spirited spry stable steady stellar still stout strong sturdy subtle sunny super sure sweet swift tactful
    tender thankful thorough tidy tiny tough tranquil true trusty upbeat useful valiant vast vital vivid warm wise witty
    worthy young zany zealous
";

/// What a pet can be.
pub(super) const NAMES: &str = "
    adder albatross alpaca anchovy ant antelope ape armadillo auk baboon badger barnacle bass bat beagle bear beaver
    bee beetle bison blackbird boar bobcat bream buffalo bug bull bullfinch bunny buzzard calf camel canary capybara
    caribou carp cat caterpillar catfish chamois cheetah chicken chipmunk cicada clam cobra cockatoo cod collie condor
    coral corgi cormorant cougar cow coyote crab crane crayfish cricket crow cub cuckoo curlew deer dingo dog dolphin
    donkey dormouse dove dragonfly drake duck eagle earwig eel egret elephant elk emu ermine falcon fawn ferret finch
    firefly flamingo flea flounder fly foal fox frog gannet gazelle gecko gibbon giraffe gnat gnu goat goldfish goose
    gopher gorilla grouse gull guppy haddock hamster hare hawk hedgehog heron herring hippo hornet horse hound
    hummingbird husky hyena ibex ibis iguana impala jackal jackdaw jaguar jay jellyfish kangaroo kestrel kingfisher kite
    kitten kiwi koala krill lamb lark lemming lemur leopard lion lizard llama lobster locust loon lynx macaw mackerel
    magpie mallard manatee mantis marlin marmot marten mastiff meerkat mink minnow mole mongoose monkey moose mosquito
    moth mouse mule mussel narwhal newt nightingale ocelot octopus okapi opossum orca oriole osprey ostrich otter owl ox
    oyster panda panther parrot partridge peacock pelican penguin perch pheasant pig pigeon pika pike piranha plover
    pony poodle porcupine porpoise possum prawn puffin puma puppy quail rabbit raccoon ram raven ray reindeer rhino
    robin rook rooster salamander salmon sardine scallop seahorse seal shark sheep shrew shrimp skunk skylark sloth slug
    snail snake snipe sole sparrow spaniel spider sponge squid squirrel stag starfish starling stingray stoat stork
    sturgeon swallow swan swift tadpole tapir tarsier termite tern terrier thrush tiger toad tortoise toucan trout
    tuna turkey turtle urchin viper vole vulture wallaby walrus warbler wasp weasel weevil whale whippet wolf wolverine
    wombat woodcock woodpecker worm wren yak zebra
";

/// How a pet can be what it is like.
pub(super) const ADVERBS: &str = "
    absolutely actively actually admirably adequately always amazingly amply annually apparently aptly ardently barely
    basically blatantly boldly bravely briefly brightly broadly calmly carefully certainly cheaply cheerfully chiefly
    clearly cleverly closely commonly completely constantly correctly curiously daily daringly deeply definitely
    deftly directly distinctly duly eagerly early easily endlessly enormously entirely equally especially evenly
    eventually exactly factually fairly faithfully famously firmly fondly formally frankly freely frequently freshly
    friendly fully generally gently genuinely gladly gracefully gradually greatly happily hardly heartily highly
    honestly hourly hugely humbly ideally immensely informally inherently instantly intently jointly jolly justly
    keenly kindly largely lately lightly likely literally loosely loudly loyally luckily mainly markedly merely
    mildly mostly mutually namely nationally naturally nearly neatly newly nicely nimbly normally notably obviously
    oddly officially openly orderly overly partially partly patiently perfectly plainly pleasantly politely positively
    possibly presently previously primarily privately probably promptly properly proudly publicly purely quickly quietly
    quite radically rapidly rarely rather readily really reasonably recently regularly reliably remarkably roughly
    safely scarcely secretly seemingly seldom sensibly seriously sharply shortly silently simply sincerely slightly
    slowly smoothly socially softly solely specially steadily strangely strictly strongly subtly suddenly suitably
    surely swiftly tenderly terribly thankfully thoroughly tightly totally truly typically ultimately uniformly
    uniquely usefully usually utterly vaguely vastly vertically vigorously visibly vividly warmly weekly wholly
    widely willingly wisely yearly
";

#[cfg(test)]
mod tests {
    use super::{ADJECTIVES, ADVERBS, NAMES};

    #[test]
    fn the_lists_hold_enough_different_words() {
        for list in [ADJECTIVES, ADVERBS, NAMES] {
            let mut words: Vec<&str> = list.split_whitespace().collect();
            let count = words.len();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), count, "a word stands twice");
            assert!(
                count >= 100 && words.iter().all(|it| it.bytes().all(|it| it.is_ascii_lowercase()))
            );
        }
    }
}
