import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { call, postWith, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awakeVariants, variants } from "../support/variant.ts";
import { watchedChannels } from "../support/watched-channels.ts";

const history = { history_size: 10, history_ttl: "5m" };
configure({
  ...testConfig,
  channel: {
    ...testConfig.channel,
    namespaces: [
      ...testConfig.channel.namespaces,
      {
        name: "chat",
        allow_subscribe_for_client: true,
        allow_publish_for_subscriber: true,
        ...history,
        cursors: { enabled: true, unread_max: 8 },
      },
      {
        name: "short",
        history_size: 10,
        history_ttl: "1m",
        history_meta_ttl: "1m",
        cursors: { enabled: true, unread_from: "none" },
      },
      { name: "fresh", ...history, cursors: { enabled: true, unread_from: "none" } },
      {
        name: "tagged",
        ...history,
        cursors: {
          enabled: true,
          unread_tags_filter: { key: "kind", cmp: "eq", val: "message" },
        },
      },
    ],
  },
});

async function resultOf(method: string, request: object): Promise<object> {
  const { body } = await call(method, request);
  const { result }: { result?: object } = JSON.parse(body);
  if (result === undefined) throw new Error(`${method}: ${body}`);
  return result;
}

const mark = (user: string, channel: string, offset: number, epoch = "") =>
  resultOf("mark_read", { user, channel, offset, epoch });

async function unread(user: string, channel: string): Promise<object | undefined> {
  const answer = await resultOf("unread", { user, channels: [channel] });
  const { channels }: { channels?: Record<string, object> } = answer;
  return channels?.[channel];
}

const delivered = (user: string, channel: string) => resultOf("delivered", { user, channel });

async function bodyOf(method: string, request: object): Promise<string> {
  return (await call(method, request)).body;
}

const rows = (channel: string) =>
  runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage }) => {
    const { sql } = storage;
    const has = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'user_mark'").toArray();
    return has.length === 0 ? 0 : sql.exec("SELECT * FROM user_mark").toArray().length;
  });

/** Publications that the socket has been sent are passed over. */
async function rpc(socket: TestSocket, method: string, data: object): Promise<string> {
  socket.send({ id: 9, rpc: { method, data } });
  return socket.lineWith('"id":9');
}

describe.each(variants)("marks and what is unread, on $name", (variant) => {
  it("[CU1] [CU2] [CU3] [CU4] a client marks what its user has read, forward only, and asks what is unread", async () => {
    const channel = newChannel("chat");
    const socket = await variant.subscribe(channel, "ann");
    for (const data of [1, 2, 3]) await publish(channel, data);
    await variant.betweenSteps(channel);
    const { epoch } = await publish(channel, 4);
    expect(await rpc(socket, "dormouse.unread", { channels: [channel] })).toBe(
      `{"id":9,"rpc":{"data":{"channels":{"${channel}":{"unread":4,"read":0,"offset":4,"epoch":"${epoch}"}}}}}`,
    );
    const marked = (read: number) => `{"id":9,"rpc":{"data":{"read":${read},"epoch":"${epoch}"}}}`;
    expect(await rpc(socket, "dormouse.read", { channel, offset: 3 })).toBe(marked(3));
    await variant.betweenSteps(channel);
    expect(await rpc(socket, "dormouse.read", { channel, offset: 2 })).toBe(marked(3));
    expect(await rpc(socket, "dormouse.read", { channel, offset: 5 })).toContain('"code":107');
    expect(await rpc(socket, "dormouse.read", { channel, offset: 4, epoch: "other" })).toContain(
      '"code":112',
    );
    await variant.betweenSteps(channel);
    expect(await unread("ann", channel)).toStrictEqual({ unread: 1, read: 3, offset: 4, epoch });
    expect(await rows(channel)).toBe(1);
  });

  it("[CU11] a client's own mark proves that everything up to there has arrived", async () => {
    const channel = newChannel("chat");
    const socket = await variant.subscribe(channel, "ann");
    await publish(channel, 1);
    const { epoch } = await publish(channel, 2);
    await variant.betweenSteps(channel);
    await mark("ann", channel, 2);
    await rpc(socket, "dormouse.read", { channel, offset: 1 });
    await variant.betweenSteps(channel);
    const known = { offset: 1, epoch, by: "command", at_ms: expect.any(Number) };
    expect(await delivered("ann", channel)).toStrictEqual(known);
    expect(await unread("ann", channel)).toMatchObject({ unread: 0, read: 2 });
  });

  it("[CU7] a message that isn't answered marks as well", async () => {
    const channel = newChannel("chat");
    const socket = await variant.subscribe(channel, "ann");
    await publish(channel, 1);
    await variant.betweenSteps(channel);
    socket.send({ send: { data: { method: "dormouse.read", data: { channel, offset: 1 } } } });
    await socket.unread();
    expect(await unread("ann", channel)).toMatchObject({ unread: 0, read: 1 });
  });

  it("[CU4] publications of the user's own clients don't count", async () => {
    const channel = newChannel("chat");
    const ann = await variant.subscribe(channel, "ann");
    ann.send({ id: 3, publish: { channel, data: "hello" } });
    await ann.lineWith('"id":3');
    await publish(channel, "from the backend");
    await variant.betweenSteps(channel);
    expect(await unread("ann", channel)).toMatchObject({ unread: 1, read: 0, offset: 2 });
    expect(await unread("bob", channel)).toMatchObject({ unread: 2 });
  });

  it("[CU7] a stranger may neither mark nor ask, unless the channel keeps something of the user", async () => {
    const channel = newChannel("chat");
    const socket = await variant.connect(channel, "eve");
    await publish(channel, 1);
    const asked = () => rpc(socket, "dormouse.unread", { channels: [channel] });
    expect(await rpc(socket, "dormouse.read", { channel, offset: 1 })).toContain('"code":103');
    expect(await asked()).toContain('"code":103');
    await mark("eve", channel, 1);
    await variant.betweenSteps(channel);
    expect(await asked()).toContain('"unread":0,"read":1');
  });
});

describe("what a backend marks and asks", () => {
  it("[CU10] a user of whom nothing is known has got nothing, and a backend's mark proves nothing", async () => {
    const channel = newChannel("chat");
    await publish(channel, 1);
    const { epoch } = await publish(channel, 2);
    expect(await delivered("ann", channel)).toStrictEqual({ offset: 0, epoch });
    await mark("ann", channel, 2);
    expect(await delivered("ann", channel)).toStrictEqual({ offset: 0, epoch });
  });

  it("[CU4] [CU6] counts at most unread_max, and what the history has lost", async () => {
    const channel = newChannel("chat");
    for (let data = 0; data < 12; data++) await publish(channel, data);
    expect(await unread("ann", channel)).toMatchObject({ unread: 8, capped: true });
    await mark("ann", channel, 4);
    expect(await unread("ann", channel)).toMatchObject({ unread: 8, read: 4 });
    expect(await unread("ann", channel)).not.toHaveProperty("capped");
    await call("history_remove", { channel });
    expect(await unread("ann", channel)).toMatchObject({ unread: 8, read: 4 });
    await mark("ann", channel, 10);
    expect(await unread("ann", channel)).toMatchObject({ unread: 2, read: 10 });
  });

  it("[CU5] marks of a history that began anew say nothing, and the answer says so", async () => {
    const channel = newChannel("short");
    await publish(channel, 1);
    await mark("ann", channel, 1);
    vi.setSystemTime(Date.now() + 120_000);
    expect(await unread("ann", channel)).toMatchObject({ unread: 0, offset: 0, reset: true });
    const { epoch } = await publish(channel, 2);
    const reset = { unread: 1, read: 0, reset: true, offset: 1, epoch };
    expect(await unread("ann", channel)).toStrictEqual(reset);
    await mark("ann", channel, 1);
    expect(await unread("ann", channel)).toStrictEqual({ unread: 0, read: 1, offset: 1, epoch });
    vi.useRealTimers();
  });

  it("[CU5] the beginning is the same in each history, also if it was marked before the first one", async () => {
    const channel = newChannel("short");
    await mark("ann", channel, 0);
    for (const data of [1, 2]) {
      const { epoch } = await publish(channel, data);
      const beginning = { unread: 1, read: 0, offset: 1, epoch };
      expect(await unread("ann", channel)).toStrictEqual(beginning);
      vi.setSystemTime(Date.now() + 120_000);
      expect(await unread("ann", channel)).not.toHaveProperty("reset");
    }
    vi.useRealTimers();
  });

  it("[CU4] a channel that doesn't answer has an error among the answers of the others", async () => {
    const channels = [newChannel("chat"), newChannel("chat")];
    const failing = watchedChannels(({ channel, proceed }) =>
      channel === channels[0] ? Promise.reject(new Error("broken")) : proceed(),
    );
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const body = JSON.stringify({ user: "ann", channels });
    const answer = await (await postWith({ CHANNELS: failing }, "/api/unread", body)).text();
    expect(answer).toContain(`"${channels[0]}":{"error":{"code":100,`);
    expect(answer).toContain(`"${channels[1]}":{"unread":0,`);
  });

  it("[CU2] a mark that isn't larger writes nothing", async () => {
    const channel = newChannel("chat");
    for (const data of [1, 2]) await publish(channel, data);
    const writtenMs = () =>
      runInDurableObject(
        env.CHANNELS.getByName(channel),
        (_, { storage }) => storage.sql.exec("SELECT time FROM user_mark").one()["time"],
      );
    await mark("ann", channel, 1);
    const before = await writtenMs();
    vi.setSystemTime(Date.now() + 60_000);
    for (const offset of [1, 0]) await mark("ann", channel, offset);
    expect(await writtenMs()).toBe(before);
    await mark("ann", channel, 2);
    expect(await writtenMs()).not.toBe(before);
    vi.useRealTimers();
  });

  it("[CU2] the marks of a frame share a commit, for which marks that come meanwhile wait", async () => {
    const channel = newChannel("chat");
    for (const data of [1, 2, 3]) await publish(channel, data);
    const onChannel = awakeVariants.find(({ place }) => place.oneChannel);
    const socket = await onChannel?.subscribe(channel, "ann");
    const synced = vi.fn<() => void>();
    await runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage }) => {
      const sync = storage.sync.bind(storage);
      vi.spyOn(storage, "sync").mockImplementation(() => {
        synced();
        return sync();
      });
    });
    const read = (id: number) => ({
      id,
      rpc: { method: "dormouse.read", data: { channel, offset: id } },
    });
    socket?.send(read(1), read(2), read(3));
    await socket?.lineWith('"id":3');
    expect(synced).toHaveBeenCalledOnce();
    expect(await unread("ann", channel)).toMatchObject({ unread: 0, read: 3 });
  });

  it("[CU4] tags say which publications count", async () => {
    const channel = newChannel("tagged");
    await publish(channel, 1, { tags: { kind: "typing" } });
    await publish(channel, 2, { tags: { kind: "message" } });
    await publish(channel, 3);
    expect(await unread("ann", channel)).toMatchObject({ unread: 1, offset: 3 });
  });

  it("[CU8] a user who has marked nothing is where the namespace says", async () => {
    const channel = newChannel("fresh");
    await publish(channel, 1);
    expect(await unread("ann", channel)).toMatchObject({ unread: 0, read: 1 });
    await mark("ann", channel, 0);
    expect(await unread("ann", channel)).toMatchObject({ unread: 1, read: 0 });
  });

  it("[CU9] [CU8] refuses users and channels that can't be, and keeps nothing where it isn't switched on", async () => {
    const [plain, chat] = [newChannel("room"), newChannel("chat")];
    await publish(plain, 1);
    expect(await bodyOf("mark_read", { user: "ann", channel: plain, offset: 1 })).toContain(
      '"code":108',
    );
    expect(await bodyOf("unread", { user: "ann", channels: [plain] })).toContain('"code":108');
    expect(await rows(plain)).toBe(0);
    expect(await bodyOf("mark_read", { user: "", channel: chat, offset: 1 })).toContain(
      '"code":107',
    );
    expect(await bodyOf("mark_read", { user: "ann", channel: chat })).toContain("107");
    expect(await bodyOf("mark_read", { user: "ann", channel: chat, offset: 1 })).toContain(
      '"code":107',
    );
    expect(await bodyOf("unread", { user: "ann", channels: [] })).toContain("107");
    const many = Array.from({ length: 101 }, (_, index) => `chat:${index}`);
    expect(await bodyOf("unread", { user: "ann", channels: many })).toContain("107");
    expect(await unread("ann", chat)).toStrictEqual({ unread: 0, read: 0, offset: 0, epoch: "" });
    expect(await rows(chat)).toBe(0);
  });

  it("[CU1] marks in a batch, each channel's in their order", async () => {
    const channels = [newChannel("chat"), newChannel("chat")];
    for (const channel of channels) for (const data of [1, 2]) await publish(channel, data);
    const commands = channels.flatMap((channel) =>
      [2, 1].map((offset) => ({ mark_read: { user: "ann", channel, offset } })),
    );
    const { body } = await call("batch", { commands });
    expect([...body.matchAll(/"read":(\d)/g)].map(([, read]) => read)).toEqual([
      "2",
      "2",
      "2",
      "2",
    ]);
  });
});
