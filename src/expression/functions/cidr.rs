//! IP networks.

use std::net::{Ipv4Addr, Ipv6Addr};

use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive};

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::error::Error;
use crate::value::{Number, Type, Value};

const PREFIX: Parameter = Parameter::string("prefix").about("A network, such as `10.0.0.0/8`.");
const TEXT: Returns = Returns::Always(Shape::String);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "cidrhost",
        description: "Returns the address of a host in a network, counted from the end where negative.",
        parameters: &[
            PREFIX,
            Parameter::number("hostnum")
                .about("A whole number that fits in the bits behind the prefix."),
        ],
        variadic: None,
        returns: TEXT,
        body: cidrhost,
    },
    Function {
        name: "cidrnetmask",
        description: "Returns the netmask of an IPv4 network.",
        parameters: &[PREFIX],
        variadic: None,
        returns: TEXT,
        body: cidrnetmask,
    },
    Function {
        name: "cidrsubnet",
        description: "Returns one of the networks into which a network is cut by more prefix bits.",
        parameters: &[
            PREFIX,
            Parameter::number("newbits").about("How many bits the prefix grows by."),
            Parameter::number("netnum")
                .about("What the new bits hold: a whole number that fits in them."),
        ],
        variadic: None,
        returns: TEXT,
        body: cidrsubnet,
    },
    Function {
        name: "cidrsubnets",
        description: "Returns networks of several sizes, one after the other within a network.",
        parameters: &[PREFIX],
        variadic: Some(Parameter::number("newbits")),
        returns: Returns::Always(Shape::ListOfString),
        body: cidrsubnets,
    },
    Function {
        name: "cidrcontains",
        description: "Tells whether an address or network lies within a network.",
        parameters: &[
            Parameter::string("containing_prefix").about("A network, such as `10.0.0.0/8`."),
            Parameter::string("contained_ip_or_prefix").about("An address, or a network."),
        ],
        variadic: None,
        returns: Returns::Nullable(Shape::Bool),
        body: cidrcontains,
    },
];

/// An address with its width in bits, 32 or 128.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Address {
    bits: u128,
    width: u32,
}

/// A network: its first address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Network {
    first: Address,
    prefix: u32,
}

impl Address {
    fn text(self) -> String {
        if self.width == 32 {
            return Ipv4Addr::from(self.bits as u32).to_string();
        }
        let address = Ipv6Addr::from(self.bits);
        address.to_ipv4_mapped().map_or_else(|| address.to_string(), |it| it.to_string())
    }
}

impl Network {
    /// How many bits are left for hosts.
    fn host_bits(self) -> u32 {
        self.first.width - self.prefix
    }

    fn last(self) -> u128 {
        self.first.bits | low_bits(self.host_bits())
    }

    fn contains(self, address: Address) -> bool {
        address.width == self.first.width && (self.first.bits..=self.last()).contains(&address.bits)
    }

    fn text(self) -> String {
        // An IPv4 network in IPv6 clothes is written as what it is.
        let mapped = self.first.width == 128
            && self.prefix >= 96
            && Ipv6Addr::from(self.first.bits).to_ipv4_mapped().is_some();
        format!("{}/{}", self.first.text(), if mapped { self.prefix - 96 } else { self.prefix })
    }
}

fn low_bits(count: u32) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// Reads four decimal numbers; leading zeros mean nothing.
fn parse_v4(text: &str) -> Option<u32> {
    let mut bits = 0_u32;
    let mut count = 0;
    for part in text.split('.') {
        if part.is_empty() || !part.bytes().all(|it| it.is_ascii_digit()) || count == 4 {
            return None;
        }
        let part = part.trim_start_matches('0');
        let number: u8 = if part.is_empty() { 0 } else { part.parse().ok()? };
        bits = bits << 8 | u32::from(number);
        count += 1;
    }
    (count == 4).then_some(bits)
}

fn parse_address(text: &str) -> Option<Address> {
    if !text.contains(':') {
        return parse_v4(text).map(|bits| Address { bits: bits.into(), width: 32 });
    }
    let address = match text.rsplit_once(':') {
        // The tail may be an IPv4 address with leading zeros.
        Some((head, tail)) if tail.contains('.') => {
            let v4 = parse_v4(tail)?;
            format!("{head}:{:x}:{:x}", v4 >> 16, v4 & 0xffff).parse::<Ipv6Addr>().ok()?
        }
        _ => text.parse().ok()?,
    };
    Some(Address { bits: address.into(), width: 128 })
}

fn parse_network(text: &str) -> Result<Network, Error> {
    let wrong = || Error::from(format!("invalid CIDR address: {text}"));
    let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
    let address = parse_address(address).ok_or_else(wrong)?;
    if prefix.is_empty() || !prefix.bytes().all(|it| it.is_ascii_digit()) {
        return Err(wrong());
    }
    let prefix: u32 = prefix.parse().map_err(|_| wrong())?;
    if prefix > address.width {
        return Err(wrong());
    }
    let bits = address.bits & !low_bits(address.width - prefix);
    Ok(Network { first: Address { bits, width: address.width }, prefix })
}

fn network(call: &Call<'_>) -> Result<Network, Failure> {
    parse_network(call.text(0))
        .map_err(|why| Failure::call(format!("invalid CIDR expression: {why}")))
}

fn whole(call: &Call<'_>, at: usize) -> Result<BigInt, Failure> {
    call.argument(at)
        .as_number()
        .and_then(Number::as_bigint)
        .ok_or_else(|| Failure::call("value must be a whole number"))
}

fn cidrhost(call: &Call<'_>) -> CallResult {
    let host = whole(call, 1)?;
    let network = network(call)?;
    let size: BigInt = BigInt::one() << network.host_bits();
    let place = if host.is_negative() { &size + &host } else { host.clone() };
    if place.is_negative() || place >= size {
        return Err(Failure::call(format!(
            "prefix of {} does not accommodate a host numbered {host}",
            network.prefix
        )));
    }
    let bits = network.first.bits | place.to_u128().unwrap_or(0);
    Ok(Value::string(Address { bits, width: network.first.width }.text()))
}

fn cidrnetmask(call: &Call<'_>) -> CallResult {
    let network = network(call)?;
    let mapped = Ipv6Addr::from(network.first.bits).to_ipv4_mapped().is_some();
    if network.first.width != 32 && !mapped {
        return Err(Failure::call(format!(
            "IPv6 addresses cannot have a netmask: {}",
            call.text(0)
        )));
    }
    let bits = !low_bits(network.host_bits()) & low_bits(network.first.width);
    Ok(Value::string(Address { bits, width: network.first.width }.text()))
}

fn cidrsubnet(call: &Call<'_>) -> CallResult {
    let more = call.int(1).map_err(Failure::of_call)?;
    let number = whole(call, 2)?;
    let network = network(call)?;
    let prefix = i64::from(network.prefix).saturating_add(more);
    if prefix > i64::from(network.first.width) {
        return Err(Failure::call(format!(
            "insufficient address space to extend prefix of {} by {more}",
            network.prefix
        )));
    }
    let Ok(bits) = u32::try_from(more) else {
        return Err(Failure::call(format!("cannot extend a prefix by {more} bits")));
    };
    if number.is_negative() {
        return Err(Failure::call("subnet number must not be negative"));
    }
    if number >= BigInt::one() << bits {
        return Err(Failure::call(format!(
            "prefix extension of {bits} does not accommodate a subnet numbered {number}"
        )));
    }
    let prefix = network.prefix + bits;
    let shift = network.first.width - prefix;
    let place = number.to_u128().unwrap_or(0).checked_shl(shift).unwrap_or(0);
    let first = Address { bits: network.first.bits | place, width: network.first.width };
    Ok(Value::string(Network { first, prefix }.text()))
}

fn cidrsubnets(call: &Call<'_>) -> CallResult {
    let network = parse_network(call.text(0))
        .map_err(|why| Failure::argument(0, format!("invalid CIDR expression: {why}")))?;
    let width = network.first.width;
    let mut subnets = Vec::new();
    // The first address not given away yet; `None` at the very end of all addresses.
    let mut next = Some(network.first.bits);
    let mut before = None;
    for at in 1..call.arguments.len() {
        let more = call.int(at)?;
        if more < 1 {
            return Err(Failure::argument(at, "must extend prefix by at least one bit"));
        }
        let length = i64::from(network.prefix).saturating_add(more);
        if length > i64::from(width) {
            let protocol = if width == 32 { "IPv4" } else { "IPv6" };
            return Err(Failure::argument(
                at,
                format!(
                    "would extend prefix to {length} bits, which is too long for an {protocol} address"
                ),
            ));
        }
        let prefix = length as u32;
        let hosts = low_bits(width - prefix);
        let start = next.and_then(|it| it.checked_add(hosts)).map(|it| it & !hosts);
        let subnet = start
            .map(|bits| Network { first: Address { bits, width }, prefix })
            .filter(|it| network.contains(it.first));
        let Some(subnet) = subnet else {
            let after = before.unwrap_or(network);
            return Err(Failure::argument(
                at,
                format!(
                    "not enough remaining address space for a subnet with a prefix of {length} bits after {}",
                    after.text()
                ),
            ));
        };
        next = subnet.last().checked_add(1);
        before = Some(subnet);
        subnets.push(Value::string(subnet.text()));
    }
    Ok(Value::list(Type::STRING, subnets))
}

fn cidrcontains(call: &Call<'_>) -> CallResult {
    let (outer, inner) = (call.text(0), call.text(1));
    let network = parse_network(outer).map_err(Failure::call)?;
    let (first, last) = match parse_address(inner) {
        Some(address) => (address, address),
        None => {
            let inner = parse_network(inner)
                .map_err(|_| Failure::call(format!("invalid IP address or prefix: {inner}")))?;
            (inner.first, Address { bits: inner.last(), ..inner.first })
        }
    };
    if first.width != network.first.width {
        return Err(Failure::call(format!("address family mismatch: {outer} vs. {inner}")));
    }
    Ok(Value::Bool(network.contains(first) && network.contains(last)))
}
