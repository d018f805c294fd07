# Completion of PROGRAM for bash: source <(PROGRAM completion bash)
_FUNCTION() {
    local line mark=. reply
    COMPREPLY=()
    while IFS= read -r line; do
        [[ -n $line ]] || continue
        [[ $line == '>'* ]] && mark='>'
        COMPREPLY+=("${line:1}")
    done < <("${COMP_WORDS[0]}" __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    # More of the same word can follow: no blank yet.
    if [[ $mark == '>' ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _FUNCTION PROGRAM
