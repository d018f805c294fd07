//! Turns the descriptions of the plugin protocol into messages and services, with no compiler but Rust's.

use std::env;
use std::error::Error;

const FOLDER: &str = "src/provider/plugin/proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={FOLDER}");
    let files = ["helper.proto", "tfplugin5.proto", "tfplugin6.proto"];
    let described = protox::compile(files, [FOLDER])?;
    tonic_prost_build::configure()
        .build_transport(false)
        .build_server(env::var_os("CARGO_FEATURE_ENTAIL_PLUGIN").is_some())
        .btree_map(".")
        .bytes(".")
        .compile_fds(described)?;
    Ok(())
}
