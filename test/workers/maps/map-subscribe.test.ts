import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { type Variant, variants } from "../support/variant.ts";

const open = { subscription_type: "map", allow_subscribe_for_client: true };
const changes = { allow_publish_for_client: true, allow_remove_for_client: true };
const keys = { key_ttl: "10m", min_page_size: 1 };
configure({
  ...testConfig,
  channel: {
    namespaces: [
      {
        ...open,
        name: "kept",
        map: { ...changes, ...keys, mode: "recoverable", stream_size: 20 },
        allowed_delta_types: ["fossil"],
        delta_publish: true,
        allow_tags_filter: true,
      },
      { ...open, name: "brief", map: { ...changes, ...keys, mode: "ephemeral" } },
      {
        ...open,
        name: "own",
        map: {
          ...changes,
          ...keys,
          mode: "recoverable",
          client_key: "client_id",
          remove_client_on_unsubscribe: true,
        },
      },
    ],
  },
});

// An eviction waits until an ephemeral map rests.
Object.assign(mapLimits, { mapRestMs: 50 });

/** Sets a key as a backend does, and gives the position. */
async function set(
  channel: string,
  key: string,
  data: object | number | string,
  more: object = {},
): Promise<{ readonly offset: number; readonly epoch: string }> {
  const { body } = await call("map_publish", { channel, key, data, ...more });
  const { result }: { result?: { offset?: number; epoch?: string } } = JSON.parse(body);
  if (result?.epoch === undefined) throw new Error(`not set: ${body}`);
  return { offset: result.offset ?? 0, epoch: result.epoch };
}

/** A subscribe of a map, as the SDK sends it. */
function ask(id: number, channel: string, fields: object = {}) {
  return { id, subscribe: { channel, type: 1, phase: 2, flag: 1, ...fields } };
}

/** The reply to a request, byte for byte. */
async function lineOf(socket: TestSocket, command: object): Promise<string> {
  socket.send(command);
  return socket.line();
}

/** A client that is subscribed to an empty map, in one request. */
async function subscribed(variant: Variant, channel: string, user: string): Promise<TestSocket> {
  const socket = await variant.connect(channel, user);
  await socket.ask(ask(2, channel));
  return socket;
}

describe.each(variants)("a map, on $name", (variant) => {
  it("[Z15] is read in pages as of the first one, and goes live with what came since", async () => {
    const channel = newChannel("kept");
    for (const key of ["a", "b", "c"]) await set(channel, key, key);
    const { epoch } = await set(channel, "d", 4, { tags: { t: "v" } });
    const socket = await variant.connect(channel, "ada");
    expect(await lineOf(socket, ask(2, channel, { limit: 2 }))).toBe(
      `{"id":2,"subscribe":{"epoch":"${epoch}","offset":4,"type":1,"phase":2,"cursor":"b",` +
        `"state":[{"data":"a","offset":1,"key":"a"},{"data":"b","offset":2,"key":"b"}]}}`,
    );
    await set(channel, "c", "new");
    await call("map_remove", { channel, key: "a" });
    await set(channel, "e", 5);
    const next = { limit: 2, cursor: "b", offset: 4, epoch };
    expect(await lineOf(socket, ask(3, channel, next))).toBe(
      `{"id":3,"subscribe":{"recoverable":true,"epoch":"${epoch}","publications":[` +
        `{"data":"new","offset":5,"key":"c"},{"offset":6,"key":"a","removed":true},{"data":5,"offset":7,"key":"e"}],` +
        `"offset":7,"type":1,"state":[{"data":4,"offset":4,"tags":{"t":"v"},"key":"d"}]}}`,
    );
    await variant.betweenSteps(channel);
    await set(channel, "a", 8);
    const push = `{"push":{"channel":"${channel}","pub":{"data":8,"offset":8,"key":"a"}}}`;
    expect(await socket.line()).toBe(push);
    await variant.betweenSteps(channel);
    await call("map_remove", { channel, key: "a" });
    const removal = `{"push":{"channel":"${channel}","pub":{"offset":9,"key":"a","removed":true}}}`;
    expect(await socket.line()).toBe(removal);
    await variant.betweenSteps(channel);
  });

  it("[Z16] is read from the beginning by a client whose flow was lost", async () => {
    const channel = newChannel("kept");
    await set(channel, "a", 1);
    const { epoch } = await set(channel, "b", 2);
    const socket = await variant.connect(channel, "ada");
    const page = await lineOf(socket, ask(2, channel, { limit: 1 }));
    expect(page).toContain('"cursor":"a"');
    await variant.betweenSteps(channel);
    const next = ask(3, channel, { limit: 1, cursor: "a", offset: 2, epoch });
    const answer = await lineOf(socket, next);
    const isLost = variant.name.includes("evicted");
    const lost = '{"id":3,"error":{"code":113,"message":"concurrent pagination","temporary":true}}';
    expect(answer).toContain(isLost ? lost : '{"id":3,"subscribe":{"recoverable":true');
    const live = isLost ? await lineOf(socket, ask(4, channel)) : answer;
    expect(live).toContain('"recoverable":true');
    await variant.betweenSteps(channel);
  });

  it("[Z18] [O4] is changed by clients, who get their own change before the reply", async () => {
    const channel = newChannel("kept");
    const socket = await subscribed(variant, channel, "ada");
    await variant.betweenSteps(channel);
    const info = `"info":{"user":"ada","client":"${socket.client}"}`;
    socket.send({ id: 3, publish: { channel, type: 1, key: "k", data: { x: 1 } } });
    expect(await socket.line()).toMatch(
      new RegExp(
        String.raw`^\{"push":\{"channel":"${channel}","pub":\{"data":\{"x":1\},${info},"offset":1,"key":"k","epoch":"\w+"\}\}\}$`,
      ),
    );
    expect(await socket.line()).toBe('{"id":3,"publish":{}}');
    await variant.betweenSteps(channel);
    socket.send({ id: 4, publish: { channel, type: 1, key: "k", removed: true } });
    expect(await socket.line()).toBe(
      `{"push":{"channel":"${channel}","pub":{${info},"offset":2,"key":"k","removed":true}}}`,
    );
    expect(await socket.line()).toBe('{"id":4,"publish":{}}');
    await variant.betweenSteps(channel);
    expect(
      await lineOf(socket, { id: 5, publish: { channel, type: 1, key: "k", removed: true } }),
    ).toBe('{"id":5,"publish":{}}');
    await variant.betweenSteps(channel);
  });

  it("[Z15] that is ephemeral tells no offsets, and is read anew after the connection was lost", async () => {
    const channel = newChannel("brief");
    const socket = await subscribed(variant, channel, "ada");
    await variant.betweenSteps(channel);
    socket.send({ id: 3, publish: { channel, type: 1, key: "k", data: 1 } });
    const info = `"info":{"user":"ada","client":"${socket.client}"}`;
    expect(await socket.line()).toBe(
      `{"push":{"channel":"${channel}","pub":{"data":1,${info},"key":"k"}}}`,
    );
    expect(await socket.line()).toBe('{"id":3,"publish":{}}');
    const other = await variant.connect(channel, "bob");
    expect(await lineOf(other, ask(2, channel))).toMatch(
      /^\{"id":2,"subscribe":\{"epoch":"\w+","type":1,"state":\[\{"data":1,"info":\{[^}]+\},"key":"k"\}\]\}\}$/,
    );
    await variant.betweenSteps(channel);
  });

  it("[Z20] loses the key of a client whose subscription ends, in whatever way", async () => {
    const channel = newChannel("own");
    const reader = await subscribed(variant, channel, "reader");
    for (const how of ["unsubscribes", "goes", "is unsubscribed"]) {
      const writer = await subscribed(variant, channel, "writer");
      writer.send({ id: 3, publish: { channel, type: 1, key: "whatever", data: how } });
      expect(await reader.line()).toContain(`"key":"${writer.client}"`);
      await variant.betweenSteps(channel);
      if (how === "unsubscribes") writer.send({ id: 4, unsubscribe: { channel } });
      else if (how === "goes") writer.close();
      else await call("unsubscribe", { channel, user: "writer" });
      expect(await reader.line()).toContain(`"key":"${writer.client}","removed":true`);
      await variant.betweenSteps(channel);
    }
  });
});
