# Functions that the client scripts share. `run` sets WORK (the client's folder, the current one) and TOOLS (programs
# that several clients use), and puts a folder with `tofu` first on the PATH.
#
# The last line that a client prints is its summary. It exits 0 (passed), 1 (failed) or 77 (not tested).

set -euo pipefail
clients=$(dirname "${BASH_SOURCE[0]}")
mkdir -p "$TOOLS"

# The caller's settings must not change a run.
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(TF|TG|TERRAGRUNT|TFCMT|CDKTF)_' || true)
if [[ -n ${ENTAIL_CLIENTS_CONFIG:-} ]]; then
    export TF_CLI_CONFIG_FILE=$ENTAIL_CLIENTS_CONFIG
fi
export GOFLAGS=-buildvcs=false GOWORK=off

# Ends the client: the reason is its summary.
not_tested() {
    echo "$1"
    exit 77
}

fail() {
    echo "$1"
    exit 1
}

# Ends the client if a program is missing.
need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 || not_tested "$program is not installed"
    done
}

# Runs the rest with a home folder of its own. Package clients run before that, because their caches are in the home folder.
leave_home() {
    export HOME=$WORK/home
}

# Copies the source of a Go module. `go_source MODULE VERSION FOLDER`
go_source() {
    local folder
    folder=$(go mod download -json "$1@$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p') || true
    [[ -n $folder ]] || not_tested "the Go module proxy has no $1@$2"
    mkdir -p "$3"
    cp -R "$folder/." "$3"
    chmod -R u+w "$3"
}

# Builds a program of a Go module, unless another client has. `go install MODULE@VERSION` would ask the proxy for the list
# of versions, which not every proxy has. `go_program NAME MODULE VERSION [PACKAGE]`
go_program() {
    [[ ! -x $TOOLS/$1 ]] || return 0
    local build=$WORK/build-$1
    mkdir -p "$build"
    (cd "$build" && go mod init clients && go mod edit -require="$2@$3" && go build -mod=mod -o "$TOOLS/$1" "${4:-$2}")
}

# Fails unless a file contains a text. `expect FILE TEXT`
checks=0
expect() {
    checks=$((checks + 1))
    grep -qF -e "$2" "$1" || {
        cat "$1"
        fail "$1 has no \"$2\""
    }
}

# Compares the log of `go test -v` with the table of known differences, and ends the client. `judge CLIENT LOG`
judge() {
    local passed failed=() differences=() unreached=() test kind summary
    passed=$(grep -c '^--- PASS' "$2" || true)
    [[ $passed -gt 0 ]] || fail 'no test ran'
    while read -r test; do
        kind=$(awk -v client="$1" -v test="$test" '$1 == client && $2 == test {print $3}' "$clients/known.txt")
        case $kind in
            '') failed+=("$test") ;;
            network:) unreached+=("$test") ;;
            *) differences+=("$test") ;;
        esac
    done < <(sed -n 's/^--- FAIL: \([^ ]*\).*/\1/p' "$2")
    awk -v client="$1" '$1 == client && $3 != "network:" {print $2}' "$clients/known.txt" | while read -r test; do
        if grep -q "^--- PASS: $test " "$2"; then
            echo "note: $test passes now: take its line out of tests/clients/known.txt"
        fi
    done
    # A crash or a time limit ends the run early, with no line for the tests that are left.
    grep -qE '^(PASS|FAIL)$' "$2" || fail "the suite ended early, after $passed tests"
    [[ ${#unreached[@]} -eq 0 ]] || echo "note: NOT TESTED, they need the network: ${unreached[*]}"
    summary="$passed tests passed, ${#differences[@]} known differences, ${#unreached[@]} not tested"
    [[ ${#failed[@]} -eq 0 ]] || fail "${#failed[@]} tests failed: ${failed[*]}; $summary"
    echo "$summary"
    exit 0
}
