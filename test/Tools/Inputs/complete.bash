# complete.bash FILE WORD...: prints what FILE completes `attnc WORD...` to, the last word being incomplete.
source "$1"
shift
COMP_WORDS=(attnc "$@")
COMP_CWORD=$#
_attnc
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
