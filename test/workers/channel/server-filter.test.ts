import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { attachmentsOf } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { token } from "../support/sign-token.ts";
import type { TestSocket } from "../support/test-socket.ts";
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
});
