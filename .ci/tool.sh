# What the scripts beside this file share. It is read by them, and does nothing by itself.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Ends the script, so that nobody overlooks it, but without a failure: what is not there is no fault of the change.
skip() {
    printf '\n*** SKIPPED %s: %s\n\n' "$(basename "$0")" "$1" >&2
    exit 0
}

# Ends the script where a program is missing. `need PROGRAM PACKAGE`
need() {
    command -v "$1" >/dev/null 2>&1 || skip "$1 is not installed: cargo install --locked $2"
}

# The value of a key in the manifest, or in the file that is named after it. `manifest KEY [FILE]`
manifest() {
    sed -n "s/^$1 = \"\\(.*\\)\"\$/\\1/p" "${2:-Cargo.toml}" | head -n 1
}
