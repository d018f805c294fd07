//! Services that keep states: a server of states over HTTP, doubles of Azure, Consul, Kubernetes and S3, a real PostgreSQL, and proxies
//! that break connections. Everything is in this process, but for PostgreSQL, and ends with it.

pub mod abrupt;
pub mod azure;
pub mod consul;
pub mod gate;
pub mod http;
pub mod kubernetes;
pub mod postgres;
mod protobuf;
pub mod proxy;
pub mod s3;
pub mod states;
pub mod tls;
