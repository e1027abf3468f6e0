import { Command } from "commander";
import { isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { ApiClient } from "../connection/api-client.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { paintOf, type Shell } from "../shell.ts";
import { printable, shown } from "../text/printable.ts";
import { table } from "../text/table.ts";

interface PresenceOptions extends ServerOptions {
  readonly stats?: boolean;
  readonly json?: boolean;
}

/** `dormouse presence`: lists the subscribers of a channel, or counts them. */
export function presenceCommand(shell: Shell): Command {
  const command = new Command("presence")
    .description("list the subscribers of a channel")
    .argument("<channel>", "the channel")
    .option("--stats", "only their numbers");
  return withServer(command)
    .option("--json", "print the answer as JSON")
    .addHelpText("after", `\nExamples:\n  dormouse presence news\n  dormouse presence news --stats`)
    .action(async (channel: string, { stats, json, ...server }: PresenceOptions) => {
      const method = stats === true ? "presence_stats" : "presence";
      const result = await ApiClient.of(server, shell).result(method, { channel });
      if (json === true) shell.print(printable(JSON.stringify(result)));
      else if (stats === true)
        shell.print(
          `connections: ${shown(result["num_clients"] ?? 0)}, users: ${shown(result["num_users"] ?? 0)}`,
        );
      else printPresence(result, shell);
    });
}

function printPresence({ presence = {}, incomplete }: JsonObject, shell: Shell): void {
  const { title, caution } = paintOf(shell);
  const clients = Object.values(isJsonObject(presence) ? presence : {}).filter(isJsonObject);
  if (clients.length === 0) shell.print("no subscribers");
  else
    shell.print(
      table([
        [title("user"), title("connection"), title("info")],
        ...clients.map(({ user = "", client = "", conn_info: conn, chan_info: chan }) => [
          user === "" ? "(anonymous)" : shown(user),
          shown(client),
          [conn, chan]
            .map((info) => (info === undefined ? "" : printable(JSON.stringify(info))))
            .join(" "),
        ]),
      ]),
    );
  if (incomplete === true) shell.note(caution("incomplete: a gateway didn't answer in time"));
}
