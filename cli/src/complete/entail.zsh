#compdef PROGRAM
# Completion of PROGRAM for zsh: source <(PROGRAM completion zsh), behind compinit
_FUNCTION() {
    local line word about
    local -a whole whole_about part part_about
    local before="${(Q)PREFIX}"
    while IFS= read -r line; do
        [[ -n $line ]] || continue
        word="${${line%%$'\t'*}[2,-1]}"
        about="${line#*$'\t'}"
        [[ -n $about ]] && about="$word  -- $about" || about="$word"
        if [[ $line == '>'* ]]; then
            part+=("$word")
            part_about+=("$about")
        else
            whole+=("$word")
            whole_about+=("$about")
        fi
    done < <("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT-1]}" "$before" 2>/dev/null)
    (( $#whole )) && compadd -l -d whole_about -a whole
    (( $#part )) && compadd -S '' -l -d part_about -a part
    return $(( $#whole + $#part == 0 ))
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _FUNCTION "$@"
else
    compdef _FUNCTION PROGRAM
fi
