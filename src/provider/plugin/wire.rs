//! The messages and services of the plugin protocol, made from `proto/` when the program is built.
#![allow(
    dead_code,
    missing_docs,
    unused_qualifications,
    clippy::all,
    reason = "made by the build script"
)]

/// The messages of both major versions.
pub mod entail {
    /// The messages of both major versions.
    pub mod plugin {
        tonic::include_proto!("entail.plugin");
    }
}

/// The calls of version 5.
pub mod tfplugin5 {
    tonic::include_proto!("tfplugin5");
}

/// The calls of version 6.
pub mod tfplugin6 {
    tonic::include_proto!("tfplugin6");
}

/// What a plugin process serves beside.
pub mod helper {
    tonic::include_proto!("plugin");
}
