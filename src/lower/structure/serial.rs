//! How nodes, and maps whose keys are no text, are written and read with serde.

/// Maps whose keys are no text, as lists of pairs.
pub mod keyed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::address::{InstanceKey, Keyed};

    pub fn serialize<V: Serialize + 'static, S: Serializer>(
        map: &Keyed<V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub fn deserialize<'de, V: Deserialize<'de> + 'static, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Keyed<V>, D::Error> {
        Ok(Vec::<(InstanceKey, V)>::deserialize(from)?.into_iter().collect())
    }
}

/// The same for nodes, which the rules' crate knows nothing of serialising.
pub mod node_pairs {
    use entail_rules::Node;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::super::RareMap;

    pub fn serialize<K: Serialize + 'static, S: Serializer>(
        map: &RareMap<K, Node>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map.iter().map(|(key, node)| (key, node.0)))
    }

    pub fn deserialize<'de, K: Deserialize<'de> + Ord, D: Deserializer<'de>>(
        from: D,
    ) -> Result<RareMap<K, Node>, D::Error> {
        Ok(Vec::<(K, u32)>::deserialize(from)?
            .into_iter()
            .map(|(key, node)| (key, Node(node)))
            .collect())
    }
}

/// The same for nodes of instances.
pub mod keyed_nodes {
    use entail_rules::Node;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::address::{InstanceKey, Keyed};

    pub fn serialize<S: Serializer>(map: &Keyed<Node>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(map.iter().map(|(key, node)| (key, node.0)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Keyed<Node>, D::Error> {
        let pairs = Vec::<(InstanceKey, u32)>::deserialize(from)?;
        Ok(pairs.into_iter().map(|(key, node)| (key, Node(node))).collect())
    }
}

pub mod option_node {
    use entail_rules::Node;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "the shape that serde asks for")]
    pub fn serialize<S: Serializer>(node: &Option<Node>, to: S) -> Result<S::Ok, S::Error> {
        node.map(|it| it.0).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Node>, D::Error> {
        Ok(Option::<u32>::deserialize(from)?.map(Node))
    }
}

pub mod bare_node {
    use entail_rules::Node;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(node: &Node, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(node.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Node, D::Error> {
        u32::deserialize(from).map(Node)
    }
}
