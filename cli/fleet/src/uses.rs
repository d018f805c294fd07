//! `uses(n, m)`: an argument of `n` is the identity of `m`. A join of all texts with all identities, by digests that stand for them.
//!
//! Identities and names of objects are kept in memory, texts that might name them in a file: there are many more of these.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use entail::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use twox_hash::XxHash3_128;

/// The attributes that are identities.
pub const IDENTITIES: &[&str] = &["id", "arn", "self_link"];

/// A shorter text says too little to be somebody's identity alone.
const SHORTEST: usize = 8;

/// No identity is longer.
const LONGEST: usize = 2048;

/// What more stacks have for an identity tells nothing.
const MOST_STACKS: usize = 8;

/// What stands for a text: so long that no two texts of a fleet share it.
pub type Digest = [u8; 12];

/// Returns what stands for a text; nothing where it can be nobody's identity.
pub fn digest(text: &str) -> Option<Digest> {
    let is_long = (SHORTEST..=LONGEST).contains(&text.len());
    if !is_long || text.len() < 4 * SHORTEST && text.chars().count() < SHORTEST {
        return None;
    }
    XxHash3_128::oneshot(text.as_bytes()).to_le_bytes()[..12].try_into().ok()
}

/// Returns whether an attribute is an identity.
pub fn is_identity(attribute: &str) -> bool {
    IDENTITIES.contains(&attribute)
}

/// What some objects are called, and which texts their attributes hold.
#[derive(Debug, Default)]
pub struct Mentions {
    objects: Vec<(String, String)>,
    identities: Vec<(Digest, u32)>,
    texts: Vec<(Digest, u32)>,
}

/// One object that is being looked at.
pub struct Known<'a> {
    mentions: &'a mut Mentions,
    is_managed: bool,
    own: Vec<Digest>,
    texts: Vec<Digest>,
}

impl Mentions {
    /// Begins with an object.
    pub fn object(&mut self, is_managed: bool) -> Known<'_> {
        Known { mentions: self, is_managed, own: Vec::new(), texts: Vec::new() }
    }
}

impl Known<'_> {
    /// Takes in an attribute that is not sensitive.
    pub fn attribute(&mut self, name: &str, value: &Value) {
        match value.as_str().filter(|_| is_identity(name)) {
            Some(text) => self.own.extend(digest(text)),
            None => texts_of(value, &mut |it| self.texts.extend(digest(it))),
        }
    }

    /// The object is done.
    pub fn done(mut self, stack: &str, address: &str) {
        let number = self.mentions.objects.len() as u32;
        self.texts.retain(|it| !self.own.contains(it));
        self.texts.sort_unstable();
        self.texts.dedup();
        self.own.sort_unstable();
        self.own.dedup();
        let own = self.own.drain(..).filter(|_| self.is_managed);
        self.mentions.identities.extend(own.map(|it| (it, number)));
        self.mentions.texts.extend(self.texts.drain(..).map(|it| (it, number)));
        self.mentions.objects.push((stack.to_owned(), address.to_owned()));
    }
}

fn texts_of(value: &Value, see: &mut dyn FnMut(&str)) {
    match value.bare() {
        Value::String(text) => see(text),
        Value::Number(_) | Value::Bool(_) | Value::Null(_) => {}
        bare => bare.children().for_each(|it| texts_of(it, see)),
    }
}

/// All objects of a fleet, and the file of what they mention.
pub struct Uses {
    stacks: Vec<String>,
    stack_numbers: FxHashMap<String, u32>,
    /// The addresses, one behind the other.
    names: String,
    /// Of each object: its stack, and where its address ends.
    objects: Vec<(u32, usize)>,
    identities: Vec<(Digest, u32)>,
    texts: BufWriter<File>,
}

/// One object, by its stack and its address.
pub type Object<'a> = (&'a str, &'a str);

impl Uses {
    /// Begins with no objects.
    ///
    /// # Errors
    ///
    /// If there is no room for a file.
    pub fn new() -> std::io::Result<Uses> {
        Ok(Uses {
            stacks: Vec::new(),
            stack_numbers: FxHashMap::default(),
            names: String::new(),
            objects: Vec::new(),
            identities: Vec::new(),
            texts: BufWriter::with_capacity(1 << 20, tempfile::tempfile()?),
        })
    }

    /// Takes in some objects.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn absorb(&mut self, mentions: Mentions) -> std::io::Result<()> {
        let first = self.objects.len() as u32;
        for (stack, address) in mentions.objects {
            let next = self.stacks.len() as u32;
            let number = *self.stack_numbers.entry(stack).or_insert_with_key(|it| {
                self.stacks.push(it.clone());
                next
            });
            self.names.push_str(&address);
            self.objects.push((number, self.names.len()));
        }
        let moved = mentions.identities.into_iter().map(|(it, object)| (it, first + object));
        self.identities.extend(moved);
        for (digest, object) in mentions.texts {
            self.texts.write_all(&digest)?;
            self.texts.write_all(&(first + object).to_le_bytes())?;
        }
        Ok(())
    }

    fn object(&self, number: u32) -> Object<'_> {
        let (stack, end) = self.objects[number as usize];
        let start = number.checked_sub(1).map_or(0, |it| self.objects[it as usize].1);
        (&self.stacks[stack as usize], &self.names[start..end])
    }

    /// Adds an object that was found elsewhere: which of its texts are identities, and which might name others.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn add(
        &mut self,
        (stack, address): Object<'_>,
        identities: Vec<Digest>,
        texts: Vec<Digest>,
    ) -> std::io::Result<()> {
        let objects = vec![(stack.to_owned(), address.to_owned())];
        let of = |all: Vec<Digest>| all.into_iter().map(|it| (it, 0)).collect();
        self.absorb(Mentions { objects, identities: of(identities), texts: of(texts) })
    }

    /// Returns all identities that were taken in.
    pub fn identities(&self) -> impl Iterator<Item = Digest> {
        self.identities.iter().map(|it| it.0)
    }

    /// Returns all texts that were taken in.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn texts(&mut self) -> std::io::Result<FxHashSet<Digest>> {
        let mut found = FxHashSet::default();
        for_each_record(&mut self.texts, |record| {
            found.extend(record.map(|it| split(it).0));
        })?;
        Ok(found)
    }

    /// Shows which object uses which, in the order of what was taken in.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn join(mut self, see: &mut dyn FnMut(Object<'_>, Object<'_>)) -> std::io::Result<()> {
        self.identities.sort_unstable();
        let groups = self.groups();
        let mut texts = std::mem::replace(&mut self.texts, BufWriter::new(tempfile::tempfile()?));
        let mut found: Vec<(u32, u32)> = Vec::new();
        let mut current = u32::MAX;
        for_each_record(&mut texts, |record| {
            let record = record.map(split);
            if record.is_none_or(|it| it.1 != current) {
                found.sort_unstable();
                found.dedup();
                for (user, used) in found.drain(..) {
                    see(self.object(user), self.object(used));
                }
            }
            let Some((digest, object)) = record else { return };
            current = object;
            if let Some((start, end)) = groups.get(&digest) {
                let used = self.identities[*start as usize..*end as usize].iter().map(|it| it.1);
                found.extend(used.filter(|it| *it != object).map(|it| (object, it)));
            }
        })
    }

    /// Where the objects of each identity stand, but for those that objects of too many stacks have.
    fn groups(&self) -> FxHashMap<Digest, (u32, u32)> {
        let mut groups = FxHashMap::default();
        let mut start = 0;
        while start < self.identities.len() {
            let digest = self.identities[start].0;
            let rest = self.identities[start..].iter();
            let end = start + rest.take_while(|it| it.0 == digest).count();
            let stacks = self.identities[start..end].iter().map(|it| self.objects[it.1 as usize].0);
            let mut stacks: Vec<u32> = stacks.take(1 << 16).collect();
            stacks.sort_unstable();
            stacks.dedup();
            if stacks.len() <= MOST_STACKS {
                groups.insert(digest, (start as u32, end as u32));
            }
            start = end;
        }
        groups
    }
}

/// Shows every record of a file, and nothing behind the last.
fn for_each_record(
    file: &mut BufWriter<File>,
    mut see: impl FnMut(Option<&[u8; 16]>),
) -> std::io::Result<()> {
    file.flush()?;
    let mut file = file.get_ref().try_clone()?;
    file.rewind()?;
    let mut reader = BufReader::with_capacity(1 << 20, &file);
    let mut record = [0; 16];
    loop {
        match reader.read_exact(&mut record) {
            Ok(()) => see(Some(&record)),
            Err(why) if why.kind() == std::io::ErrorKind::UnexpectedEof => break,
            Err(why) => return Err(why),
        }
    }
    see(None);
    // What is written next comes behind what is there.
    file.seek(std::io::SeekFrom::End(0)).map(drop)
}

fn split(record: &[u8; 16]) -> (Digest, u32) {
    let (mut digest, mut object) = ([0; 12], [0; 4]);
    digest.copy_from_slice(&record[..12]);
    object.copy_from_slice(&record[12..]);
    (digest, u32::from_le_bytes(object))
}

#[cfg(test)]
mod tests {
    use entail::value::Value;
    use entail::value::json::from_json_implied;

    use super::{Mentions, Uses};

    /// Objects as `STACK ADDRESS {attributes}`, and who uses whom.
    fn joined(objects: &[(&str, &str, &str)]) -> Vec<String> {
        let mut uses = Uses::new().expect("room for a file");
        for (stack, address, attributes) in objects {
            let mut mentions = Mentions::default();
            let value: Value = from_json_implied(attributes).expect("attributes");
            let mut known = mentions.object(!address.starts_with("data."));
            for (name, it) in value.entries() {
                known.attribute(&name, it);
            }
            known.done(stack, address);
            uses.absorb(mentions).expect("it is written");
        }
        let mut found = Vec::new();
        uses.join(&mut |n, m| found.push(format!("{}@{} {}@{}", n.1, n.0, m.1, m.0)))
            .expect("it is read");
        found
    }

    #[test]
    fn nested_arguments_name_objects_of_other_stacks_and_of_their_own() {
        let found = joined(&[
            ("net", "vpc.a", r#"{"id":"vpc-12345678","arn":"arn:aws:vpc/1"}"#),
            ("app", "web.w", r#"{"id":"web-12345678","nets":[{"vpc":"vpc-12345678"}]}"#),
            ("app", "dns.d", r#"{"id":"dns-12345678","to":"web-12345678","short":"vpc-1"}"#),
        ]);
        assert_eq!(found, ["web.w@app vpc.a@net", "dns.d@app web.w@app"]);
    }

    #[test]
    fn nothing_uses_itself_or_a_data_source_or_what_is_too_short() {
        let found = joined(&[
            ("a", "x.a", r#"{"id":"same-identity","name":"same-identity"}"#),
            ("a", "data.x.a", r#"{"id":"data-identity"}"#),
            ("a", "x.b", r#"{"id":"b-12345678","reads":"data-identity","n":"short"}"#),
            ("a", "x.c", r#"{"id":"short"}"#),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn an_identity_that_many_stacks_have_tells_nothing() {
        let stacks: Vec<String> = (0..9).map(|it| format!("s{it}")).collect();
        let same = r#"{"id":"default-group"}"#;
        let mut objects: Vec<(&str, &str, &str)> =
            stacks[..8].iter().map(|it| (it.as_str(), "x.a", same)).collect();
        objects.push(("user", "y.a", r#"{"id":"user-12345678","group":"default-group"}"#));
        assert_eq!(joined(&objects).len(), 8);
        objects.push((&stacks[8], "x.a", same));
        assert_eq!(joined(&objects).len(), 0);
    }
}
