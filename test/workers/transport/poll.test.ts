import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { address, call, fetchWith, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { untouchable } from "../support/watched-upgrades.ts";

const config = {
  ...openConfig,
  client: { ...openConfig.client, allow_anonymous_connect_without_token: true },
  channel: {
    ...openConfig.channel,
    namespaces: [
      ...openConfig.channel.namespaces,
      {
        name: "open",
        allow_subscribe_for_client: true,
        allow_subscribe_for_anonymous: true,
        presence: true,
        join_leave: true,
        force_push_join_leave: true,
        history_size: 3,
        history_ttl: "5m",
        force_recovery: true,
      },
    ],
  },
};
configure(config);

const lasting = "public, max-age=60";
const fleeting = "private, no-store";

/** Polls, and gives the answer; `cache` is the header. */
async function poll(channel: string, query = "", headers: HeadersInit = {}) {
  const path = `/channel/${encodeURIComponent(channel)}/poll${query}`;
  const response = await fetchWith({}, new Request(address(path), { headers }));
  const cache = response.headers.get("Cache-Control");
  return { status: response.status, cache, body: await response.text() };
}

/** Until the channel's object has so many sockets. */
async function connectedClient(channel: string, count: number): Promise<void> {
  const object = env.CHANNELS.getByName(channel);
  await expect
    .poll(() => runInDurableObject(object, (_, state) => state.getWebSockets().length))
    .toBe(count);
}

describe("a long poll", () => {
  it("[T9] gives what is newer at once, as it was published, and lets everybody keep it", async () => {
    const channel = newChannel("open");
    const { epoch } = await publish(channel, 1);
    await call("publish", `{"channel":"${channel}","data":{"n" : 12345678901234567890}}`);
    await publish(channel, null, { tags: { a: "b" } });
    const answer = await poll(channel, `?offset=1&epoch=${epoch}`);
    expect(answer).toStrictEqual({
      status: 200,
      cache: lasting,
      body:
        `{"publications":[{"data":{"n" : 12345678901234567890},"offset":2},` +
        `{"data":null,"offset":3,"tags":{"a":"b"}}],"offset":3,"epoch":"${epoch}"}`,
    });
    await connectedClient(channel, 0);
  });

  it("[T9] waits for what comes", async () => {
    const channel = newChannel("open");
    const { epoch } = await publish(channel, 1);
    const answer = poll(channel, `?offset=1&epoch=${epoch}`);
    await connectedClient(channel, 1);
    await publish(channel, "new");
    const body = `{"publications":[{"data":"new","offset":2}],"offset":2,"epoch":"${epoch}"}`;
    expect(await answer).toStrictEqual({ status: 200, cache: lasting, body });
    await connectedClient(channel, 0);
  });

  it("[T9] causes no presence, join or leave", async () => {
    const channel = newChannel("open");
    const { epoch } = await publish(channel, 1);
    const observer = await TestSocket.subscribe(channel, "ada");
    await observer.line(); // Its own join.
    const polled = poll(channel, `?offset=1&epoch=${epoch}`);
    await connectedClient(channel, 2);
    expect((await call("presence_stats", { channel })).body).toContain(`"num_clients":1`);
    await publish(channel, 2);
    expect((await polled).body).toContain(`"data":2`);
    await connectedClient(channel, 1);
    await publish(channel, 3);
    const received = [JSON.parse(await observer.line()), JSON.parse(await observer.line())];
    expect(received).toMatchObject([2, 3].map((data) => ({ push: { pub: { data } } })));
    observer.close();
  });

  it("[T9] ends with nothing when its time is over", async () => {
    const channel = newChannel("open");
    const { epoch } = await publish(channel, 1);
    const body = `{"publications":[],"offset":1,"epoch":"${epoch}"}`;
    expect(await poll(channel, `?offset=1&epoch=${epoch}&timeout=1`)).toStrictEqual({
      status: 200,
      cache: fleeting,
      body,
    });
    await connectedClient(channel, 0);
  });

  it.each<[string, (token: string) => [string, HeadersInit]]>([
    ["query", (value) => [`&token=${value}`, {}]],
    ["header", (value) => ["", { Authorization: `Bearer ${value}` }]],
    ["cookie", (value) => ["", { Cookie: `dormouse-token=${value}` }]],
    ["a cookie of something else", () => ["", { Cookie: "session=1" }]],
  ])("[T9][A3] what came with credentials is for nobody else: %s", async (_, place) => {
    const channel = newChannel("open");
    const { epoch } = await publish(channel, 1);
    const [query, headers] = place(await token({ sub: "ada" }));
    const answer = await poll(channel, `?offset=0&epoch=${epoch}${query}`, headers);
    expect(answer).toMatchObject({ status: 200, cache: fleeting });
  });

  it("[T9] a response without an epoch isn't cached", async () => {
    const channel = newChannel("open");
    await publish(channel, 1);
    expect(await poll(channel, "?offset=0")).toMatchObject({ status: 200, cache: fleeting });
  });
});

describe("a long poll that isn't understood", () => {
  it.each<[number, string]>([
    [400, "/channel/open:a/poll?offset=-1"],
    [400, "/channel/open:a/poll?offset=1.5"],
    [400, "/channel/open:a/poll?offset="],
    [400, "/channel/open:a/poll?offset=9007199254740993"],
    [400, "/channel/open:a/poll?epoch=a"],
    [400, "/channel/open:a/poll?timeout=56"],
    [400, "/channel/open:a/poll?timeout=1s"],
    [400, "/channel/open:a/poll?timeout="],
    [400, "/channel//poll"],
    [404, "/channel/no-such:a/poll"],
    [404, "/connection/poll"],
    [401, "/channel/open:a/poll?token=nothing"],
  ])("[T9][W4] touches no object: %i %s", async (status, path) => {
    const objects = { CHANNELS: untouchable(env.CHANNELS), GATEWAYS: untouchable(env.GATEWAYS) };
    const response = await fetchWith({ ...objects, config }, new Request(address(path)));
    expect(response.status).toBe(status);
  });
});
