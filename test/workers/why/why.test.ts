import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import type { TrailAnswer } from "../../../src/features/why/trail.ts";
import { trailLimits } from "../../../src/features/why/limits.ts";
import type { ChannelObject } from "../../../workers/objects/channel-object.ts";
import { call, post, publish } from "../support/api-request.ts";
import { blockObject } from "../support/block-object.ts";
import { configure } from "../support/configure.ts";
import { lostCall } from "../support/crash-object.ts";
import { loseCalls } from "../support/lose-calls.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake } from "../support/object-state.ts";
import { openConfig } from "../support/open-transports.ts";
import { channelPlace, gatewayPlace, type Holder } from "../support/place.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { Variant, variants } from "../support/variant.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { watchedRelay } from "../support/watched-relay.ts";

/** A channel with tags filters, whose history keeps three publications. */
const team = {
  name: "team",
  allow_subscribe_for_client: true,
  allow_publish_for_subscriber: true,
  allow_tags_filter: true,
  history_size: 3,
  history_ttl: "5m",
  force_recovery: true,
};
/** One whose publications can be changed. */
const edited = { ...team, name: "edited", history_size: 10, allow_change: true };
const { namespaces } = openConfig.channel;
configure({
  ...openConfig,
  channel: { ...openConfig.channel, namespaces: [...namespaces, team, edited] },
});

afterEach(() => {
  watchedRelay.deliveryFault = undefined;
});

const newUser = () => `user-${crypto.randomUUID()}`;

interface Told {
  readonly summary: string;
  readonly publication: {
    readonly state: string;
    readonly published_at_ms?: number;
    readonly committed_at_ms?: number;
  };
  readonly objects: readonly {
    readonly object: string;
    readonly state?: string;
    readonly memory?: { readonly since_ms: number };
    readonly told?: {
      readonly begun_at_ms: number;
      readonly attempts: number;
      readonly outcome?: string;
    };
    readonly taken_at_ms?: number;
    readonly frame?: { readonly begun_at_ms: number; readonly sent_at_ms?: number };
  }[];
  readonly connections: readonly {
    readonly client: string;
    readonly object: string;
    readonly outcome: string;
    readonly summary: string;
  }[];
  readonly incomplete?: true;
}

async function why(request: object): Promise<Told> {
  const { body } = await call("why", request);
  const { result }: { result?: Told } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

/** The outcome and the sentence about each connection of a user. */
async function outcomes(channel: string, offset: number, user: string): Promise<readonly string[]> {
  const { connections } = await why({ channel, offset, user });
  return connections.map(({ outcome, summary }) => `${outcome}: ${summary}`);
}

/** The node of the object that holds a variant's sockets. */
function nodeOf({ place }: Variant, channel: string): string {
  const { name = "" } = place.holder(channel);
  return place === channelPlace ? `channel:${name}` : `gateway:${name}`;
}

/** How many rows an object has written since it woke. */
function rowsOf(object: Holder): Promise<number> {
  return runInDurableObject<ChannelObject, number>(object, ({ sql }) => sql.rowsWritten);
}

/** What an object tells that knows nothing. */
function emptyTrail(node: string): TrailAnswer {
  const nothing = { connections: [], closes: [], notes: [], isSending: false };
  return { node, awakeSinceMs: 0, subscribers: 0, ...nothing };
}

/** Closes a socket, and waits until its object has taken that. */
async function leave(variant: Variant, channel: string, socket: TestSocket): Promise<void> {
  socket.close();
  await socket.closed;
  await runInDurableObject<DurableObject, void>(variant.place.holder(channel), () => {});
}

describe.each(variants)("why, on $name", (variant) => {
  it("[Y1] [Y2] [Y3] tells the way of a publication to the user's socket, and no payload", async () => {
    const channel = newChannel("team");
    const [ada, bob] = [newUser(), newUser()];
    const socket = await variant.subscribe(channel, ada);
    const filter = { key: "color", cmp: "eq", val: "red" };
    const filtered = await variant.connect(channel, bob);
    await filtered.ask({ id: 2, subscribe: { channel, tf: filter } });
    await variant.betweenSteps(channel);
    const { offset } = await publish(channel, "the payload", { tags: { color: "blue" } });
    await socket.unread();
    const told = await why({ channel, offset, user: ada });
    expect(told.summary).toBe("The publication was sent to the only known connection of the user.");
    const node = nodeOf(variant, channel);
    expect(told.publication).toMatchObject({
      state: "remembered",
      top: 1,
      by: { key: "API_KEY" },
    });
    const { published_at_ms: published = 0, committed_at_ms: committed = 0 } = told.publication;
    expect(committed).toBeGreaterThanOrEqual(published);
    const object = told.objects.find((one) => one.object === node);
    expect(object).toMatchObject({
      subscribers: 2,
      offset: 1,
      frame: { publications: 1, subscribers: 1, filtered: 0, left_out: 1, slow: 0 },
    });
    expect(object?.frame?.sent_at_ms ?? 0).toBeGreaterThanOrEqual(committed);
    const { attempts, outcome } = object?.told ?? {};
    const isOwn = variant.place === channelPlace;
    expect({ attempts, outcome }).toStrictEqual(
      isOwn ? { attempts: undefined, outcome: undefined } : { attempts: 1, outcome: "taken" },
    );
    expect(object?.told?.begun_at_ms ?? committed).toBeGreaterThanOrEqual(committed);
    expect(object?.taken_at_ms === undefined).toBe(isOwn);
    expect(object?.taken_at_ms ?? 0).toBeLessThanOrEqual(object?.frame?.begun_at_ms ?? 0);
    expect(told.connections).toMatchObject([
      { client: socket.client, user: ada, object: node, outcome: "sent", state: "connected" },
    ]);
    const { connections } = await why({ channel, offset, client: filtered.client });
    expect(connections).toMatchObject([{ user: bob, outcome: "filtered", filter: "holds_back" }]);
    expect(JSON.stringify(told)).not.toContain("the payload");
    expect(told.incomplete).toBeUndefined();
    await variant.betweenSteps(channel);
    // The memory of objects that were evicted is gone, and the answer says so.
    const later = await why({ channel, offset, user: ada });
    const isEvicted = variant.name.endsWith("evicted");
    const state = isEvicted ? "in_history" : "remembered";
    expect(later.publication).toMatchObject({ state, published_at_ms: published });
    expect(later.connections).toMatchObject([{ outcome: isEvicted ? "unknown" : "sent" }]);
    const since = later.objects.find((one) => one.object === node)?.memory?.since_ms ?? 0;
    expect(since > published).toBe(isEvicted);
  });

  it("[Y11][ED2] tells what has become of a publication since, and the way of the change", async () => {
    const channel = newChannel("edited");
    const [ada, bob] = [newUser(), newUser()];
    const socket = await variant.subscribe(channel, ada);
    const red = { key: "color", cmp: "eq", val: "red" };
    const filtered = await variant.connect(channel, bob);
    await filtered.ask({ id: 2, subscribe: { channel, tf: red } });
    const tags = { color: "red" };
    for (const data of ["first", "second", "third", "fourth"])
      await publish(channel, data, { tags });
    await socket.unread();
    await filtered.unread();
    await call("update_publication", { channel, offset: 1, data: "new", tags: { color: "blue" } });
    await call("delete_publication", { channel, offset: 2 });
    await call("erase", { channel, offset: 3 });
    await socket.unread();
    const sent = "The publication was sent to the only known connection of the user.";
    for (const [index, kind] of (["edited", "deleted", "erased"] as const).entries()) {
      const [offset, by] = [index + 1, index + 5];
      const told = await why({ channel, offset, user: ada });
      expect(told.publication).toMatchObject({ state: "remembered", change: { kind, offset: by } });
      expect(told.summary).toBe(`${sent} It was ${kind} since, by publication ${by}.`);
      const change = await why({ channel, offset: by, user: ada });
      expect(change.summary).toBe(sent);
      // The change is judged by its own tags: an erasure has none, and passes each filter.
      const { connections } = await why({ channel, offset: by, client: filtered.client });
      expect(connections[0]?.outcome).toBe(kind === "edited" ? "filtered" : "sent");
      // Who got the publication then was sent it, whatever its tags are now.
      const [before] = (await why({ channel, offset, client: filtered.client })).connections;
      expect(before?.outcome).toBe("sent");
      expect(before?.summary.includes("the tags aren't known any more")).toBe(kind !== "deleted");
    }
    const { publication } = await why({ channel, offset: 4, user: ada });
    expect(publication).not.toHaveProperty("change");
    await variant.betweenSteps(channel);
    const later = await why({ channel, offset: 2, user: ada });
    expect(later.publication).toMatchObject({ change: { kind: "deleted", offset: 6 } });
  });

  it("[Y11][ED14] doesn't tell who published what is erased", async () => {
    const channel = newChannel("edited");
    const ada = newUser();
    const socket = await variant.subscribe(channel, ada);
    for (let offset = 1; offset <= 2; offset++) {
      socket.send({ id: 3, publish: { channel, data: "secret" } });
      await socket.line();
      await socket.line();
    }
    await publish(channel, "other");
    await call("erase", { channel, offset: 1 });
    const publisherOf = async (offset: number) =>
      JSON.stringify((await why({ channel, offset, client: "none" })).publication);
    expect(await publisherOf(1)).toContain('"by":{}');
    expect(await publisherOf(2)).toContain(ada);
    await call("erase", { channel, user: ada });
    expect(await publisherOf(2)).not.toContain(ada);
    expect(await publisherOf(3)).toContain("API_KEY");
  });

  it("[Y3] costs no row, and doesn't make a channel that nobody has used", async () => {
    const channel = newChannel("team");
    const socket = await variant.subscribe(channel, "ada");
    await publish(channel, 1);
    await socket.unread();
    const objects = [env.CHANNELS.getByName(channel), variant.place.holder(channel)];
    const before = await Promise.all(objects.map(rowsOf));
    await why({ channel, offset: 1, user: "ada" });
    await call("inspect", { channel });
    expect(await Promise.all(objects.map(rowsOf))).toStrictEqual(before);
    const unused = newChannel("team");
    const { summary } = await why({ channel: unused, offset: 1, user: "ada" });
    expect(summary).toBe("Nothing has been published at offset 1 yet: the newest offset is 0.");
    expect(await rowsOf(env.CHANNELS.getByName(unused))).toBe(0);
  });
});

describe("why, with several objects", () => {
  const [own, gateway] = [new Variant(channelPlace, awake), new Variant(gatewayPlace(), awake)];

  it("[Y7] asks all that follow the channel or hold connections of the user", async () => {
    const channel = newChannel("team");
    const user = newUser();
    const one = await own.subscribe(channel, user);
    const other = await gateway.subscribe(channel, user);
    const idle = await new Variant(gatewayPlace(7), awake).connect(channel, user);
    const { offset } = await publish(channel, 1);
    await one.unread();
    await other.unread();
    const { connections, incomplete } = await why({ channel, offset, user });
    const byClient = new Map(connections.map(({ client, outcome }) => [client, outcome]));
    expect(byClient).toStrictEqual(
      new Map([
        [one.client, "sent"],
        [other.client, "sent"],
        [idle.client, "not_subscribed"],
      ]),
    );
    expect(incomplete).toBeUndefined();
    // Asking again finds the same: no object is forgotten because it was asked.
    await leave(new Variant(gatewayPlace(7), awake), channel, idle);
    const ended = async () => (await why({ channel, offset, user })).connections;
    expect(await ended()).toMatchObject([
      {},
      {},
      { client: idle.client, outcome: "not_subscribed" },
    ]);
    expect(await ended()).toHaveLength(3);
  });

  it("[Y3] says that a gateway hasn't taken the publication, and why", async () => {
    const channel = newChannel("team");
    const user = newUser();
    await gateway.subscribe(channel, user);
    watchedRelay.deliveryFault = () => Promise.reject(new Error("Network connection lost."));
    const { offset } = await publish(channel, 1);
    await expect
      .poll(() => outcomes(channel, offset, user))
      .toMatchObject([
        expect.stringMatching(/^not_taken: .* is at offset 0 only: .* began .* and ended: failed$/),
      ]);
  });

  it("[Y7] [V1] is incomplete if an object doesn't answer, or is of a release before", async () => {
    const channel = newChannel("team");
    const user = newUser();
    const socket = await gateway.subscribe(channel, user);
    const { offset } = await publish(channel, 1);
    await socket.unread();
    const restore = loseCalls("trail");
    const told = await why({ channel, offset, user });
    restore();
    const node = nodeOf(gateway, channel);
    expect(told.objects).toMatchObject([
      { object: `channel:${channel}` },
      { object: node, state: "unknown" },
    ]);
    expect(told).toMatchObject({ connections: [], incomplete: true });
    const { USERS } = env;
    const getByName = USERS.getByName.bind(USERS);
    USERS.getByName = (name, options) => {
      const stub = getByName(name, options);
      if (name === homeName(userKey(user)))
        Object.defineProperty(stub, "holders", { value: lostCall });
      return stub;
    };
    const homeless = await why({ channel, offset, user });
    USERS.getByName = getByName;
    expect(homeless).toMatchObject({ connections: [{ outcome: "sent" }], incomplete: true });
  });

  it("[Y7] [B4] doesn't wait long for an object that hangs", async () => {
    const channel = newChannel("team");
    const user = newUser();
    const one = await own.subscribe(channel, user);
    await gateway.subscribe(channel, user);
    const { offset } = await publish(channel, 1);
    await watchedRelay.settled();
    const unblock = blockObject(gateway.place.holder(channel));
    lowerLimits(trailLimits, { trailAnswerMs: 200 });
    const told = await why({ channel, offset, user });
    await unblock();
    expect(told).toMatchObject({ connections: [{ client: one.client }], incomplete: true });
  });

  it("[Y7] [B1] asks a bounded number of objects, six at a time", async () => {
    const channel = newChannel("team");
    const { CHANNELS, GATEWAYS } = env;
    const [channels, gateways] = [
      CHANNELS.getByName.bind(CHANNELS),
      GATEWAYS.getByName.bind(GATEWAYS),
    ];
    const most = trailLimits.askedGatewaysMax;
    let followers = most;
    CHANNELS.getByName = (name, options) => {
      const stub = channels(name, options);
      const names = Array.from({ length: followers }, (_, index) => `eu/${index}`);
      const told = names.map((one) => ({ name: one, lag: 0, failures: 0 }));
      const value = async () => ({
        ...emptyTrail(`channel:${name}`),
        channel: { hasHistory: true, gateways: told },
      });
      return Object.defineProperty(stub, "trail", { value });
    };
    const asked: string[] = [];
    const inFlight = { now: 0, most: 0 };
    GATEWAYS.getByName = (name, options) => {
      const stub = gateways(name, options);
      const value = async () => {
        asked.push(name);
        inFlight.most = Math.max(inFlight.most, ++inFlight.now);
        await scheduler.wait(1);
        inFlight.now--;
        return emptyTrail(`gateway:${name}`);
      };
      return Object.defineProperty(stub, "trail", { value });
    };
    try {
      const told = await why({ channel, offset: 1, user: newUser() });
      expect([asked.length, inFlight.most]).toStrictEqual([most, trailLimits.askedAtATime]);
      expect(told.incomplete).toBeUndefined();
      followers++;
      expect((await why({ channel, offset: 1, user: newUser() })).incomplete).toBe(true);
      expect(asked).toHaveLength(2 * most);
    } finally {
      Object.assign(CHANNELS, { getByName: channels });
      Object.assign(GATEWAYS, { getByName: gateways });
    }
  });

  it("[Y3] is answered 108 where publications have no offsets", async () => {
    const request = { channel: newChannel("plain"), offset: 1, user: "ada" };
    const response = await post("/api/why", JSON.stringify(request));
    expect(response.headers.get("X-Dormouse-Error-Detail")).toContain("have no offsets");
    expect(await response.text()).toBe('{"error":{"code":108,"message":"not available"}}');
  });
});
