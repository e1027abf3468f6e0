import { describe, expect, it } from "vitest";
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
});
