import type { JsonObject } from "../../../src/protocol/wire-value.ts";
import type { Variables } from "../compose/interpolation.ts";
import { type FoundApp, type FoundServer, reasons, rowWithout } from "./found-server.ts";
import { isSoketi, readSoketi, readSoketiVariables } from "./soketi.ts";

/**
 * The server that a document or variables describe: soketi's, or the one of a Laravel application's `.env`.
 *
 * @param document of a file; undefined for none
 * @returns undefined if they are of something else, such as Centrifugo
 */
export function findServer(
  document: JsonObject | undefined,
  given: Variables,
): FoundServer | undefined {
  if (document !== undefined) return isSoketi(document) ? readSoketi(document, given) : undefined;
  if (Object.keys(given).some((name) => name.startsWith("CENTRIFUGO_"))) return undefined;
  return readSoketiVariables(given) ?? readLaravel(given);
}

/** Reads the variables that Laravel, and most backends, have for Reverb's and Pusher's applications. */
function readLaravel(given: Variables): FoundServer | undefined {
  const chosen = given["BROADCAST_CONNECTION"] ?? given["BROADCAST_DRIVER"];
  const kinds = ["REVERB", "PUSHER"].filter((kind) => (given[`${kind}_APP_KEY`] ?? "") !== "");
  const kind = kinds.find((one) => one.toLowerCase() === chosen) ?? kinds[0];
  if (kind === undefined) return undefined;
  const own = Object.keys(given).filter((name) => name.startsWith(`${kind}_`));
  const [id, key, secret] = ["ID", "KEY", "SECRET"].map((part) => {
    const from = `${kind}_APP_${part}`;
    return { from, value: given[from] ?? "" };
  });
  if (id === undefined || key === undefined || secret === undefined) return undefined;
  const known = new Set([id, key, secret].map(({ from }) => from));
  const others = own.filter((name) => !known.has(name));
  const app: FoundApp = {
    id,
    key,
    secret,
    // Both allow them unless something else is configured: Reverb in its file, Pusher on its site.
    options: [{ from: "the default", option: "enable_client_messages", value: kind === "REVERB" }],
    hosts: undefined,
    rows: others.map((name) => rowWithout(name, "platform", reasons.address)),
  };
  return { apps: [app], rows: [], unread: [], todo: todoOf(kind) };
}

function todoOf(kind: string): readonly string[] {
  return kind === "PUSHER"
    ? [
        "set enable_client_messages if the application's clients send events: Pusher has that on its site",
      ]
    : ["give config/reverb.php as well if the application has changed it"];
}
