import { Command, CommanderError } from "commander";
import { version } from "../src/version.ts";
import { appendCommand } from "./commands/append.ts";
import { callCommand } from "./commands/call.ts";
import { deleteCommand, editCommand, eraseCommand, forgetCommand } from "./commands/changes.ts";
import { checkCommand } from "./commands/check.ts";
import { completionCommand } from "./commands/completion.ts";
import { systemCause } from "./configuration/text-file.ts";
import { costCommand } from "./cost/cost.ts";
import { deployCommand } from "./commands/deploy.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { disconnectCommand } from "./commands/disconnect.ts";
import { eventsCommand } from "./commands/events.ts";
import { historyCommand } from "./commands/history.ts";
import { initCommand } from "./commands/init.ts";
import { inspectCommand } from "./commands/inspect.ts";
import { listenCommand } from "./commands/listen.ts";
import { mapCommand } from "./commands/map.ts";
import { migrateCommand } from "./migrate/migrate.ts";
import { outboxCommand } from "./outbox/outbox.ts";
import { presenceCommand } from "./commands/presence.ts";
import { printable, printableOutput } from "./text/printable.ts";
import { proveCommand } from "./commands/prove.ts";
import { publishCommand } from "./commands/publish.ts";
import { exitCodes, Failure, paintOf, type Shell, usageFailure } from "./shell.ts";
import { testServerCommand } from "./test-server/test-server.ts";
import { tokenCommand } from "./token/token.ts";
import { upgradeCommand } from "./commands/upgrade.ts";
import { usersCommand } from "./commands/users.ts";
import { whyCommand } from "./commands/why.ts";

/** All commands of `dormouse`. */
export function programOf(shell: Shell): Command {
  const program = new Command("dormouse")
    .description("The command line of Dormouse, a real-time messaging server.")
    .version(version.split(" ")[0] ?? version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show the help, which has examples")
    .helpCommand(false)
    .showHelpAfterError("(add --help for the options and examples)")
    .addHelpText(
      "after",
      `
Exit codes: 0 done, 1 refused or invalid, 2 a wrong command line or setting, 3 the server can't be reached.`,
    );
  const commands = [
    tokenCommand(shell),
    checkCommand(shell),
    publishCommand(shell),
    editCommand(shell),
    deleteCommand(shell),
    eraseCommand(shell),
    listenCommand(shell),
    historyCommand(shell),
    presenceCommand(shell),
    mapCommand(shell),
    appendCommand(shell),
    callCommand(shell),
    usersCommand(shell),
    disconnectCommand(shell),
    forgetCommand(shell),
    whyCommand(shell),
    inspectCommand(shell),
    doctorCommand(shell),
    eventsCommand(shell),
    outboxCommand(shell),
    costCommand(shell),
    deployCommand(shell),
    migrateCommand(shell),
    initCommand(shell),
    upgradeCommand(shell),
    proveCommand(shell),
    testServerCommand(shell),
    completionCommand(shell, program),
  ];
  for (const command of commands) program.addCommand(command);
  configure(program, shell);
  return program;
}

/** Lets a command and those below it print through the shell, and throw where they would end the process. */
function configure(command: Command, shell: Shell): void {
  command
    .exitOverride()
    .helpOption("-h, --help", "show this help")
    .showHelpAfterError("(add --help for the options and examples)")
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.note(text.trimEnd()),
      // The value of an option may be a payload.
      outputError: (text, write) =>
        write(
          paintOf(shell).bad(
            text.trimEnd().replace(/ argument '[^]*' is invalid\./, " is invalid."),
          ),
        ),
    });
  for (const below of command.commands) configure(below, shell);
}

/**
 * Runs a command line.
 *
 * @param args without the names of node and of the script
 * @returns the exit code
 */
export async function run(args: readonly string[], outer: Shell): Promise<number> {
  const shell: Shell = {
    ...outer,
    print: (text) => outer.print(printableOutput(text)),
    note: (text) => outer.note(printableOutput(text)),
    progress: (text) => outer.progress(printableOutput(text)),
    ask: (question) => outer.ask(printableOutput(question)),
  };
  try {
    const program = programOf(shell);
    if (args.length === 0) {
      shell.print(program.helpInformation().trimEnd());
      return exitCodes.usage;
    }
    await program.parseAsync([...args], { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const failure = error instanceof Failure ? error : fileFailure(error);
    if (failure === undefined) throw error;
    if (args.includes("--json")) shell.note(JSON.stringify({ error: failure.message }));
    else shell.note(paintOf(shell).bad(printable(failure.message)));
    return failure.exitCode;
  }
}

/** The failure of a file that can't be read or written; undefined for any other error. */
function fileFailure(error: unknown): Failure | undefined {
  const cause = systemCause(error);
  if (cause === undefined || !(error instanceof Error) || !("path" in error)) return undefined;
  return usageFailure(`${String(error.path)} can't be used: ${cause}`);
}
