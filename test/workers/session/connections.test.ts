import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { columnText } from "../../../src/sql.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { call, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { blockObject } from "../support/block-object.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { token } from "../support/sign-token.ts";
import { TestStream } from "../support/test-stream.ts";
import { awake } from "../support/object-state.ts";
import { awakeVariants, Variant, variants } from "../support/variant.ts";
import { writeRegistrations } from "../users/written-registrations.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { patience } from "../../support/patience.ts";

configure(openConfig);

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

/** A user whom no other test has. */
const newUser = () => `user-${crypto.randomUUID()}`;
const homeOf = (user: string) => env.USERS.getByName(homeName(user));

interface Shown {
  readonly user: string;
  readonly app_name?: string;
  readonly app_version?: string;
  readonly transport: string;
  readonly protocol: string;
  readonly connected_at_ms: number;
  readonly node: string;
  readonly expire_at?: number;
  readonly state: { readonly channels: Record<string, object> };
}

interface Result {
  readonly connections: Record<string, Shown>;
  readonly incomplete?: boolean;
}

/** What the API says of a user's connections. */
async function connectionsOf(user: string): Promise<Result> {
  const { body } = await call("connections", { user });
  const { result }: { result?: Result } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

async function holdersOf(user: string): Promise<readonly string[]> {
  await writeRegistrations(user);
  return runInDurableObject<UsersObject, readonly string[]>(homeOf(user), ({ sql }) =>
    sql
      .rows("SELECT holder FROM holder WHERE user = ?", user)
      .map((row) => columnText(row, "holder")),
  );
}

describe.each(variants)("connections on $name", (variant) => {
  const pause = async (channel: string, user: string): Promise<void> => {
    await variant.betweenSteps(channel);
    if (!variant.name.endsWith("evicted")) return;
    await writeRegistrations(user);
    await hibernate(homeOf(user));
  };

  it("[U20] [U10] tells the names and ages of the tokens, and no token", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const uid = `jti-${user}`;
    const socket = await variant.connect(channel, user, { jti: uid, iat: 1_700_000_000 });
    const own = await token({ sub: user, channel, iat: 1_700_000_001, jti: `sub-${uid}` });
    await socket.ask({ id: 2, subscribe: { channel, token: own } });
    await pause(channel, user);
    const { state } = (await connectionsOf(user)).connections[socket.client] ?? {};
    expect(state).toMatchObject({
      channels: { [channel]: { source: 3 } },
      connection_token: { uid, issued_at: 1_700_000_000 },
      subscription_tokens: { [channel]: { uid: `sub-${uid}`, issued_at: 1_700_000_001 } },
    });
    expect(JSON.stringify(state)).not.toContain("eyJ");
  });

  it("[U20] lists all connections of the user, with what they are subscribed to", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    const before = Date.now();
    const { epoch } = await publish(channel, 1);
    const one = await variant.open(channel);
    const connect = { token: await token({ sub: ada }), name: "shop", version: "1.2" };
    const { connect: connected } = await one.ask({ id: 1, connect });
    await one.ask({ id: 2, subscribe: { channel } });
    const two = await variant.connect(channel, ada);
    await variant.subscribe(channel, bob);
    await pause(channel, ada);
    const { connections, incomplete } = await connectionsOf(ada);
    expect(incomplete).toBeUndefined();
    expect(Object.keys(connections).toSorted()).toStrictEqual(
      [connected?.client ?? "", two.client].toSorted(),
    );
    const shown = connections[connected?.client ?? ""];
    expect(shown).toMatchObject({
      user: ada,
      app_name: "shop",
      app_version: "1.2",
      transport: "websocket",
      protocol: "json",
      ping_pong_latency_ms: -1,
      labels: {},
    });
    expect(shown?.connected_at_ms).toBeGreaterThanOrEqual(before);
    expect(shown?.connected_at_ms).toBeLessThanOrEqual(Date.now());
    const on = { recoverable: true, positioned: true, presence: true, join_leave: true };
    expect(shown?.state.channels[channel]).toMatchObject({
      source: 6,
      push_join_leave: true,
      ...on,
    });
    const bare = connections[two.client];
    expect(bare?.state.channels).toStrictEqual({});
    expect(bare).not.toHaveProperty("app_name");
    expect(await holdersOf(ada)).toStrictEqual([shown?.node]);
    // After a publication, every object knows the position.
    await publish(channel, 2);
    await one.unread();
    const later = (await connectionsOf(ada)).connections[connected?.client ?? ""];
    expect(later?.state.channels[channel]).toMatchObject({ offset: 2, epoch });
  });

  it("[U21] forgets an object without connections of the user, until the next one", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.connect(channel, user);
    socket.close();
    await socket.closed;
    await pause(channel, user);
    expect(await holdersOf(user)).toHaveLength(1);
    expect(await connectionsOf(user)).toStrictEqual({ connections: {} });
    expect(await holdersOf(user)).toStrictEqual([]);
    const again = await variant.connect(channel, user);
    await pause(channel, user);
    expect(Object.keys((await connectionsOf(user)).connections)).toStrictEqual([again.client]);
  });
});

describe.each(awakeVariants)("connections and $place.name", (variant) => {
  it("[U20] of a user in several objects and transports are listed together", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const connect = { token: await token({ sub: user }), name: "app" };
    const socket = await variant.connect(channel, user, {}, "?format=json");
    const body = JSON.stringify({ id: 1, connect });
    const headers = { "Content-Type": "application/json" };
    const path = `/channel/${encodeURIComponent(channel)}`;
    const stream = await TestStream.open(`${path}/http_stream`, { method: "POST", body, headers });
    await stream.line();
    const events = await TestStream.open(`${path}/sse`, { method: "POST", body });
    await events.upTo("\n\n");
    const unidirectional = await TestStream.open(`${path}/uni_sse`, {
      method: "POST",
      body: JSON.stringify(connect),
    });
    await unidirectional.upTo("\n\n");
    const { connections } = await connectionsOf(user);
    const shown = Object.values(connections).map(({ transport }) => transport);
    expect(shown.toSorted()).toStrictEqual(["http_stream", "sse", "uni_sse", "websocket"]);
    expect(connections[socket.client]?.transport).toBe("websocket");
    const uni = Object.values(connections).find(({ transport }) => transport === "uni_sse");
    expect(uni?.state.channels[channel]).toMatchObject({ source: 8 });
    for (const one of [stream, events, unidirectional]) await one.cancel();
  });

  it("[U20] [K4] aren't listed any more when their client has fallen silent", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const silent = await variant.connect(channel, user, {}, "?keepalive=client");
    vi.setSystemTime(Date.now() + 61_000);
    expect(await connectionsOf(user)).toStrictEqual({ connections: {} });
    expect((await silent.closed).code).toBe(3012);
    expect(await holdersOf(user)).toStrictEqual([]);
  });

  it("[U21] are registered anew while the home is asked for them", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const first = await variant.connect(channel, user);
    first.close();
    await first.closed;
    // The question and the new connection are under way together.
    const [, second] = await Promise.all([connectionsOf(user), variant.connect(channel, user)]);
    expect(await holdersOf(user)).toHaveLength(1);
    expect(Object.keys((await connectionsOf(user)).connections)).toStrictEqual([second.client]);
  });
});

describe("a connection whose user's home hasn't answered", () => {
  it("[U20] [U4] isn't listed, and its object counts as one that holds it", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const place = gatewayPlace();
    const holder = env.GATEWAYS.getByName(place.holder(channel).name ?? "");
    const socket = await new Variant(place, awake).open(channel);
    const unblock = blockObject(homeOf(user));
    socket.send({ id: 1, connect: { token: await token({ sub: user }) } });
    await vi.waitFor(async () => {
      expect(await holder.connections(user)).toStrictEqual({ connections: [], left: true });
    }, patience);
    expect(socket.received).toBe(0);
    await unblock();
    expect(await socket.line()).toContain('"connect"');
    const { connections, left } = await holder.connections(user);
    expect([connections.length, left]).toStrictEqual([1, true]);
  });
});

describe("connections of a user in two objects", () => {
  it("[U20] are listed as far as they are known when one of them doesn't answer", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await new Variant(channelPlace, awake).connect(channel, user);
    const silent = await new Variant(gatewayPlace(), awake).connect(channel, user);
    lowerLimits(limits, { holderAnswerMs: 300 });
    const unblock = blockObject(gatewayPlace().holder(channel));
    const { connections, incomplete } = await connectionsOf(user);
    expect(Object.keys(connections)).toStrictEqual([socket.client]);
    expect(incomplete).toBe(true);
    await unblock();
    const known = await connectionsOf(user);
    expect(known.incomplete).toBeUndefined();
    expect(Object.keys(known.connections)).toContain(silent.client);
  });
});
