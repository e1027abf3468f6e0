import type { TrackRows } from "./gateway-tracking.ts";
import type { StoredTracks } from "./local-tracks.ts";
import { columnText, hasTable, type Sql } from "../../sql.ts";

/**
 * The keys that the connections of a gateway track on shared polls, in a row for each connection and channel (rule
 * SP20). They are stored because a gateway hibernates, and 5,000 keys don't fit into an attachment. Most gateways never
 * have such a row, so the table is created with the first.
 */
export class ObjectTrackRows implements TrackRows {
  readonly #sql: Sql;
  /** The channels of each connection that has rows; undefined while there is no table. */
  #channels: Map<string, Set<string>> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    if (!hasTable(sql, "track")) return;
    this.#channels = new Map();
    for (const row of sql.rows("SELECT client, channel FROM track"))
      this.#note(columnText(row, "client"), columnText(row, "channel"));
  }

  tracksOf(client: string, channel: string): StoredTracks | undefined {
    if (this.#channels?.get(client)?.has(channel) !== true) return undefined;
    const [row] = this.#sql.rows(
      "SELECT packed FROM track WHERE client = ? AND channel = ?",
      client,
      channel,
    );
    return row === undefined ? undefined : unpack(columnText(row, "packed"));
  }

  /** Costs a row written. */
  store(client: string, channel: string, tracks: StoredTracks | undefined): void {
    if (tracks === undefined) {
      const channels = this.#channels?.get(client);
      if (channels?.delete(channel) !== true) return;
      if (channels.size === 0) this.#channels?.delete(client);
      this.#sql.run("DELETE FROM track WHERE client = ? AND channel = ?", client, channel);
      return;
    }
    if (this.#channels === undefined) {
      this.#sql.run(
        "CREATE TABLE track (client TEXT, channel TEXT, packed TEXT, PRIMARY KEY (client, channel)) WITHOUT ROWID",
      );
      this.#channels = new Map();
    }
    this.#note(client, channel);
    this.#sql.run(
      "INSERT INTO track VALUES (?, ?, ?) ON CONFLICT (client, channel) DO UPDATE SET packed = excluded.packed",
      client,
      channel,
      pack(tracks),
    );
  }

  keepOnly(clients: ReadonlySet<string>): void {
    for (const [client, channels] of this.#channels ?? []) {
      if (clients.has(client)) continue;
      for (const channel of channels) this.store(client, channel, undefined);
    }
  }

  #note(client: string, channel: string): void {
    const channels = this.#channels?.get(client);
    if (channels === undefined) this.#channels?.set(client, new Set([channel]));
    else channels.add(channel);
  }
}

/** The instance, and for each key the key, its version and when it ends, ms since 1970; 0 for never (rule V1). */
type Packed = readonly [number, ...(readonly [string, string, number])[]];

function pack({ instance, keys }: StoredTracks): string {
  const packed: Packed = [
    instance,
    ...keys.map(
      ({ key, version, endsAtMs }) =>
        [key, String(version), Number.isFinite(endsAtMs) ? endsAtMs : 0] as const,
    ),
  ];
  return JSON.stringify(packed);
}

function unpack(text: string): StoredTracks {
  const [instance, ...keys]: Packed = JSON.parse(text);
  return {
    instance,
    keys: keys.map(([key, version, endsAtMs]) => ({
      key,
      version: BigInt(version),
      endsAtMs: endsAtMs === 0 ? Number.POSITIVE_INFINITY : endsAtMs,
    })),
  };
}
