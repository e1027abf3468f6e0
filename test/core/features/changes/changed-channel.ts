import type { Channel } from "../../../../src/channel/channel.ts";
import { execute } from "../../../../src/api/execute.ts";
import type { ChannelOptions } from "../../../../src/config/config.ts";
import { parseEntry } from "../../../../src/api/methods.ts";
import type { Tags } from "../../../../src/protocol/publication.ts";
import type { Sql } from "../../../../src/sql.ts";
import { configured } from "../../../support/configured.ts";
import { payloadBytes } from "../../../../src/protocol/payload.ts";
import { caller } from "../../api/channel-config.ts";
import {
  openChannel,
  type Opening,
  publishing,
  withHistory,
} from "../../../contract/open-channel.ts";

/** A namespace that allows changes, with a history of five publications. */
const changing: Partial<ChannelOptions> = {
  ...withHistory,
  changes: { ownForClient: false, windowMs: 0, erasableByUser: false },
};

/** Opens a channel that allows changes, with the epoch "e" if it is new. */
export function openChanging(sql: Sql, opening: Opening = {}): Channel {
  const options = { ...changing, ...opening.options };
  return openChannel(sql, { newEpoch: () => "e", ...opening, options });
}

/** Carries out a request of the API on a channel, and gives what a backend would get. */
export function call(
  channel: Channel,
  method: "update_publication" | "delete_publication" | "erase",
  params: object,
  nowMs = 0,
): Readonly<Record<string, unknown>> {
  const config = configured({ channel: { without_namespace: changingNamespace } }).channel;
  const request = JSON.stringify({ channel: channel.name, ...params });
  const entry = parseEntry(method, request, { ...caller(), channels: config });
  if (entry.outcome === "refused") return { error: entry.error.code };
  if (entry.outcome !== "call") throw new Error(entry.outcome);
  const answer = execute(channel, entry.command, nowMs);
  if ("error" in answer) return { error: answer.error.code };
  const result: Readonly<Record<string, unknown>> = JSON.parse(answer.result);
  return result;
}

const changingNamespace = { history_size: 5, history_ttl: "1h", allow_change: true };

/** Publishes texts, one after the other. */
export function publishAll(channel: Channel, ...texts: readonly string[]): void {
  for (const text of texts) channel.publish(publishing(JSON.stringify(text)), undefined, 0);
}

/** Everything that can be read, oldest first: offset, data and tags. */
export function rowsOf(channel: Channel, nowMs = 0): readonly (readonly [number, string, Tags?])[] {
  const read = channel.history({ limit: -1, reverse: false }, nowMs);
  if (read.outcome !== "history") throw new Error(read.outcome);
  return read.publications.map(({ offset, data, tags }) => {
    const text = new TextDecoder().decode(payloadBytes(data));
    return tags === undefined ? [offset, text] : [offset, text, tags];
  });
}
