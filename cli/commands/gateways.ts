import { objectsOf, warnIncomplete } from "../connection/answer.ts";
import type { ApiClient } from "../connection/api-client.ts";
import { printable, shown } from "../text/printable.ts";
import { paintOf, type Shell } from "../shell.ts";
import { table } from "../text/table.ts";

/** Prints the gateways that have connections, each with its numbers; with `json`, each page of them as it came. */
export async function printGateways(
  client: ApiClient,
  { json }: { readonly json?: boolean },
  shell: Shell,
): Promise<void> {
  const { title } = paintOf(shell);
  const rows: (readonly string[])[] = [];
  let cursor = "";
  do {
    const result = await client.result("info", cursor === "" ? {} : { cursor });
    if (json === true) shell.print(printable(JSON.stringify(result)));
    // The edge stands for no gateway (rule U23).
    for (const node of objectsOf(result, "nodes").filter(({ uid }) => uid !== "edge"))
      rows.push(
        ["name", "region", "num_clients", "num_users", "num_channels"].map((key) =>
          shown(node[key]),
        ),
      );
    warnIncomplete(result, shell);
    cursor = typeof result["cursor"] === "string" ? result["cursor"] : "";
  } while (cursor !== "");
  if (json === true) return;
  const head = ["gateway", "region", "connections", "users", "channels"].map(title);
  shell.print(rows.length === 0 ? "no gateway has connections" : table([head, ...rows], [2, 3, 4]));
}
