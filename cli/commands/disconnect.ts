import type { OperationName } from "../../src/access/operations.ts";
import { Command } from "commander";
import { ApiClient } from "../connection/api-client.ts";
import { shown } from "../text/printable.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { type Shell, usageFailure } from "../shell.ts";
import { durationSeconds, wholeNumber } from "../text/values.ts";

interface DisconnectOptions extends ServerOptions {
  readonly client?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly block?: boolean;
  readonly for?: number;
  readonly unblock?: boolean;
  readonly json?: boolean;
}

/** `dormouse disconnect`: ends the connections of a user, and may keep the user out. */
export function disconnectCommand(shell: Shell): Command {
  const command = new Command("disconnect")
    .description("end a user's connections, on all transports and in all objects")
    .argument("[user]", "the user's ID; none for one anonymous connection (--client)")
    .option("--client <id>", "only this connection")
    .option("--code <number>", "the code of the close", wholeNumber(3_000, 4_999))
    .option("--reason <text>", "the reason of the close")
    .option("--block", "let none of the user's connections back in")
    .option(
      "--for <duration>",
      "how long --block lasts: 90s, 24h, 7d (default: for ever)",
      durationSeconds,
    )
    .option("--unblock", "let the user in again, and end nothing");
  return withServer(command)
    .option("--json", "print what was done as JSON")
    .addHelpText(
      "after",
      `
The command ends when no such connection hears anything more. SDKs connect again after a code below 3500.

Examples:
  dormouse disconnect ada
  dormouse disconnect ada --client 7c9e… --code 4000 --reason "another device"
  dormouse disconnect mallory --block --for 24h
  dormouse disconnect mallory --unblock`,
    )
    .action(async (user: string | undefined, options: DisconnectOptions) => {
      const [method, params, done] = orderOf(user ?? "", options, shell.nowMs());
      await ApiClient.of(options, shell).result(method, params);
      shell.print(options.json === true ? JSON.stringify({ method, ...params }) : done);
    });
}

/** The method, its parameters, and what is printed when it has been carried out. */
function orderOf(
  user: string,
  options: DisconnectOptions,
  nowMs: number,
): readonly [method: OperationName, params: object, done: string] {
  const { client, code, reason, block, for: seconds, unblock } = options;
  if (user === "" && (client === undefined || block === true || unblock === true))
    throw usageFailure("name the user, or an anonymous connection with --client");
  if (block === true && unblock === true)
    throw usageFailure("--block and --unblock exclude each other");
  if ((block === true || unblock === true) && (client ?? code ?? reason) !== undefined)
    throw usageFailure("--block and --unblock concern all connections, with a code of their own");
  if (seconds !== undefined && block !== true) throw usageFailure("--for needs --block");
  if (reason !== undefined && code === undefined) throw usageFailure("--reason needs --code");
  if (unblock === true) return ["unblock_user", { user }, `${shown(user)} may connect again`];
  if (block === true) {
    const end = seconds === undefined ? {} : { expire_at: Math.floor(nowMs / 1_000) + seconds };
    return ["block_user", { user, ...end }, `${shown(user)} is disconnected and blocked`];
  }
  const who = { ...(user !== "" && { user }), ...(client !== undefined && { client }) };
  const close = code === undefined ? {} : { disconnect: { code, reason: reason ?? "" } };
  return [
    "disconnect",
    { ...who, ...close },
    `${user === "" ? "the connection" : shown(user)} is disconnected`,
  ];
}
