# arguments.zsh FILE COMMAND: prints what FILE gives to zsh's _arguments for `attnc COMMAND `.
_arguments() { print -rl -- "$@" }
_describe() { print -r -- "commands" }
file=$1
words=(attnc $2 '')
CURRENT=3
source $file
