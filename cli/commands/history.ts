import { Command } from "commander";
import { isJsonArray, isJsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { ApiClient } from "../connection/api-client.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { paintOf, type Shell } from "../shell.ts";
import { printable, shown } from "../text/printable.ts";
import { type Position, position, wholeNumber } from "../text/values.ts";

interface HistoryOptions extends ServerOptions {
  readonly limit: number;
  readonly since?: Position;
  readonly reverse?: boolean;
  readonly remove?: boolean;
  readonly json?: boolean;
}

/** `dormouse history`: prints the publications that a channel keeps, or removes them. */
export function historyCommand(shell: Shell): Command {
  const command = new Command("history")
    .description("print the publications that a channel keeps")
    .argument("<channel>", "the channel")
    .option("--limit <count>", "at most so many; -1 for all", wholeNumber(-1), 100)
    .option("--since <offset:epoch>", "those after this position", position)
    .option("--reverse", "the newest first")
    .option("--remove", "remove them all, and print nothing");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText(
      "after",
      `
Each line is an offset, the payload as JSON, and the tags. The last line is the top of the stream, for --since.

Examples:
  dormouse history news
  dormouse history news --limit 1 --reverse
  dormouse history news --since 42:aBcD --json
  dormouse history news --remove`,
    )
    .action(async (channel: string, options: HistoryOptions) => {
      const client = ApiClient.of(options, shell);
      if (options.remove === true) await client.result("history_remove", { channel });
      else await printHistory(client, channel, options, shell);
    });
}

async function printHistory(
  client: ApiClient,
  channel: string,
  { limit, since, reverse, json }: HistoryOptions,
  shell: Shell,
): Promise<void> {
  const order = {
    ...(since !== undefined && { since }),
    ...(reverse === true && { reverse }),
  };
  const result = await client.result("history", { channel, limit, ...order });
  if (json === true) {
    shell.print(printable(JSON.stringify(result)));
    return;
  }
  const { publications = [], offset = 0, epoch = "" } = result;
  for (const publication of isJsonArray(publications) ? publications : [])
    shell.print(line(publication));
  const { faint } = paintOf(shell);
  shell.print(faint(`top ${shown(offset)}:${shown(epoch)}`));
}

function line(publication: JsonValue): string {
  if (!isJsonObject(publication)) return "";
  const { offset, data, b64data, tags } = publication;
  const payload = data === undefined ? `base64 ${shown(b64data)}` : printable(JSON.stringify(data));
  return [shown(offset), payload, ...(tags === undefined ? [] : [shown(tags)])].join(" ");
}
