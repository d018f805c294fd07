//! The values of local values, and of variables and outputs of called modules, as the plan was made with them.

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::codec::{Damaged, Decoder, Encoder};
use crate::value::Value;

/// The value of each node that was evaluated while planning. A root variable's value is in the plan's variables, a root
/// output's among its outputs. Ephemeral values are in no plan.
#[derive(Clone, Debug, Default)]
pub struct EvaluatedValues(FxHashMap<Node, Value>);

impl EvaluatedValues {
    /// Returns the value of a node, if it was evaluated.
    pub fn get(&self, node: Node) -> Option<&Value> {
        self.0.get(&node)
    }

    /// Returns the values as bytes, in the order of nodes.
    pub fn encode(&self) -> Vec<u8> {
        let mut rows: Vec<(&Node, &Value)> = self.0.iter().collect();
        rows.sort_unstable_by_key(|it| it.0);
        let mut out = Encoder::default();
        out.list(&rows, |out, (node, value)| {
            out.number(u64::from(node.0));
            out.value(value);
        });
        out.finish()
    }

    /// Reads what [`EvaluatedValues::encode`] wrote. No bytes are no values: plans of earlier versions have none.
    ///
    /// # Errors
    ///
    /// If the bytes are damaged.
    pub fn decode(bytes: &[u8]) -> Result<EvaluatedValues, Damaged> {
        if bytes.is_empty() {
            return Ok(EvaluatedValues::default());
        }
        let mut input = Decoder::new(bytes)?;
        let rows: Vec<(Node, Value)> = input.list(|input| {
            let node = u32::try_from(input.number()?).map_err(|_| Damaged)?;
            Ok((Node(node), input.value()?))
        })?;
        input.finish()?;
        Ok(EvaluatedValues(rows.into_iter().collect()))
    }
}

impl FromIterator<(Node, Value)> for EvaluatedValues {
    fn from_iter<T: IntoIterator<Item = (Node, Value)>>(rows: T) -> EvaluatedValues {
        let lasting = rows.into_iter().filter(|it| !it.1.contains_ephemeral());
        EvaluatedValues(lasting.collect())
    }
}

#[cfg(test)]
mod tests {
    use entail_rules::Node;

    use super::EvaluatedValues;
    use crate::value::{Marks, Type, Value};

    #[test]
    fn what_is_written_is_read_and_ephemeral_values_are_not_written() {
        let secret = Value::string("s").mark(&Marks::sensitive());
        let lent = Value::string("e").mark(&Marks { ephemeral: true, ..Marks::default() });
        let rows =
            [(Node(7), Value::unknown(Type::STRING)), (Node(2), secret.clone()), (Node(3), lent)];
        let values: EvaluatedValues = rows.into_iter().collect();
        let read = EvaluatedValues::decode(&values.encode()).expect("they are read");
        assert_eq!(read.get(Node(2)), Some(&secret));
        assert!(read.get(Node(7)).is_some_and(|it| !it.is_known()));
        assert_eq!(read.get(Node(3)), None);
        assert!(EvaluatedValues::decode(&[]).is_ok_and(|it| it.get(Node(2)).is_none()));
        assert!(EvaluatedValues::decode(&[0xff]).is_err());
    }
}
