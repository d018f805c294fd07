# Completion of PROGRAM for fish: PROGRAM completion fish | source
function __FUNCTION_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    # A quote that is still open is no part of the word.
    set last (string replace -r -- '^[\'"]' '' "$last")
    set last (string unescape -- "$last"; or echo -- "$last")
    command $words[1] __complete fish $words[2..-1] "$last" 2>/dev/null | string sub -s 2
end
complete -c PROGRAM -f -a '(__FUNCTION_complete)'
