import { Argument, Command } from "commander";
import type { Shell } from "../shell.ts";

/** `dormouse completion`: prints a script by which a shell completes commands, options and their choices. */
export function completionCommand(shell: Shell, program: Command): Command {
  return new Command("completion")
    .description("print a script that completes commands and options")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh"]))
    .addHelpText(
      "after",
      `
Examples:
  dormouse completion bash >> ~/.bashrc
  dormouse completion zsh > ~/.zsh/_dormouse   # a folder of $fpath`,
    )
    .action((name: string) => {
      shell.print(name === "bash" ? bashScript(program) : zshScript(program));
    });
}

/** The script for bash, which looks words up in a list for each command. */
export function bashScript(program: Command): string {
  const cases = program.commands.map((command) => bashCase(command));
  const choices = program.commands.flatMap((command) =>
    command.options.flatMap(({ long, argChoices }) =>
      argChoices === undefined
        ? []
        : [`    "${command.name()} ${long}") words="${argChoices.join(" ")}" ;;`],
    ),
  );
  return `_dormouse() {
  local words="" word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words="" ;;
  esac
  case "\${COMP_WORDS[1]} $before" in
${choices.join("\n")}
    "completion completion") words="bash zsh" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${namesIn(program)} --help --version"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _dormouse dormouse`;
}

/** The words of one command: its options, or the names of the commands below it and then their options. */
function bashCase(command: Command): string {
  const name = command.name();
  if (command.commands.length === 0) return `    ${name}) words="${flagsOf(command).join(" ")}" ;;`;
  const below = command.commands.map(
    (each) => `        ${each.name()}) words="${flagsOf(each).join(" ")}" ;;`,
  );
  return `    ${name})
      words="${namesIn(command)} --help"
      if [ "$COMP_CWORD" -gt 2 ]; then case "\${COMP_WORDS[2]}" in
${below.join("\n")}
        *) words="" ;;
      esac; fi ;;`;
}

function namesIn({ commands }: Command): string {
  return commands.map((command) => command.name()).join(" ");
}

/** The script for zsh, which shows the descriptions as well. */
export function zshScript(program: Command): string {
  return `#compdef dormouse
_dormouse() {
  local -a commands
  local command
${zshCommands(program, "  ")}
}
if [ "$funcstack[1]" = "_dormouse" ]; then _dormouse "$@"; else compdef _dormouse dormouse; fi`;
}

/** Completes the name of a command, or what follows it, from the words that are left. */
function zshCommands({ commands }: Command, indent: string): string {
  const names = commands.map(
    (command) => `  ${quoted(`${command.name()}:${command.description()}`)}`,
  );
  const cases = commands.map((command) => {
    const rest =
      command.commands.length === 0
        ? zshArguments(command, `${indent}    `)
        : zshCommands(command, `${indent}    `);
    return `    ${command.name()})\n${rest} ;;`;
  });
  const lines = [
    "commands=(",
    ...names,
    ")",
    "if (( CURRENT == 2 )); then",
    "  _describe command commands",
    "else",
    "  command=$words[2]",
    "  shift words",
    "  (( CURRENT-- ))",
    "  case $command in",
    ...cases,
    "  esac",
    "fi",
  ];
  return lines.map((line) => indent + line).join("\n");
}

function zshArguments(command: Command, indent: string): string {
  const options = command.options.map(({ long, description, argChoices, required, optional }) => {
    const value = argChoices === undefined ? ":value:_files" : `:value:(${argChoices.join(" ")})`;
    const takes = required || optional ? value : "";
    return `${indent}  ${quoted(`*${long}[${escaped(description)}]${takes}`)} \\`;
  });
  const rest = command.name() === "completion" ? "'*:shell:(bash zsh)'" : "'*:argument:_files'";
  return [`${indent}_arguments \\`, ...options, `${indent}  ${rest}`].join("\n");
}

function flagsOf(command: Command): readonly string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), "--help"];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Brackets and colons have a meaning in the specification of an option. */
function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}
