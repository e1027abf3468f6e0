import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { answerOf, call, keptData, post, postWith, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { type WatchedCall, watchedChannels } from "../support/watched-channels.ts";

const unknownChannel = '{"error":{"code":102,"message":"unknown channel"}}';
const badRequest = '{"error":{"code":107,"message":"bad request"}}';

/** Makes a request and gives the calls to objects that it caused. */
async function callsOf(
  path: string,
  body: string,
): Promise<{ readonly calls: readonly [string, string][]; readonly body: string }> {
  const calls: [string, string][] = [];
  const watch = ({ channel, commands, proceed }: WatchedCall) => {
    calls.push([channel, commands.map(({ method }) => method).join()]);
    return proceed();
  };
  const response = await postWith({ CHANNELS: watchedChannels(watch) }, path, body);
  expect(response.status).toBe(200);
  return { calls, body: await response.text() };
}

describe("a broadcast", () => {
  it("[W3] answers in the order of its channels, with one call to each", async () => {
    const [a, b] = [newChannel("ring"), newChannel("plain")];
    const request = { channels: [b, "no-such:x", a, "", b, a], data: { n: 1 } };
    const { calls, body } = await callsOf("/api/broadcast", JSON.stringify(request));
    expect(calls).toStrictEqual([
      [b, "publish,publish"],
      [a, "publish,publish"],
    ]);
    const { epoch } = await publish(a, "after");
    const at = (offset: number) => `{"result":{"offset":${offset},"epoch":"${epoch}"}}`;
    const none = '{"result":{}}';
    expect(body).toBe(
      `{"result":{"responses":[${none},${unknownChannel},${at(1)},${badRequest},${none},${at(2)}]}}`,
    );
    expect(await keptData(a)).toStrictEqual(['{"n":1}', '{"n":1}', '"after"']);
  });

  it("[I1] with a key publishes to each channel once", async () => {
    const [a, b] = [newChannel("ring"), newChannel("ring")];
    const request = { channels: [a, b, a], data: 1, idempotency_key: "k" };
    const first = await call("broadcast", request);
    expect(await call("broadcast", request)).toStrictEqual(first);
    expect(await keptData(a)).toStrictEqual(["1"]);
    expect(await keptData(b)).toStrictEqual(["1"]);
  });

  it("[W4] that is refused for its publication publishes nowhere", async () => {
    const channel = newChannel("ring");
    for (const request of [
      { channels: [channel], data: 1, tags: { a: 1 } },
      { channels: [channel] },
      { channels: [], data: 1 },
    ]) {
      expect(await call("broadcast", request)).toStrictEqual({ status: 200, body: badRequest });
    }
    const malformed = { channels: [channel, 1], data: 1 };
    expect((await call("broadcast", malformed)).status).toBe(400);
    expect(await keptData(channel)).toStrictEqual([]);
  });

  it("[B1] takes as many channels as the limit says, and not one more", async () => {
    const channel = newChannel("ring");
    const channels = Array.from({ length: limits.requestChannelsMax }, () => channel);
    const { body } = await call("broadcast", { channels, data: 1, idempotency_key: "k" });
    expect(body.match(/"offset":1,/g)).toHaveLength(limits.requestChannelsMax);
    expect(await call("broadcast", { channels: [...channels, channel], data: 2 })).toStrictEqual({
      status: 200,
      body: badRequest,
    });
    expect(await keptData(channel)).toStrictEqual(["1"]);
  });
});

describe("a batch", () => {
  it("[W3] answers in the order of its commands, with one call to each channel", async () => {
    const [a, b] = [newChannel("ring"), newChannel("plain")];
    const commands = [
      { publish: { channel: a, data: 1 } },
      { presence_stats: { channel: b } },
      { broadcast: { channels: [b, a, "no-such:x"], data: 2 } },
      { history: { channel: a, limit: -1 } },
      { history: { channel: b } },
      { history_remove: { channel: a } },
      { publish: { channel: a, data: 3 } },
      { presence: { channel: b } },
      { publish: { channel: "" } },
    ];
    const { calls, body } = await callsOf("/api/batch", JSON.stringify({ commands }));
    expect(calls).toStrictEqual([
      [a, "publish,publish,history,history_remove,publish"],
      [b, "presence_stats,publish,history,presence"],
    ]);
    const { epoch } = await publish(a, "after");
    const at = (offset: number) => `{"offset":${offset},"epoch":"${epoch}"}`;
    expect(body).toBe(
      `{"replies":[{"publish":${at(1)}},` +
        `{"presence_stats":{"num_clients":0,"num_users":0}},` +
        `{"broadcast":{"responses":[{"result":{}},{"result":${at(2)}},${unknownChannel}]}},` +
        `{"history":{"publications":[{"data":1,"offset":1},{"data":2,"offset":2}],"epoch":"${epoch}","offset":2}},` +
        `{"error":{"code":108,"message":"not available"}},` +
        `{"history_remove":{}},` +
        `{"publish":${at(3)}},` +
        `{"presence":{"presence":{}}},` +
        `${badRequest}]}`,
    );
    expect(await keptData(a)).toStrictEqual(["3", '"after"']);
  });

  it("[W3] keeps a channel's order also when it asks for parallel work", async () => {
    const channel = newChannel("");
    const commands = Array.from({ length: 50 }, (_, data) => ({ publish: { channel, data } }));
    const { body } = await call("batch", { commands, parallel: true });
    const offsets = [...body.matchAll(/"offset":(\d+)/g)].map(([, offset]) => Number(offset));
    expect(offsets).toStrictEqual(commands.map((_, index) => index + 1));
    expect(await keptData(channel)).toStrictEqual(commands.map((_, index) => String(index)));
  });

  it("[W1] of nothing is answered with nothing", async () => {
    const empty = { status: 200, body: '{"replies":[]}' };
    expect(await call("batch", { commands: [] })).toStrictEqual(empty);
    expect(await call("batch", {})).toStrictEqual(empty);
  });

  it.each<[string, (channel: string) => string]>([
    ["a wrong type", () => '{"publish":{"channel":1,"data":2}}'],
    ["two methods", (channel) => `{"history":{},"publish":{"channel":"${channel}","data":2}}`],
    ["no object", () => "1"],
  ])("[W4] with one command that can't be understood does nothing: %s", async (_, make) => {
    const channel = newChannel("ring");
    const good = `{"publish":{"channel":"${channel}","data":1}}`;
    const response = await post("/api/batch", `{"commands":[${good},${make(channel)}]}`);
    expect(await answerOf(response)).toStrictEqual({ status: 400, body: "Bad Request" });
    expect(response.headers.get("X-Dormouse-Error-Detail")).toMatch(/^commands\[1\]: /);
    expect(await keptData(channel)).toStrictEqual([]);
  });

  it("[W9] answers for itself each command that has no method, and each rpc", async () => {
    const channel = newChannel("ring");
    const odd = [
      "{}",
      '{"nosuch":{}}',
      '{"batch":{}}',
      '{"device_list":{}}',
      '{"rpc":{"method":"a"}}',
    ];
    const good = `{"publish":{"channel":"${channel}","data":1}}`;
    const { body } = await call("batch", `{"commands":[${[...odd, '{"rpc":{}}', good].join()}]}`);
    const notFound = '{"error":{"code":104,"message":"not found"}}';
    expect(body).toContain(`[${[...odd.map(() => notFound), badRequest].join()},{"publish":`);
    expect(await keptData(channel)).toStrictEqual(["1"]);
  });

  it("[W9] answers an rpc in the other forms, too", async () => {
    const body = '{"error":{"code":104,"message":"not found"}}';
    expect(await call("rpc", { method: "a", params: 1 })).toStrictEqual({ status: 200, body });
    expect(await call("rpc", {})).toStrictEqual({ status: 200, body: badRequest });
    expect((await call("rpc", { method: 1 })).status).toBe(400);
    const line = await answerOf(
      await post("/api", '{"id":7,"method":"rpc","params":{"method":"a"}}'),
    );
    expect(line).toStrictEqual({ status: 200, body: `{"id":7,${body.slice(1)}\n` });
  });

  it("[B1] takes as many commands as the limit says, and not one more", async () => {
    const channel = newChannel("ring");
    const command = `{"publish":{"channel":"${channel}","data":1,"idempotency_key":"k"}}`;
    const batch = (count: number) =>
      call("batch", `{"commands":[${Array.from({ length: count }, () => command).join()}]}`);
    const { body } = await batch(limits.requestCommandsMax);
    expect(body.match(/"offset":1,/g)).toHaveLength(limits.requestCommandsMax);
    expect(await batch(limits.requestCommandsMax + 1)).toStrictEqual({
      status: 200,
      body: badRequest,
    });
  });

  it("[B1] counts a broadcast's channels, and the data for one channel", async () => {
    const channel = newChannel("ring");
    const channels = Array.from({ length: 1_000 }, () => channel);
    const broadcast = { broadcast: { channels, data: "x".repeat(9_000) } };
    const refused = { status: 200, body: badRequest };
    expect(await call("batch", { commands: [broadcast] })).toStrictEqual(refused);
    const commands = Array.from({ length: 11 }, () => ({ broadcast: { channels, data: 1 } }));
    expect(await call("batch", { commands })).toStrictEqual(refused);
    expect(await keptData(channel)).toStrictEqual([]);
  });
});

describe("the legacy form", () => {
  it("[W3] answers line by line, in order, each with its id, with one call to each channel", async () => {
    const [a, b] = [newChannel("ring"), newChannel("plain")];
    const lines = [
      { id: 7, method: "publish", params: { channel: a, data: 1 } },
      { method: "presence_stats", params: { channel: b } },
      { id: 7, method: "broadcast", params: { channels: [a, b], data: 2 } },
      { id: 4_294_967_295, method: "publish" },
      { id: 9, method: "history", params: { channel: a, limit: 1 } },
    ];
    const text = `${lines.map((line) => JSON.stringify(line)).join("\r\n\n")}\n`;
    const { calls, body } = await callsOf("/api", text);
    expect(calls).toStrictEqual([
      [a, "publish,publish,history"],
      [b, "presence_stats,publish"],
    ]);
    const { epoch } = await publish(a, "after");
    expect(body).toBe(
      `{"id":7,"result":{"offset":1,"epoch":"${epoch}"}}\n` +
        `{"id":0,"result":{"num_clients":0,"num_users":0}}\n` +
        `{"id":7,"result":{"responses":[{"result":{"offset":2,"epoch":"${epoch}"}},{"result":{}}]}}\n` +
        `{"id":4294967295,${badRequest.slice(1)}\n` +
        `{"id":9,"result":{"publications":[{"data":1,"offset":1}],"epoch":"${epoch}","offset":2}}\n`,
    );
  });

  it.each([
    "",
    "\n",
    '{"id":1,"method":"nosuch","params":{}}',
    '{"id":-1,"method":"history"}',
    '{"id":1,"method":"publish","params":1}',
    '{"id":1',
    '{"id":1,"method":"batch","params":{"commands":[]}}',
  ])("[W4] with one line that can't be understood does nothing: %j", async (bad) => {
    const channel = newChannel("ring");
    const params = { channel, data: 1 };
    const good = bad.trim() === "" ? bad : JSON.stringify({ id: 1, method: "publish", params });
    const response = await post("/api", `${good}\n${bad}`);
    expect(await answerOf(response)).toStrictEqual({ status: 400, body: "Bad Request" });
    expect(await keptData(channel)).toStrictEqual([]);
  });

  it("[W2] keeps data as it was written", async () => {
    const channel = newChannel("ring");
    const data = '{"b":1.50,"a":9007199254740993}';
    await post("/api", `{"method":"publish","params":{"channel":"${channel}","data":${data}}}`);
    expect(await keptData(channel)).toStrictEqual([data]);
  });
});
