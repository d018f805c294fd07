//! Format version 4 as it stands in a file: names and shapes, nothing understood yet.
//!
//! What is missing and what is null are the same; what is not listed here is passed over.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Text that is borrowed from the file where it holds no escapes.
#[derive(Debug)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text<'a>, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.into())))
            }
            fn visit_unit<E>(self) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed("")))
            }
        }
        from.deserialize_any(Visitor)
    }
}

impl Text<'_> {
    /// Returns the text unless it is absent or empty.
    pub(super) fn filled<'a>(it: &'a Option<Text<'_>>) -> Option<&'a str> {
        it.as_ref().map(|it| &*it.0).filter(|it| !it.is_empty())
    }
}

/// A file without its resources, which are handed out one by one: there may be a million.
#[derive(Default)]
pub(super) struct FileV4<'a> {
    pub(super) terraform_version: Option<Text<'a>>,
    pub(super) serial: Option<u64>,
    pub(super) lineage: Option<Text<'a>>,
    pub(super) outputs: Option<BTreeMap<String, OutputV4<'a>>>,
    pub(super) check_results: Option<Vec<CheckV4<'a>>>,
    pub(super) entail: Option<OwnV4<'a>>,
}

/// A file whose resources were read before.
pub(super) struct Rest<'a>(pub(super) FileV4<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Rest<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Rest<'a>, D::Error> {
        let mut is_more = false;
        let file = Streamed(|_| is_more = true).deserialize(from)?;
        // Of an own record nothing is left but that there is one.
        let is_more = is_more || file.entail.as_ref().is_some_and(|it| !it.is_empty());
        if is_more { Err(Error::custom("there is more")) } else { Ok(Rest(file)) }
    }
}

/// Reads a file, and gives each of its resources to whoever takes them.
pub(super) struct Streamed<F>(pub(super) F);

impl<'de, F: FnMut(ResourceV4<'de>)> DeserializeSeed<'de> for Streamed<F> {
    type Value = FileV4<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<FileV4<'de>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, F: FnMut(ResourceV4<'de>)> Visitor<'de> for Streamed<F> {
    type Value = FileV4<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<FileV4<'de>, A::Error> {
        const KNOWN: [&str; 7] = [
            "terraform_version",
            "serial",
            "lineage",
            "outputs",
            "resources",
            "check_results",
            "entail",
        ];
        let mut file = FileV4::default();
        let mut seen = [false; KNOWN.len()];
        while let Some(name) = map.next_key::<Text<'de>>()? {
            let Some(at) = KNOWN.iter().position(|it| *it == &*name.0) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if std::mem::replace(&mut seen[at], true) {
                return Err(Error::duplicate_field(KNOWN[at]));
            }
            match KNOWN[at] {
                "terraform_version" => file.terraform_version = map.next_value()?,
                "serial" => file.serial = map.next_value()?,
                "lineage" => file.lineage = map.next_value()?,
                "outputs" => file.outputs = map.next_value()?,
                "resources" => map.next_value_seed(Each(&mut self.0))?,
                "check_results" => file.check_results = map.next_value()?,
                _ => file.entail = map.next_value()?,
            }
        }
        Ok(file)
    }
}

/// A list of resources, or null.
pub(super) struct Each<'f, F>(pub(super) &'f mut F);

impl<'de, F: FnMut(ResourceV4<'de>)> DeserializeSeed<'de> for Each<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de, F: FnMut(ResourceV4<'de>)> Visitor<'de> for Each<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while let Some(resource) = all.next_element()? {
            (self.0)(resource);
        }
        Ok(())
    }
}

/// Our own record. See [`super::write`].
#[derive(Deserialize)]
pub(super) struct OwnV4<'a> {
    #[serde(borrow, default)]
    pub(super) made_from: Option<MadeFrom<'a>>,
    /// What older versions wrote, which did not look behind data sources.
    #[serde(borrow, default)]
    pub(super) reads: Option<MadeFrom<'a>>,
    /// Objects that may exist without a record.
    #[serde(borrow, default)]
    pub(super) unconfirmed: Option<Vec<UnconfirmedV4<'a>>>,
}

/// An object that may exist without a record.
#[derive(Deserialize)]
pub(super) struct UnconfirmedV4<'a> {
    #[serde(borrow)]
    pub(super) address: Text<'a>,
    #[serde(borrow, default)]
    pub(super) provider: Option<Text<'a>>,
    #[serde(default)]
    pub(super) known: Option<BTreeMap<String, String>>,
}

impl OwnV4<'_> {
    /// Returns whether nothing is said of what objects were made from.
    fn is_empty(&self) -> bool {
        self.reads.is_none() && self.made_from.as_ref().is_none_or(|it| it.0.is_empty())
    }
}

/// What each object was made from, in the order of the file: instances, or whole resources.
pub(super) struct MadeFrom<'a>(pub(super) Vec<(Text<'a>, Vec<Text<'a>>)>);

impl<'de: 'a, 'a> Deserialize<'de> for MadeFrom<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MadeFrom<'a>, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = MadeFrom<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MadeFrom<'de>, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(MadeFrom(all))
            }
        }
        from.deserialize_map(Entries)
    }
}

#[derive(Deserialize)]
pub(super) struct OutputV4<'a> {
    #[serde(borrow, default)]
    pub(super) value: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "type")]
    pub(super) ty: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) sensitive: Option<bool>,
    #[serde(borrow, default)]
    pub(super) deprecated: Option<Text<'a>>,
}

#[derive(Deserialize)]
pub(super) struct ResourceV4<'a> {
    #[serde(borrow, default)]
    pub(super) module: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) mode: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    pub(super) provider: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) instances: Option<Vec<ObjectV4<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct ObjectV4<'a> {
    #[serde(borrow, default)]
    pub(super) index_key: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) status: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) deposed: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) provider: Option<Text<'a>>,
    #[serde(default)]
    pub(super) schema_version: Option<u64>,
    #[serde(borrow, default)]
    pub(super) attributes: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) attributes_flat: Option<BTreeMap<String, String>>,
    #[serde(borrow, default)]
    pub(super) sensitive_attributes: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) private: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) dependencies: Option<Vec<Text<'a>>>,
    #[serde(default)]
    pub(super) create_before_destroy: Option<bool>,
    #[serde(default)]
    pub(super) skip_destroy: Option<bool>,
    #[serde(borrow, default)]
    pub(super) identity: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) identity_schema_version: Option<u64>,
}

impl ObjectV4<'_> {
    /// Returns the object's own provider address.
    pub(super) fn provider(&self) -> Option<&str> {
        Text::filled(&self.provider)
    }
}

#[derive(Deserialize)]
pub(super) struct CheckV4<'a> {
    #[serde(borrow)]
    pub(super) object_kind: Text<'a>,
    #[serde(borrow)]
    pub(super) config_addr: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow, default)]
    pub(super) objects: Option<Vec<CheckObjectV4<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct CheckObjectV4<'a> {
    #[serde(borrow)]
    pub(super) object_addr: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow, default)]
    pub(super) failure_messages: Option<Vec<Text<'a>>>,
}
