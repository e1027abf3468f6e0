import { describe, expect, it } from "vitest";
import { replyToRequests } from "../../../../src/channel/relay-replies.ts";
import type { Channel } from "../../../../src/channel/channel.ts";
import { type MapChange, plainMapPublish } from "../../../../src/features/maps/map-call.ts";
import {
  type RelayReply,
  type RelayRequest,
  relayRequestBytes,
} from "../../../../src/contract/relay-request.ts";
import { mapOf } from "../../../../src/features/maps/map-operations.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { openChannel, publishing, withHistory } from "../../../contract/open-channel.ts";
import { openMap, set } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const info = { user: "42", client: "c1" };
const bytesMax = 1_048_576;
const at = (offset: number) => ({ offset, epoch: "abcd" });
const opening = { newEpoch: () => "abcd", instance: 7 };

describe("the requests of a gateway about a map", () => {
  it("[Z3] read pages, whose position is the top of the same moment", () => {
    const { channel, map } = openMap(new NodeSql(), {}, opening);
    for (const key of ["a", "b", "c"]) set(map, key, 1);
    const request = { cursor: "", limit: 2 };
    expect(ask(channel, { method: "map_state", request, bytesMax })).toMatchObject({
      outcome: "page",
      publications: [
        { key: "a", offset: 1 },
        { key: "b", offset: 2 },
      ],
      cursor: "b",
      position: at(3),
    });
    set(map, "c", 2);
    const next = { cursor: "b", limit: 2, since: at(3) };
    expect(ask(channel, { method: "map_state", request: next, bytesMax })).toMatchObject({
      publications: [],
      cursor: "",
      position: at(4),
    });
    const other = { ...next, since: { offset: 3, epoch: "other" } };
    expect(ask(channel, { method: "map_state", request: other, bytesMax })).toEqual(
      error(errorCodes.unrecoverablePosition),
    );
  });

  it("[Z4] read the changes after a position", () => {
    const { channel, map } = openMap(new NodeSql(), {}, opening);
    for (const key of ["a", "b", "c"]) set(map, key, 1);
    const request = {
      method: "map_stream",
      request: { since: at(1), limit: 1 },
      bytesMax,
    } as const;
    expect(ask(channel, request)).toMatchObject({
      outcome: "history",
      publications: [{ key: "b", offset: 2 }],
      position: at(3),
    });
  });

  it("[Z7] [O4] change keys for clients, and name the entry that the client awaits", () => {
    const { channel } = openMap(new NodeSql(), {}, opening);
    const change: MapChange = {
      method: "map_publish",
      request: { ...plainMapPublish("a", publishing("1").data), keyMode: "if_new" },
    };
    const changing = { ...change, info };
    const replies = replyToRequests(channel, "eu/1", [changing, changing], 0);
    expect(replies).toEqual([
      { outcome: "published", instance: 7, sequence: 1 },
      { outcome: "published", instance: 7, sequence: 1 },
    ]);
    expect(mapOf(channel)?.page({ cursor: "", limit: 1 }, 0, bytesMax)).toMatchObject({
      publications: [{ key: "a", info }],
    });
    expect(replyToRequests(channel, "eu/1", [changing], 0, true)).toEqual([
      error(errorCodes.tooManyRequests),
    ]);
  });

  it("[Z1] are refused on another channel, and publications without a key on a map", () => {
    const plain = openChannel(new NodeSql(), { options: withHistory });
    const request = { cursor: "", limit: 2 };
    expect(ask(plain, { method: "map_state", request, bytesMax })).toEqual(
      error(errorCodes.notAvailable),
    );
    const { channel } = openMap(new NodeSql(), {}, opening);
    expect(ask(channel, { method: "publish", request: publishing("1"), info })).toEqual(
      error(errorCodes.badRequest),
    );
    expect(channel.top).toBeUndefined();
  });

  it("[B1] stay together within the limit of one reply, and count what their sender chose", () => {
    const { channel, map } = openMap(new NodeSql(), {}, opening);
    const large = new Uint8Array(1_000_000);
    for (let number = 0; number < 4; number++) set(map, `key${number}`, 0, { data: large });
    const read: RelayRequest = {
      method: "map_state",
      request: { cursor: "", limit: 10 },
      bytesMax: 4_500_000,
    };
    const replies = replyToRequests(channel, "eu/1", [read, read, read], 0);
    const counts = replies.map((reply) =>
      reply.outcome === "page" ? reply.publications.length : 0,
    );
    expect(counts).toEqual([4, 4, 1]);
    expect(8_000_000).toBeLessThan(limits.answerBytesMax);
    const change: MapChange = { method: "map_publish", request: plainMapPublish("a", large) };
    expect(relayRequestBytes({ ...change, info })).toBeGreaterThan(1_000_000);
  });
});

function ask(channel: Channel, request: RelayRequest): RelayReply | undefined {
  return replyToRequests(channel, "eu/1", [request], 0)[0];
}

function error(code: (typeof errorCodes)[keyof typeof errorCodes]): RelayReply {
  return { outcome: "failed", error: code };
}
