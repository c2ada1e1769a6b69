"""The man page of attnc and its completion for bash and zsh, from what `attnc --help` prints.

    write_manual.py ATTNC FOLDER     writes attnc.1, attnc.bash and _attnc
"""

import pathlib
import re
import subprocess
import sys


def ask(attnc, *arguments):
    return subprocess.run([attnc, *arguments], capture_output=True, text=True, check=True).stdout


class Option:
    """One line of a command's help: `  --name   summary; what the value is`."""

    def __init__(self, name, text):
        self.name = name
        self.summary, _, self.value = text.rpartition("; ") if "; " in text else (text, "", "")
        listed = re.match(r"one of (.*)", self.value)
        self.choices = listed.group(1).split(", ") if listed else []

    @property
    def takes_folder(self):
        return self.value.startswith("a folder")

    @property
    def takes_file(self):
        return bool(re.match(r"a (file|path|name .*path)", self.value))


class Command:
    def __init__(self, attnc, usage, summary):
        self.name, self.usage, self.summary = usage.split()[1], usage, summary
        lines = ask(attnc, self.name, "--help").splitlines()
        matches = [re.match(r"  (-\S+) +(.*)", line) for line in lines]
        self.options = [Option(*match.groups()) for match in matches if match]

    @property
    def takes_spec(self):
        return "SPEC" in self.usage


class Help:
    """All that attnc says about itself."""

    def __init__(self, attnc):
        lines = ask(attnc, "--help").splitlines()
        self.opening = lines[0]
        rows = [re.match(r"  (attnc .*?)  +(.*)", line) for line in lines]
        self.commands = [Command(attnc, *row.groups()) for row in rows if row]
        self.closing = [line for line in lines[lines.index("") + 1:] if line and not line.startswith(" ")]
        self.version = ask(attnc, "--version").splitlines()


# --- the man page -----------------------------------------------------------------------------------------------------

def roff(text):
    """Text that roff takes as it stands."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return "\\&" + text if text[:1] in (".", "'") else text


def man_page(about):
    version = about.version[0].removeprefix("Attune ")
    lines = [f'.TH ATTNC 1 "" "Attune {version}" "User Commands"', ".SH NAME", "attnc \\- compiles efficient attention",
             ".SH SYNOPSIS"]
    for command in about.commands:
        lines += [f".B attnc {command.name}", roff(command.usage.split(maxsplit=2)[2]), ".br"]
    lines += [".SH DESCRIPTION", roff(about.opening), ".SH COMMANDS"]
    for command in about.commands:
        lines += [".SS " + roff(command.usage), roff(command.summary[0].upper() + command.summary[1:]) + "."]
        for option in command.options:
            value = f" \\fR({roff(option.value)})" if option.value else ""
            lines += [".TP", f"\\fB{roff(option.name)}{value}\\fR", roff(option.summary)]
    lines.append(".SH NOTES")
    for line in about.closing:
        lines += [roff(line), ".br"]
    lines += [".SH VERSION"]
    for line in about.version[:3]:
        lines += [roff(line), ".br"]
    return "\n".join(lines) + "\n"


# --- completion -------------------------------------------------------------------------------------------------------

def bash_values(command):
    """A `case` of what may follow each option."""
    for option in command.options:
        if option.choices:
            yield f"    {command.name}:{option.name}) words='{' '.join(option.choices)}' ;;"
        elif option.takes_folder:
            yield f"    {command.name}:{option.name}) kind=folder ;;"
        elif option.takes_file:
            yield f"    {command.name}:{option.name}) kind=file ;;"
        elif option.value:
            yield f"    {command.name}:{option.name}) kind=none ;;"


def bash(about):
    names = " ".join(command.name for command in about.commands)
    values = "\n".join(line for command in about.commands for line in bash_values(command))
    options = "\n".join(f"      {command.name}) words='{' '.join(option.name for option in command.options)}' ;;"
                        for command in about.commands)
    return f"""# Completion of attnc for bash, made from its help.
_attnc() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words='' kind=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{names} --help --version' -- "$current"))
    return
  fi
  case "$command:$before" in
{values}
  esac
  if [ -z "$words$kind" ] && [[ $current == -* ]]; then
    case "$command" in
{options}
    esac
  fi
  case "${{words:+words}}$kind" in
    words) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    none) ;;
    folder) COMPREPLY=($(compgen -d -- "$current")) ;;
    file) COMPREPLY=($(compgen -f -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -X '!*.@(yaml|mlir|onnx)' -- "$current") $(compgen -d -- "$current")) ;;
  esac
}}
shopt -s extglob
complete -o filenames -F _attnc attnc
"""


def zsh_quoted(text):
    """Text inside the brackets or after the colon of an argument of _arguments, which stands in single quotes."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(option):
    """The name, what it does, what its value is and how that is completed."""
    text = f"{option.name}[{zsh_quoted(option.summary)}]"
    if option.value:
        action = f"({' '.join(option.choices)})" if option.choices else "_files -/" if option.takes_folder else \
            "_files" if option.takes_file else " "
        text += f":{zsh_quoted(option.value)}:{action}"
    return f"        '{text}'"


def zsh(about):
    commands = "\n".join(f"    '{command.name}:{zsh_quoted(command.summary)}'" for command in about.commands)
    cases = ""
    for command in about.commands:
        lines = [zsh_option(option) for option in command.options]
        if command.takes_spec:
            lines.append("        '*:spec:_files -g \"*.(yaml|mlir|onnx)\"'")
        cases += f"    {command.name})\n      _arguments \\\n" + " \\\n".join(lines) + " ;;\n"
    return f"""#compdef attnc
# Completion of attnc for zsh, made from its help.
local -a names
names=(
{commands}
)
if (( CURRENT == 2 )); then
  _describe command names
  return
fi
local command=$words[2]
shift words
(( CURRENT-- ))
case $command in
{cases}esac
"""


def main(attnc, folder):
    about = Help(attnc)
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, write in [("attnc.1", man_page), ("attnc.bash", bash), ("_attnc", zsh)]:
        (out / name).write_text(write(about), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
