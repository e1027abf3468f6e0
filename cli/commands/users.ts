import { Command } from "commander";
import { isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { objectsOf, warnIncomplete } from "../connection/answer.ts";
import { ApiClient } from "../connection/api-client.ts";
import { ageOf } from "../text/moment.ts";
import { type ServerOptions, withServer } from "../connection/settings.ts";
import { paintOf, type Shell } from "../shell.ts";
import { printGateways } from "./gateways.ts";
import { printable, shown } from "../text/printable.ts";
import { table } from "../text/table.ts";

interface UsersOptions extends ServerOptions {
  readonly status?: boolean;
  readonly json?: boolean;
}

/** `dormouse users`: where users are connected, when they were active, or how many there are on each gateway. */
export function usersCommand(shell: Shell): Command {
  const command = new Command("users")
    .description("show where users are connected; without a user, the numbers of each gateway")
    .argument("[users...]", "the IDs of users")
    .option("--status", "when they were active and online, instead");
  return withServer(command)
    .option("--json", "print the answers as JSON, one line for each")
    .addHelpText(
      "after",
      `
Examples:
  dormouse users
  dormouse users ada grace
  dormouse users ada --status`,
    )
    .action(async (users: readonly string[], options: UsersOptions) => {
      const client = ApiClient.of(options, shell);
      if (users.length === 0) await printGateways(client, options, shell);
      else if (options.status === true) await printStatus(client, users, options, shell);
      else for (const user of users) await printConnections(client, user, options, shell);
    });
}

async function printConnections(
  client: ApiClient,
  user: string,
  { json }: UsersOptions,
  shell: Shell,
): Promise<void> {
  const result = await client.result("connections", { user });
  if (json === true) {
    shell.print(printable(JSON.stringify({ user, ...result })));
    return;
  }
  const { title, faint } = paintOf(shell);
  const { connections = {} } = result;
  const all = Object.entries(isJsonObject(connections) ? connections : {});
  shell.print(title(`${shown(user)}: ${all.length} connection${all.length === 1 ? "" : "s"}`));
  for (const [id, connection] of all) {
    if (!isJsonObject(connection)) continue;
    shell.print(`  ${shown(id)}  ${faint(about(connection, shell.nowMs()))}`);
    const { state = {} } = connection;
    const channels = isJsonObject(state) ? (state["channels"] ?? {}) : {};
    for (const [channel, subscription] of Object.entries(isJsonObject(channels) ? channels : {})) {
      const { offset, epoch } = isJsonObject(subscription) ? subscription : {};
      const at = offset === undefined ? "" : `  at ${shown(offset)}:${shown(epoch)}`;
      shell.print(`    ${shown(channel)}${faint(at)}`);
    }
  }
  warnIncomplete(result, shell);
}

/** The transport, the application and the age of a connection. */
function about(connection: JsonObject, nowMs: number): string {
  const { transport, protocol, app_name: name, app_version: version, region } = connection;
  const { connected_at_ms: sinceMs } = connection;
  const age = typeof sinceMs === "number" ? [`for ${ageOf(nowMs - sinceMs)}`] : [];
  const application = [name, version].filter((one) => one !== undefined).map(shown);
  const place = region === undefined ? [] : [`region ${shown(region)}`];
  return [shown(transport), shown(protocol), ...application, ...place, ...age].join(", ");
}

async function printStatus(
  client: ApiClient,
  users: readonly string[],
  { json }: UsersOptions,
  shell: Shell,
): Promise<void> {
  const result = await client.result("get_user_status", { users });
  if (json === true) {
    shell.print(printable(JSON.stringify(result)));
    return;
  }
  const { title } = paintOf(shell);
  const rows = objectsOf(result, "statuses").map(({ user = "", active, online, state = "" }) => [
    shown(user),
    timeOf(Number(active ?? 0)),
    timeOf(Number(online ?? 0)),
    shown(state),
  ]);
  shell.print(table([["user", "active", "online", "state"].map(title), ...rows]));
  warnIncomplete(result, shell);
}

function timeOf(seconds: number): string {
  return seconds === 0 ? "never" : new Date(seconds * 1_000).toISOString().replace(".000Z", "Z");
}
