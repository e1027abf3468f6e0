import { describe, expect, it, vi } from "vitest";
import { call, post, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { loseCalls } from "../support/lose-calls.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake } from "../support/object-state.ts";
import { openConfig } from "../support/open-transports.ts";
import { channelPlace, spillPlace } from "../support/place.ts";
import { TestSocket } from "../support/test-socket.ts";
import { Variant, variants } from "../support/variant.ts";

configure(openConfig);

interface Counts {
  readonly count: number;
  readonly by_transport: object;
  readonly by_protocol: object;
  readonly offset?: number;
  readonly sequence?: number;
}

interface Inspected {
  readonly object: string;
  readonly awake_since_ms: number;
  readonly woken_by: string;
  readonly events: Record<string, { readonly since_wake: number; readonly last_hour: number }>;
  readonly stored_bytes: number;
  readonly connections: object;
  readonly subscribers: Counts;
  readonly channel: {
    readonly gateways: readonly {
      readonly object: string;
      readonly lag: number;
      readonly state?: string;
      readonly subscribers?: Counts;
      readonly follows_this_instance?: boolean;
    }[];
  };
  readonly closes: readonly object[];
  readonly refusals?: readonly { readonly reason: string; readonly count: number }[];
  readonly incomplete?: true;
}

async function inspect(request: object): Promise<Inspected> {
  const { body } = await call("inspect", request);
  const { result }: { result?: Inspected } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

describe.each(variants)("inspect of a channel, on $name", (variant) => {
  it("[Y4] tells the stream, the subscribers and how far the gateways are", async () => {
    const channel = newChannel("room");
    const socket = await variant.subscribe(channel, "ada");
    await variant.connect(channel, "bob");
    await variant.betweenSteps(channel);
    const { epoch } = await publish(channel, "the payload");
    await socket.unread();
    const told = await inspect({ channel });
    const subscribers = {
      count: 1,
      by_transport: { websocket: 1 },
      by_protocol: { json: 1 },
      filtered: 0,
      pending: 0,
      offset: 1,
      epoch,
    };
    const isOwn = variant.place === channelPlace;
    const { name = "" } = variant.place.holder(channel);
    expect(told).toMatchObject({
      object: `channel:${channel}`,
      connections: { connected: isOwn ? 2 : 0, connecting: 0 },
      subscribers: isOwn ? subscribers : { count: 0 },
      channel: {
        name: channel,
        namespace_configured: true,
        epoch,
        offset: 1,
        history: { publications: 1, size: 10 },
        committing: false,
        waiting_bytes: 0,
        gateways: isOwn
          ? []
          : [
              {
                object: `gateway:${name}`,
                lag: 0,
                failures: 0,
                follows_this_instance: true,
                subscribers,
              },
            ],
      },
      backlog_bytes: 0,
      behind: [],
    });
    expect(told.incomplete).toBeUndefined();
    expect(told.stored_bytes).toBeGreaterThan(0);
    expect(JSON.stringify(told)).not.toContain("the payload");
    await variant.betweenSteps(channel);
    const later = await inspect({ channel });
    // An instance that woke to be inspected hasn't called the gateway, but both remember the position.
    const object = isOwn ? later.subscribers : later.channel.gateways[0]?.subscribers;
    expect(object).toMatchObject(subscribers);
    const isEvicted = variant.name.endsWith("evicted");
    expect(later.woken_by === "question").toBe(isEvicted);
    expect(later.awake_since_ms > told.awake_since_ms).toBe(isEvicted);
  });
});

// The edge knows no gateway in the regions of the tests' places for many channels.
describe.each(variants.filter(({ place }) => place.oneChannel))("inspect of $name", (variant) => {
  it("[Y4] [Y5] tells the last ends of connections and the last refusals, in memory", async () => {
    const channel = newChannel("room");
    const user = `user-${crypto.randomUUID()}`;
    const socket = await variant.connect(channel, user);
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const atOnce = { history: { channel, limit: 1 } };
    await socket.ask({ id: 2, ...atOnce });
    await socket.ask({ id: 3, ...atOnce });
    await call("disconnect", { user });
    vi.restoreAllMocks();
    const { name = "" } = variant.place.holder(channel);
    const object = variant.place === channelPlace ? `channel:${name}` : `gateway:${name}`;
    const query = { object, refusals: 10 };
    const told = await inspect(query);
    expect(told.closes).toMatchObject([{ client: socket.client, user, code: 3503, by: "server" }]);
    expect(told.refusals).toMatchObject([
      { refused: "history", rule: "A1", code: 103, user, channel, count: 2 },
    ]);
    expect(await inspect({ object })).not.toHaveProperty("refusals");
    await variant.betweenSteps(channel);
    await variant.betweenSteps(channel);
    const later = await inspect(query);
    const isEvicted = variant.name.endsWith("evicted");
    expect(later.closes).toHaveLength(isEvicted ? 0 : 1);
    expect(later.refusals ?? []).toHaveLength(isEvicted ? 0 : 1);
  });
});

describe("inspect", () => {
  it("[Y4] counts what an object wakes for", async () => {
    const channel = newChannel("room");
    const socket = await new Variant(channelPlace, awake).subscribe(channel, "ada");
    await publish(channel, 1);
    await publish(channel, 2);
    await socket.unread();
    const { events, woken_by: wokenBy } = await inspect({ channel });
    expect(wokenBy).toBe("upgrade");
    expect(events).toMatchObject({
      upgrade: { since_wake: 1, last_hour: 1 },
      api: { since_wake: 2, last_hour: 2 },
      question: { since_wake: 1, last_hour: 1 },
    });
    expect(events["frame"]?.since_wake).toBeGreaterThanOrEqual(2);
  });

  it("[Y3] [Y7] [V1] is incomplete if a gateway doesn't answer, or is of a release before", async () => {
    const channel = newChannel("room");
    await new Variant(spillPlace, awake).subscribe(channel, "ada");
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const restore = loseCalls("inspect");
    const told = await inspect({ channel });
    restore();
    vi.restoreAllMocks();
    expect(told).toMatchObject({ incomplete: true, channel: { gateways: [{ state: "unknown" }] } });
  });

  it("[Y4] tells of a gateway that exists, and refuses any other object", async () => {
    const told = await inspect({ object: "gateway:eu/0" });
    expect(told).toMatchObject({
      object: "gateway:eu/0",
      gateway: { channels: 0, held_bytes: 0 },
      connections: { connected: 0, connecting: 0, by_transport: {}, by_protocol: {} },
      woken_by: "question",
    });
    for (const object of ["gateway:nowhere/0", "gateway:eu/999999", "home:3", "eu/0"]) {
      const response = await post("/api/inspect", JSON.stringify({ object }));
      expect(await response.text()).toBe('{"error":{"code":107,"message":"bad request"}}');
    }
  });

  it("[Y4] tells of a channel whose namespace isn't configured only that", async () => {
    const { body } = await call("inspect", { channel: "nosuch:1" });
    expect(body).toBe('{"error":{"code":102,"message":"unknown channel"}}');
  });

  it("[Y4] counts clients that haven't connected", async () => {
    const channel = newChannel("room");
    await TestSocket.open(channel);
    const { connections } = await inspect({ channel });
    expect(connections).toMatchObject({ connected: 0, connecting: 1 });
  });
});
