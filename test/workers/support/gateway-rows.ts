import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ChannelObject } from "../../../workers/objects/channel-object.ts";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { columnText } from "../../../src/sql.ts";

/** The gateways that follow a channel, by its storage. */
export function gatewayRows(channel: string): Promise<readonly string[]> {
  return runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage }) => {
    const sql = new ObjectSql(storage);
    const [table] = sql.rows("SELECT name FROM sqlite_master WHERE name = 'gateway'");
    if (table === undefined) return [];
    return sql.rows("SELECT name FROM gateway ORDER BY name").map((row) => columnText(row, "name"));
  });
}

/** Rows that a channel's object has written since it woke. */
export function rowsWritten(channel: string): Promise<number> {
  return runInDurableObject(
    env.CHANNELS.getByName(channel),
    ({ sql }: ChannelObject) => sql.rowsWritten,
  );
}

/** Calls that a channel's object has made to gateways since it woke. */
export function callsMade(channel: string): Promise<number> {
  return runInDurableObject(
    env.CHANNELS.getByName(channel),
    (channelObject: ChannelObject) => channelObject.callsMade,
  );
}
