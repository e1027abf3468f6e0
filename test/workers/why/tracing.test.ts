import { env, tracing } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { post } from "../support/api-request.ts";
import { configureEvents, type TakenEvent, takenUntil } from "../events/event-receiver.ts";
import { eventObjectOf } from "../events/event-story.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace } from "../support/place.ts";
import { token } from "../support/sign-token.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";
import { TestStream } from "../support/test-stream.ts";
import { variants } from "../support/variant.ts";

const hook = { endpoint: "service:BACKEND", timeout: "20s" };
configureEvents(
  { types: ["connected", "disconnected", "subscribed", "unsubscribed", "publication"] },
  {
    http_stream: { enabled: true },
    channel: {
      ...testConfig.channel,
      proxy: { publish: hook },
      namespaces: [
        ...testConfig.channel.namespaces,
        { name: "asked", allow_subscribe_for_client: true, publish_proxy_enabled: true },
      ],
    },
  },
);

afterEach(() => {
  vi.restoreAllMocks();
});

const traceOf = (number: number) =>
  `00-${number.toString(16).padStart(32, "0")}-b7ad6b7169203331-01`;
const published = ({ type }: TakenEvent) => type === "publication";

async function publishIn(channel: string, data: number, traceparent: string): Promise<void> {
  const response = await post("/api/publish", JSON.stringify({ channel, data }), { traceparent });
  expect(response.status).toBe(200);
}

/** The types of the events of connections among these, each once. */
function ofConnections(events: readonly TakenEvent[] = []): readonly string[] {
  return [...new Set(events.map(({ type }) => type))].filter((type) => type !== "publication");
}

/** The headers `traceparent` of the questions about a channel that the backend was asked. */
async function askedFor(channel: string): Promise<readonly (string | undefined)[]> {
  const response = await env.BACKEND.fetch("https://backend/asked");
  const asked: readonly { headers: Record<string, string>; text: string }[] = await response.json();
  return asked
    .filter(({ text }) => text.includes(channel))
    .map(({ headers }) => headers["traceparent"]);
}

describe("a publish of a backend", () => {
  it("[X1] [E12] has its trace in its event, and when it came and was durable", async () => {
    const channel = newChannel("plain");
    const startMs = Date.now();
    await publishIn(channel, 1, traceOf(1));
    const [event] = await takenUntil(`channel/${channel}`, published);
    expect(event).toMatchObject({ data: 1, traceparent: traceOf(1) });
    const { published_at: gotAtMs = 0, time = 0, committed_at: durableAtMs = 0 } = event ?? {};
    const moments = [startMs, gotAtMs, time, durableAtMs, Date.now()];
    expect(moments).toStrictEqual(moments.toSorted((one, other) => one - other));
  });

  it("[X1] [X4] is published without a trace if the header is invalid, and many at once have one", async () => {
    const channel = newChannel("room");
    await publishIn(channel, 1, "00-invalid");
    const channels = [channel, newChannel("room")];
    const headers = { traceparent: traceOf(2) };
    await post("/api/broadcast", JSON.stringify({ channels, data: 2 }), headers);
    const commands = [{ history: { channel } }, { publish: { channel, data: 3 } }];
    await post("/api/batch", JSON.stringify({ commands }), headers);
    const events = await takenUntil(`channel/${channel}`, ({ data }) => data === 3);
    expect(events.map(({ data, traceparent }) => [data, traceparent])).toStrictEqual([
      [1, undefined],
      [2, traceOf(2)],
      [3, traceOf(2)],
    ]);
    const [other] = await takenUntil(`channel/${channels[1]}`, published);
    expect(other).toMatchObject({ traceparent: traceOf(2) });
  });

  it("[X2] [X3] shows as spans of the platform, and without a trace as none", async () => {
    const spans = vi.spyOn(tracing, "enterSpan");
    const channel = newChannel("room");
    await publishIn(channel, 1, "no trace");
    expect(spans).not.toHaveBeenCalled();
    await publishIn(channel, 2, traceOf(3));
    await takenUntil(`channel/${channel}`, ({ data }) => data === 2);
    expect(spans.mock.calls.map(([name]) => name)).toStrictEqual(["publish", "publish", "commit"]);
  });
});

describe.each(variants)("a trace of a handshake on $name", (variant) => {
  it("[X1] is in the events of its connection, and in those of what its client publishes", async () => {
    const channel = newChannel("room");
    const [traceparent, plain] = [
      await variant.open(channel, "", { traceparent: traceOf(4) }),
      await variant.open(channel),
    ];
    for (const [index, socket] of [traceparent, plain].entries()) {
      const sub = `user-${crypto.randomUUID()}`;
      await socket.ask({ id: 1, connect: { token: await token({ sub }) } });
      await socket.ask({ id: 2, subscribe: { channel } });
      await variant.betweenSteps(channel);
      socket.send({ id: 3, publish: { channel, data: index } });
      await takenUntil(`channel/${channel}`, ({ data }) => data === index);
      await variant.betweenSteps(channel);
      socket.close();
      await socket.closed;
    }
    const told = await takenUntil(
      eventObjectOf(variant, channel),
      ({ type, client }) => type === "disconnected" && client === plain.client,
    );
    const [traced, untraced] = [true, false].map((is) =>
      told.filter((event) => (event.traceparent === traceOf(4)) === is),
    );
    const all = ["connected", "subscribed", "unsubscribed", "disconnected"];
    expect(ofConnections(traced)).toStrictEqual(all);
    expect(ofConnections(untraced)).toStrictEqual(all);
    expect(untraced?.every((event) => event.traceparent === undefined)).toBe(true);
    const publications = (await takenUntil(`channel/${channel}`, published)).filter(published);
    expect(publications.map(({ traceparent: trace }) => trace)).toStrictEqual([
      traceOf(4),
      undefined,
    ]);
  });

  it("[X1] [X2] is in the requests of its hooks, which are spans", async () => {
    const channel = newChannel("asked");
    const socket = await variant.open(channel, "", { traceparent: traceOf(5) });
    await socket.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    await variant.betweenSteps(channel);
    const spans = vi.spyOn(tracing, "enterSpan");
    await socket.ask({ id: 2, publish: { channel, data: { answer: {} } } });
    expect(await askedFor(channel)).toStrictEqual([traceOf(5)]);
    expect(spans.mock.calls.map(([name]) => name)).toStrictEqual(["publish"]);
  });
});

describe("a trace of an HTTP stream's request", () => {
  it("[X1] is in the events of its connection", async () => {
    const channel = newChannel("room");
    const connect = { token: await token({ sub: "ada" }) };
    const body = JSON.stringify({ id: 1, connect });
    const path = `/channel/${encodeURIComponent(channel)}/http_stream`;
    const headers = { traceparent: traceOf(6) };
    const stream = await TestStream.open(path, { method: "POST", body, headers });
    expect(await stream.line()).toContain('"connect"');
    const [event] = await takenUntil(`channel/${channel}`, ({ type }) => type === "connected");
    expect(event).toMatchObject({ transport: "http_stream", traceparent: traceOf(6) });
  });
});

describe("a publish that waits until its user's home has answered", () => {
  it("[E12] is told of without the time of its commit, and holds up none after it", async () => {
    const channel = newChannel("room");
    const socket = TestSocket.on(await channelPlace.upgrade(channel));
    const connect = { token: await token({ sub: `user-${crypto.randomUUID()}` }) };
    socket.send(
      { id: 1, connect },
      { id: 2, subscribe: { channel } },
      { id: 3, publish: { channel, data: 1 } },
    );
    const events = await takenUntil(`channel/${channel}`, published);
    const event = events.find(published);
    expect(event?.data).toBe(1);
    expect(event?.published_at).toBeLessThanOrEqual(event?.time ?? 0);
    expect(event).not.toHaveProperty("committed_at");
    socket.send({ id: 4, publish: { channel, data: 2 } });
    const [later] = (await takenUntil(`channel/${channel}`, ({ data }) => data === 2)).slice(-1);
    expect(later?.committed_at).toBeGreaterThanOrEqual(later?.time ?? 0);
  });
});
