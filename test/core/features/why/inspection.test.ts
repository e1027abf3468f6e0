import { describe, expect, it } from "vitest";
import type { TrailQuery } from "../../../../src/features/why/trail.ts";
import { trailLimits } from "../../../../src/features/why/limits.ts";
import { ClientTrail } from "../../../../src/features/why/client-trail.ts";
import {
  countBacklogs,
  countConnections,
  countSubscribers,
  type OpenConnection,
  traceConnections,
} from "../../../../src/features/why/inspection.ts";
import { ChannelFixture } from "../../session/channel-fixture.ts";

const query: TrailQuery = { channel: "room", offset: 1, user: "ada" };
const newTrail = () => new ClientTrail({ nowMs: () => 7 });

/** A connection that differs from one that is connected and subscribed to nothing. */
function connection(client: string, bytes = 0, phase: "connected" | "new" = "connected") {
  const fixture = new ChannelFixture();
  const { session } = phase === "new" ? fixture.open() : fixture.connected("ada");
  session.identity = { ...session.identity, client };
  return { session, backlogBytes: () => bytes } satisfies OpenConnection;
}

describe("an inspected object's connections", () => {
  it("[Y4] are counted by transport and protocol, those apart that haven't connected", () => {
    const one = connection("a");
    const other = connection("b");
    other.session.identity = { ...other.session.identity, codec: "one_way", secret: "s" };
    const closed = connection("c");
    closed.session.ended();
    expect(countConnections([one, other, closed, connection("d", 0, "new")])).toEqual({
      connected: 2,
      byTransport: { websocket: 1, uni_http_stream: 1 },
      byProtocol: { json: 2 },
      connecting: 1,
    });
  });

  it("[Y4] are counted by their subscriptions to a channel", () => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const { session } = fixture.subscribed("ada");
    const waiting = connection("b");
    waiting.session.subscriptions.reserve("room");
    const all = [{ session, backlogBytes: () => 0 }, waiting, connection("c")];
    expect(countSubscribers("room", all)).toEqual({
      subscribers: 1,
      byTransport: { websocket: 1 },
      byProtocol: { json: 1 },
      filtered: 0,
      delta: 0,
      pending: 1,
    });
    expect(countSubscribers("other", all)).toMatchObject({ subscribers: 0, pending: 0 });
  });

  it("[Y4] [B1] are listed by their backlogs, the largest first", () => {
    const most = trailLimits.inspectedConnectionsMax;
    const all = Array.from({ length: most + 1 }, (_, index) => connection(`${index}`, index + 1));
    const { backlogBytes, behind } = countBacklogs([connection("idle"), ...all]);
    expect(backlogBytes).toBe(((most + 1) * (most + 2)) / 2);
    expect(behind).toHaveLength(most);
    expect(behind[0]).toEqual({ client: `${most}`, user: "ada", bytes: most + 1 });
    expect(behind.at(-1)).toMatchObject({ bytes: 2 });
    expect(countBacklogs([connection("idle")])).toEqual({ backlogBytes: 0, behind: [] });
  });

  it("[Y3] [B1] are told of one by one, up to a bound", () => {
    const most = trailLimits.trailConnectionsMax;
    const all = Array.from({ length: most }, (_, index) => connection(`${index}`));
    const traced = traceConnections(query, undefined, all, newTrail());
    expect(traced.connections).toHaveLength(most);
    expect(traced.incomplete).toBeUndefined();
    const beyond = traceConnections(query, undefined, [...all, connection("x")], newTrail());
    expect(beyond.connections).toHaveLength(most);
    expect(beyond.incomplete).toBe(true);
    const other = traceConnections({ ...query, user: "bob" }, undefined, all, newTrail());
    expect(other.connections).toEqual([]);
  });

  it("[Y3] [B1] are told of after their end, up to a bound", () => {
    const trail = newTrail();
    const most = trailLimits.trailConnectionsMax;
    for (let count = 0; count < most; count++)
      trail.ended(connection(`${count}`).session, 1_006, "client");
    expect(traceConnections(query, undefined, [], trail)).toMatchObject({
      closes: { length: most },
    });
    expect(traceConnections(query, undefined, [], trail)).not.toHaveProperty("incomplete");
    trail.ended(connection("last").session, 1_006, "client");
    const { closes, incomplete } = traceConnections(query, undefined, [], trail);
    expect([closes.length, closes.at(-1)?.client, incomplete]).toEqual([most, "last", true]);
  });
});
