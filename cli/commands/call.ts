import { Command } from "commander";
import { ApiClient } from "../connection/api-client.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import type { Shell } from "../shell.ts";
import { typedJson } from "../text/payload-text.ts";
import { printable } from "../text/printable.ts";

interface CallOptions extends ServerOptions {
  readonly key?: string;
  readonly json?: boolean;
}

/** `dormouse call`: calls a procedure of a channel's code, and prints what it returns. */
export function callCommand(shell: Shell): Command {
  const command = new Command("call")
    .description("call a procedure of a channel's code")
    .argument("<channel>", "the channel")
    .argument("<procedure>", "the name of the procedure")
    .argument("[args]", "what it takes, as JSON; - reads the standard input")
    .option("--key <key>", "the idempotency key: a repeated call with it has the first result");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
Prints what the procedure returns, as JSON; nothing if it returns nothing. It is called as by a backend, without a user.

Examples:
  dormouse call auction:7 bid '{"amount":5}'
  dormouse call auction:7 close --key close/7`,
    )
    .action(
      async (
        channel: string,
        procedure: string,
        given: string | undefined,
        { key, json, ...server }: CallOptions,
      ) => {
        const api = ApiClient.of(server, shell);
        const args = given === "-" ? await shell.input() : given;
        const result = await api.result("call", {
          channel,
          procedure,
          ...(args !== undefined && { args: typedJson(args, notJson) }),
          ...(key !== undefined && { idempotency_key: key }),
        });
        const { data } = result;
        if (json === true) shell.print(printable(JSON.stringify(result)));
        else if (data !== undefined && data !== null) shell.print(printable(JSON.stringify(data)));
      },
    );
}

const notJson = "the arguments aren't JSON; texts need double quotes within single ones";
