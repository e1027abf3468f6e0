import { describe, expect, it } from "vitest";
import type { Refusal } from "../../../../src/access/refusal.ts";
import { limits } from "../../../../src/limits.ts";
import { publishing } from "../../../contract/open-channel.ts";
import { json } from "../../api/channel-config.ts";
import { filterNode } from "../../protocol/any-filter.ts";
import { ChannelFixture, type ChannelFixtureSetup } from "../channel-fixture.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import { connect, naming } from "../named-subscriptions.ts";
import type { TestConnection } from "../test-connection.ts";
import { subscriptionToken } from "../verified-tokens.ts";

/** Lets publications through whose tag `team` is this. */
const team = (val: string) => filterNode({ key: "team", cmp: "eq", val });

const red = subscriptionToken({ serverFilter: team("red") });
const blue = subscriptionToken({ serverFilter: team("blue") });
const unfiltered = subscriptionToken();

const history = { history_size: 10, history_ttl: "60s", allow_recovery: true };
const recovering = `"recoverable":true,"recover":true,"epoch":"epoch1","offset":1`;
const wantsOdd = `"tf":{"key":"kind","cmp":"eq","val":"odd"}`;

/** Publishes the numbers from first to last: 1 and 2 for red, 3 and 4 for blue, and so on. */
function publish(fixture: ChannelFixture, first: number, last: number): void {
  for (let number = first; number <= last; number++) {
    const tags = {
      team: number % 4 === 1 || number % 4 === 2 ? "red" : "blue",
      kind: number % 2 === 1 ? "odd" : "even",
    };
    fixture.channel.publish(publishing(number, { tags }), undefined, fixture.nowMs);
    fixture.channel.hub.begin();
  }
}

/** A connection that was answered to a subscribe with these fields and a token, and the answer. */
function subscribed(fixture: ChannelFixture, fields = "", token = red) {
  const connection = fixture.connected();
  const request = `{"channel":"room"${fields === "" ? "" : `,${fields}`}}`;
  const [answer = ""] = fixture.ask(connection, `{"id":2,"subscribe":${request}}`, token);
  return { connection, answer };
}

/** The payloads in frames, in order. */
function payloads(frames: readonly string[]): readonly number[] {
  const found = frames.join("\n").matchAll(/"data":(?<data>\d+)/gu);
  return [...found].map(({ groups }) => Number(groups?.["data"]));
}

const steps: readonly [string, (fixture: ChannelFixture) => void][] = [
  ["awake", () => undefined],
  ["that hibernates", (fixture) => fixture.hibernate()],
];

describe.each(steps)("a server's tags filter, in an object %s", (_, step) => {
  it("[A17] [A35] lets through what it matches, without leave of the namespace", () => {
    const fixture = new ChannelFixture();
    const { connection, answer } = subscribed(fixture);
    expect(answer).toBe(`{"id":2,"subscribe":{}}`);
    const other = subscribed(fixture, "", unfiltered).connection;
    step(fixture);
    publish(fixture, 1, 8);
    expect(payloads(connection.takeSent())).toStrictEqual([1, 2, 5, 6]);
    expect(payloads(other.takeSent())).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("[A17] and the client's own filter must both let a publication through", () => {
    const fixture = new ChannelFixture({ options: { allow_tags_filter: true } });
    const both = subscribed(fixture, wantsOdd).connection;
    const blues = subscribed(fixture, wantsOdd, blue).connection;
    const own = subscribed(fixture, wantsOdd, unfiltered).connection;
    const server = subscribed(fixture).connection;
    step(fixture);
    publish(fixture, 1, 8);
    expect(payloads(both.takeSent())).toStrictEqual([1, 5]);
    expect(payloads(blues.takeSent())).toStrictEqual([3, 7]);
    expect(payloads(own.takeSent())).toStrictEqual([1, 3, 5, 7]);
    expect(payloads(server.takeSent())).toStrictEqual([1, 2, 5, 6]);
  });

  it("[A35] holds back no joins and leaves, and hides nobody", () => {
    const options = { presence: true, join_leave: true, force_push_join_leave: true };
    const fixture = new ChannelFixture({ options });
    const { connection } = subscribed(fixture);
    connection.takeSent();
    step(fixture);
    subscribed(fixture, "", blue);
    expect(connection.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","join":{"info":{"user":"42","client":"c2"}}}}`,
    ]);
    step(fixture);
    expect(fixture.channel.hub.subscribers.map(({ present }) => present)).toStrictEqual([
      true,
      true,
    ]);
  });

  it("[A17] closes the history to the client, and the log says why", () => {
    const fixture = new ChannelFixture({ options: { ...history, allow_history_for_client: true } });
    const { connection } = subscribed(fixture);
    publish(fixture, 1, 2);
    step(fixture);
    connection.takeSent();
    const reasons: string[] = [];
    Object.assign(connection.session.context, {
      refused: ({ rule, reason }: Refusal) => reasons.push(`${rule}: ${reason}`),
    });
    const read = `{"id":3,"history":{"channel":"room","limit":9}}`;
    expect(fixture.ask(connection, read)).toStrictEqual([
      `{"id":3,"error":{"code":103,"message":"permission denied"}}`,
    ]);
    expect(reasons).toStrictEqual(["A17: the subscription has a server_tags_filter"]);
    const other = subscribed(fixture, "", unfiltered).connection;
    expect(payloads(fixture.ask(other, read))).toStrictEqual([1, 2]);
  });

  it("[A36] stays with a sub_refresh whose token has the same, and otherwise the client subscribes anew", () => {
    const fixture = new ChannelFixture({ options: { allow_tags_filter: true } });
    const refresh = `{"id":3,"sub_refresh":{"channel":"room","token":"t"}}`;
    const gone = `{"push":{"channel":"room","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`;
    const refreshed = `{"id":3,"sub_refresh":{}}`;
    const { connection } = subscribed(fixture, wantsOdd);
    step(fixture);
    expect(fixture.ask(connection, refresh, red)).toStrictEqual([refreshed]);
    step(fixture);
    publish(fixture, 1, 8);
    expect(payloads(connection.takeSent())).toStrictEqual([1, 5]);
    for (const token of [blue, unfiltered]) {
      const each = subscribed(fixture, wantsOdd).connection;
      step(fixture);
      expect(fixture.ask(each, refresh, token)).toStrictEqual([gone, refreshed]);
      expect(each.saved.subscriptions).toStrictEqual([]);
    }
    const open = subscribed(fixture, "", unfiltered).connection;
    step(fixture);
    expect(fixture.ask(open, refresh, red)).toStrictEqual([gone, refreshed]);
  });
});

describe("recovered publications, for a subscriber with a server's tags filter", () => {
  const setup: ChannelFixtureSetup = { options: { ...history, allow_tags_filter: true } };

  it("[A17] are those that it lets through", () => {
    const fixture = new ChannelFixture(setup);
    publish(fixture, 1, 8);
    const { answer } = subscribed(fixture, recovering);
    expect(payloads([answer])).toStrictEqual([2, 5, 6]);
    expect(answer).toContain(`"recovered":true`);
    expect(payloads([subscribed(fixture, `${recovering},${wantsOdd}`).answer])).toStrictEqual([5]);
  });

  it("[A17] [D3] take the client to the top when there are none", () => {
    const fixture = new ChannelFixture(setup);
    publish(fixture, 1, 4);
    const none = subscriptionToken({ serverFilter: team("green") });
    expect(subscribed(fixture, recovering, none).answer).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","recovered":true,"offset":4,"positioned":true,"was_recovering":true}}`,
    );
  });

  it("[A17] are the newest publication of a cache, if it lets that through", () => {
    const cache = { force_recovery_mode: "cache", auto_cache_recover: true, force_recovery: true };
    const fixture = new ChannelFixture({ options: { ...history, ...cache } });
    publish(fixture, 1, 4);
    expect(payloads([subscribed(fixture).answer])).toStrictEqual([]);
    expect(payloads([subscribed(fixture, "", blue).answer])).toStrictEqual([4]);
  });

  it("[A35] [D2] are no deltas: it is never granted together with them", () => {
    const deltas = {
      allowed_delta_types: ["fossil"],
      delta_publish: true,
      force_positioning: true,
    };
    const fixture = new ChannelFixture({ options: { ...history, ...deltas } });
    const fossil = `"delta":"fossil"`;
    expect(subscribed(fixture, fossil).answer).not.toContain("delta");
    expect(subscribed(fixture, fossil, unfiltered).answer).toContain(`"delta":true`);
  });

  it("[A17] [B2] need a filter that the attachment has room for", () => {
    const fixture = new ChannelFixture();
    const long = team("x".repeat(limits.attachmentBytesMax));
    expect(subscribed(fixture, "", subscriptionToken({ serverFilter: long })).answer).toBe(
      `{"id":2,"error":{"code":106,"message":"limit exceeded"}}`,
    );
  });
});

/** A server-side subscription with this filter. */
const filtered = (serverFilter = team("red")) => ({
  channel: "room",
  serverFilter,
  override: { forceRecovery: true },
});

/** The server's filters of a connection's subscriptions. */
function granted(connection: TestConnection) {
  return connection.saved.subscriptions.map(({ serverFilter }) => serverFilter);
}

describe("a server's tags filter in a connection token", () => {
  const options = { history_size: 10, history_ttl: "60s" };
  const position = { epoch: "e", offset: 3 };
  const publications = [
    { data: json("2"), offset: 2, tags: { team: "red" } },
    { data: json("3"), offset: 3, tags: { team: "blue" } },
  ];
  const since = `"room":{"recover":true,"epoch":"e","offset":1}`;
  const refresh = `{"id":3,"refresh":{"token":"t"}}`;

  /** A client whom the server has subscribed with this filter, and the frames that it got. */
  function opened(fixture: ManyChannelsFixture, serverFilter = team("red")) {
    const connection = fixture.open();
    const request = `{"id":1,"connect":{"subs":{${since}}}}`;
    fixture.send(connection, request, naming(filtered(serverFilter)));
    fixture.channels.acceptSubscribe("room", { position, recovered: true, publications });
    return { connection, frames: connection.takeSent() };
  }

  it("[A17] [C9] is that of its server-side subscription, recovered publications included", () => {
    const fixture = new ManyChannelsFixture({ options });
    const { connection, frames } = opened(fixture);
    expect(payloads(frames)).toStrictEqual([2]);
    expect(granted(connection)).toStrictEqual([team("red")]);
    expect(frames[0]).toContain(`"recovered":true,"offset":1,`);
    const none = opened(fixture, team("green"));
    expect(payloads(none.frames)).toStrictEqual([]);
    // The top: the client counts on from there.
    expect(none.frames[0]).toContain(`"recovered":true,"offset":3,`);
  });

  it("[A36] [C9] must be the same after a refresh, and otherwise the client connects anew", () => {
    const fixture = new ManyChannelsFixture({ options });
    const { connection } = opened(fixture);
    for (const wakes of [false, true]) {
      if (wakes) fixture.wake(connection);
      expect(fixture.ask(connection, refresh, naming(filtered()))).toStrictEqual([
        `{"id":3,"refresh":{}}`,
      ]);
    }
    for (const other of [filtered(team("blue")), "room"]) {
      const each = opened(fixture).connection;
      expect(fixture.ask(each, refresh, naming(other))).toStrictEqual([
        "close 3010 insufficient state",
      ]);
    }
  });

  it("[A17] is kept with the claims until the connect", () => {
    const fixture = new ManyChannelsFixture({ options });
    const claims = naming(filtered()).connection;
    if (claims?.outcome !== "verified") throw new Error("the token is good");
    const connection = fixture.open({ claims: claims.claims });
    fixture.wake(connection);
    fixture.send(connection, connect);
    fixture.channels.acceptSubscribe("room", { position });
    expect(granted(connection)).toStrictEqual([team("red")]);
  });
});

describe("a server's tags filter of a later release", () => {
  it("[A17] [V1] that can't be read ends the subscription, instead of letting everything through", () => {
    const fixture = new ChannelFixture({ options: { allow_tags_filter: true } });
    const later = filterNode({ key: "team", cmp: "like", val: "r%" });
    for (const filter of [undefined, team("red")]) {
      const subscription = {
        channel: "room",
        expireAtSeconds: 0,
        present: false,
        announced: false,
        hearsJoinLeave: false,
        ...(filter === undefined ? {} : { filter }),
        serverFilter: later,
      };
      const connection = fixture.open({ phase: "connected", subscriptions: [subscription] });
      expect(connection.takeSent()).toStrictEqual([
        `{"push":{"channel":"room","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`,
      ]);
    }
    publish(fixture, 1, 4);
    expect(fixture.connections.flatMap((one) => one.takeSent())).toStrictEqual([]);
  });
});
