import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { address, call, publish } from "../support/api-request.ts";
import { attachmentsOf } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { token } from "../support/sign-token.ts";
import { TestSocket } from "../support/test-socket.ts";
import { TestStream } from "../support/test-stream.ts";
import { variants } from "../support/variant.ts";

/** Clients may do everything here with a token that lets them subscribe. */
const team = {
  name: "team",
  allow_tags_filter: true,
  allow_history_for_subscriber: true,
  allow_presence_for_subscriber: true,
  presence: true,
  history_size: 100,
  history_ttl: "5m",
  force_recovery: true,
};
const { namespaces } = openConfig.channel;
configure({ ...openConfig, channel: { ...openConfig.channel, namespaces: [...namespaces, team] } });

const is = (key: string, val: string) => ({ key, cmp: "eq", val });
const red = is("team", "red");
const odd = is("kind", "odd");

/** Publishes the numbers from first to last at once: 1 and 2 for red, 3 and 4 for blue, and so on. */
function publishNumbers(channel: string, first: number, last: number): Promise<unknown> {
  const data = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const commands = data.map((number) => {
    const isRed = number % 4 === 1 || number % 4 === 2;
    const tags = { team: isRed ? "red" : "blue", kind: number % 2 === 1 ? "odd" : "even" };
    return { publish: { channel, data: number, tags } };
  });
  return call("batch", { commands });
}

/** The payloads in the socket's next frames, until there are so many. */
async function received(socket: TestSocket, count: number): Promise<readonly number[]> {
  const payloads: number[] = [];
  while (payloads.length < count) payloads.push(...payloadsIn(await socket.line()));
  return payloads;
}

function payloadsIn(text: string): readonly number[] {
  return [...text.matchAll(/"data":(?<data>\d+)/gu)].map(({ groups }) => Number(groups?.["data"]));
}

/** A subscription token with this filter of the server's. */
function subscriptionToken(channel: string, filter: object | undefined): Promise<string> {
  return token({
    sub: "ada",
    channel,
    ...(filter === undefined ? {} : { server_tags_filter: filter }),
  });
}

describe.each(variants)("a server's tags filter on $name", (variant) => {
  /** A connected client that subscribes with this filter of the server's, and the reply. */
  async function subscribe(channel: string, filter: object | undefined, more: object = {}) {
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    const signed = await subscriptionToken(channel, filter);
    socket.send({ id: 2, subscribe: { channel, token: signed, ...more } });
    return { socket, reply: await socket.line() };
  }

  it("[A17] lets through what both it and the client's own filter match, live and recovered", async () => {
    const channel = newChannel("team");
    const { epoch } = await publish(channel, 0);
    const since = { recover: true, epoch, offset: 1 };
    const server = await subscribe(channel, red);
    const both = await subscribe(channel, red, { tf: odd });
    const all = await subscribe(channel, undefined);
    await variant.betweenSteps(channel);
    await publishNumbers(channel, 1, 8);
    await variant.betweenSteps(channel);
    await publishNumbers(channel, 9, 12);
    expect(await received(all.socket, 12)).toHaveLength(12);
    expect(await received(server.socket, 6)).toStrictEqual([1, 2, 5, 6, 9, 10]);
    expect(await received(both.socket, 3)).toStrictEqual([1, 5, 9]);
    await variant.betweenSteps(channel);
    const back = await subscribe(channel, red, since);
    expect(payloadsIn(back.reply)).toStrictEqual([1, 2, 5, 6, 9, 10]);
    expect(back.reply).toContain('"recovered":true');
    await variant.betweenSteps(channel);
    const narrow = await subscribe(channel, red, { ...since, tf: odd });
    expect(payloadsIn(narrow.reply)).toStrictEqual([1, 5, 9]);
    await variant.betweenSteps(channel);
    // What was published for nobody else isn't there either.
    for (const { socket } of [server, both, all, back, narrow])
      expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[A17] [A35] closes the history, hides nobody, and is stored for this release and later ones alone", async () => {
    const channel = newChannel("team");
    const { socket } = await subscribe(channel, red);
    await variant.betweenSteps(channel);
    socket.send({ id: 3, history: { channel, limit: 1 } });
    expect(await socket.line()).toBe('{"id":3,"error":{"code":103,"message":"permission denied"}}');
    await variant.betweenSteps(channel);
    socket.send({ id: 4, presence_stats: { channel } });
    expect(await socket.line()).toBe('{"id":4,"presence_stats":{"num_clients":1,"num_users":1}}');
    const [attachment] = await attachmentsOf(variant.place.holder(channel));
    expect(attachment).toMatchObject({
      v: 1,
      subscription: { channel, serverFilter: { ...red, op: "", vals: [], nodes: [] } },
    });
    await variant.betweenSteps(channel);
  });

  it("[A36] stays after a sub_refresh with the same, and another one ends the subscription with 2500", async () => {
    const channel = newChannel("team");
    const { socket } = await subscribe(channel, red);
    await variant.betweenSteps(channel);
    const refresh = async (id: number, filter: object | undefined) => {
      const signed = await subscriptionToken(channel, filter);
      socket.send({ id, sub_refresh: { channel, token: signed } });
    };
    await refresh(3, red);
    expect(await socket.line()).toBe('{"id":3,"sub_refresh":{}}');
    await variant.betweenSteps(channel);
    await publishNumbers(channel, 1, 4);
    expect(await received(socket, 2)).toStrictEqual([1, 2]);
    await variant.betweenSteps(channel);
    await refresh(4, is("team", "blue"));
    expect(await socket.line()).toBe(
      `{"push":{"channel":"${channel}","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`,
    );
    expect(await socket.line()).toBe('{"id":4,"sub_refresh":{}}');
    await variant.betweenSteps(channel);
    await publishNumbers(channel, 5, 8);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[A35] [A2] that makes no sense makes the token invalid", async () => {
    const { reply } = await subscribe(newChannel("team"), { key: "team", cmp: "like", val: "r" });
    expect(reply).toBe('{"id":2,"error":{"code":103,"message":"permission denied"}}');
  });
});

describe.each([channelPlace, gatewayPlace()])("a frame to many, on $name", (place) => {
  it("[A17] [F2] is filtered in every slice", async () => {
    const channel = newChannel("team");
    const count = limits.immediateSubscribersMax + 20;
    const sockets: TestSocket[] = [];
    for (let index = 0; index < count; index++) {
      const socket = TestSocket.on(await place.upgrade(channel, "", {}));
      await socket.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
      const signed = await subscriptionToken(channel, index % 3 === 0 ? undefined : red);
      await socket.ask({ id: 2, subscribe: { channel, token: signed } });
      sockets.push(socket);
    }
    await publishNumbers(channel, 1, 8);
    for (const [index, socket] of sockets.entries()) {
      expect(await received(socket, index % 3 === 0 ? 8 : 4)).toStrictEqual(
        index % 3 === 0 ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2, 5, 6],
      );
      expect(await socket.unread()).toStrictEqual([]);
    }
  });
});

describe("on every other transport, a server's tags filter", () => {
  const anywhere = ["/connection", "/channel"] as const;
  const at = (base: (typeof anywhere)[number], channel: string) =>
    base === "/channel" ? `${base}/${encodeURIComponent(channel)}` : base;

  it.each(anywhere)("[A17] [T1] counts on http_stream and sse: %s", async (base) => {
    const channel = newChannel("team");
    const connect = { id: 1, connect: { token: await token({ sub: "ada" }) } };
    const signed = await subscriptionToken(channel, red);
    const subscribe = { id: 2, subscribe: { channel, token: signed } };
    const frame = `${JSON.stringify(connect)}\n${JSON.stringify(subscribe)}`;
    const path = at(base, channel);
    const stream = await TestStream.open(`${path}/http_stream`, { method: "POST", body: frame });
    await stream.upTo('"id":2');
    const events = await TestStream.open(`${path}/sse`, { method: "POST", body: frame });
    await events.upTo('"id":2');
    await publishNumbers(channel, 1, 6);
    expect(payloadsIn(await stream.upTo('"data":6'))).toStrictEqual([1, 2, 5, 6]);
    expect(payloadsIn(await events.upTo('"data":6'))).toStrictEqual([1, 2, 5, 6]);
    await stream.cancel();
    await events.cancel();
  });

  it.each(anywhere)(
    "[A17] [C9] [C11] in a connection token counts for unidirectional clients: %s",
    async (base) => {
      const channel = newChannel("team");
      const { epoch } = await publish(channel, 0);
      await publishNumbers(channel, 1, 4);
      const subs = { [channel]: { server_tags_filter: red } };
      const signed = await token({ sub: "ada", subs });
      const since = { [channel]: { recover: true, offset: 1, epoch } };
      const request = JSON.stringify({ token: signed, subs: since });
      const query = `?cf_connect=${encodeURIComponent(request)}`;
      const path = at(base, channel);
      const lines = await TestStream.open(`${path}/uni_http_stream`, {
        method: "POST",
        body: request,
      });
      const events = await TestStream.open(`${path}/uni_sse${query}`);
      const upgrade = { headers: { Upgrade: "websocket" } };
      const response = await exports.default.fetch(address(`${path}/uni_websocket`), upgrade);
      const socket = TestSocket.on(response);
      socket.sendFrame(request);
      expect(payloadsIn(await lines.upTo('"recovered":true'))).toStrictEqual([1, 2]);
      expect(payloadsIn(await events.upTo('"recovered":true'))).toStrictEqual([1, 2]);
      expect(payloadsIn(await socket.line())).toStrictEqual([1, 2]);
      await publishNumbers(channel, 3, 6);
      expect(payloadsIn(await lines.upTo('"data":6'))).toStrictEqual([5, 6]);
      expect(payloadsIn(await events.upTo('"data":6'))).toStrictEqual([5, 6]);
      expect(await received(socket, 2)).toStrictEqual([5, 6]);
      await lines.cancel();
      await events.cancel();
    },
  );

  it("[A17] [T9] in a connection token counts for polls, which go on from the top", async () => {
    const channel = newChannel("team");
    const { epoch } = await publish(channel, 0);
    const signed = await token({ sub: "ada", subs: { [channel]: { server_tags_filter: red } } });
    const poll = async (offset: number) => {
      const path = `/channel/${encodeURIComponent(channel)}/poll?offset=${offset}&epoch=${epoch}&timeout=0`;
      const headers = { Authorization: `Bearer ${signed}` };
      const response = await exports.default.fetch(address(path), { headers });
      const { publications, offset: next }: { publications: { data: number }[]; offset: number } =
        await response.json();
      return { numbers: publications.map(({ data }) => data), next };
    };
    await publishNumbers(channel, 1, 8);
    expect(await poll(1)).toStrictEqual({ numbers: [1, 2, 5, 6], next: 7 });
    expect(await poll(7)).toStrictEqual({ numbers: [], next: 9 });
  });
});
