//! Services to try backends by hand: `cargo run --example services`. They end with the program, which ends with its input.
//!
//! Real ones are better where they can be had: `consul agent -dev`, a cluster of `kind` or `k3s`.

#[expect(dead_code, reason = "only tests look into them")]
mod services;

fn main() {
    let server = services::postgres::Postgres::start();
    let lines = [
        server.as_ref().map(|it| format!("backend \"pg\" {{ conn_str = {:?} }}", it.address())),
        Some(format!(
            "backend \"http\" {{ address = \"http://127.0.0.1:{}/NAME\" }}",
            services::states::start().0
        )),
        Some(format!(
            "backend \"consul\" {{ address = \"127.0.0.1:{}\" }}",
            services::consul::start().0
        )),
        Some(format!(
            "backend \"kubernetes\" {{ host = \"http://127.0.0.1:{}\" }}",
            services::kubernetes::start("").0
        )),
    ];
    let text: String = lines.into_iter().flatten().map(|it| format!("{it}\n")).collect();
    use std::io::{Read, Write};
    let mut out = std::io::stdout();
    // Whoever does not read it does not want it.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
