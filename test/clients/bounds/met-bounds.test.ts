import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { boundsIn, metBounds, type Seen } from "../../../cli/limits-page/met-bounds.ts";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { limits } from "../../../src/limits.ts";
import { growthLimits } from "../../../src/features/maps/growth/limits.ts";

const config = {
  client: { channel_limit: 2 },
  long_poll: { enabled: true },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      allow_tags_filter: true,
      history_size: 10,
      history_ttl: "1m",
      force_recovery: true,
    },
    namespaces: [
      {
        name: "board",
        subscription_type: "map",
        allow_subscribe_for_client: true,
        map: { mode: "recoverable", key_ttl: "10m" },
      },
    ],
  },
};

let rt: TestDormouse;
beforeAll(async () => {
  rt = await startDormouse({ config });
});
afterAll(() => rt.stop());

/** What a client or a backend gets. */
type Got = `${Exclude<Seen["kind"], "result">} ${number}`;

/** What a call of the HTTP API is answered. */
async function api(method: string, params: object): Promise<Got> {
  const response = await fetch(`${rt.url}/api/${method}`, {
    method: "POST",
    headers: { "X-API-Key": rt.apiKey },
    body: JSON.stringify(params),
  });
  if (!response.ok) return `status ${response.status}`;
  const answer: { readonly error?: { readonly code: number } } = JSON.parse(await response.text());
  return `error ${answer.error?.code ?? 0}`;
}

/** How a connection ends that sends commands after its connect, or the last error that it is answered. */
async function connection(
  commands: readonly object[],
  connect: object = { token: rt.token("ann") },
): Promise<Got> {
  const socket = new WebSocket(rt.websocketUrl);
  await once(socket, "open");
  const got: Got[] = [];
  const { promise, resolve } = Promise.withResolvers<undefined>();
  socket.on("message", (data: Buffer) => {
    for (const line of data.toString("utf8").split("\n")) {
      const { id, error }: Reply = JSON.parse(line);
      if (error !== undefined) got.push(`error ${error.code}`);
      if (error !== undefined || id === commands.length + 1) resolve(undefined);
    }
  });
  socket.on("close", (code) => {
    got.push(`close ${code}`);
    resolve(undefined);
  });
  const all = [{ connect }, ...commands].map((one, at) => JSON.stringify({ id: at + 1, ...one }));
  for (const one of all) socket.send(one);
  await promise;
  socket.terminate();
  return got.at(-1) ?? "error 0";
}

interface Reply {
  readonly id?: number;
  readonly error?: { readonly code: number };
}

const text = (length: number) => "x".repeat(length);
const subscribe = (channel: string, more: object = {}) => ({ subscribe: { channel, ...more } });
const nodes = Array.from({ length: limits.filterNodesMax }, () => ({ key: "a", cmp: "ex" }));

/** What is beyond a bound, by the bound's name. */
const beyond: Readonly<Record<string, () => Promise<Got>>> = {
  frameBytesMax: () => connection([{ rpc: { data: text(limits.frameBytesMax) } }]),
  tokenBytesMax: () =>
    connection([], { token: rt.token("ann", { claims: { x: text(limits.tokenBytesMax) } }) }),
  sessionClaimsBytesMax: () =>
    connection([], {
      token: rt.token("ann", { claims: { info: text(limits.sessionClaimsBytesMax) } }),
    }),
  channelLimitDefault: () => connection(["a", "b", "c"].map((channel) => subscribe(channel))),
  filterNodesMax: () => connection([subscribe("a", { tf: { op: "or", nodes } })]),
  pollSecondsMax: async () => {
    const address = `${rt.url}/channel/news/poll?timeout=${limits.pollSecondsMax + 1}`;
    return `status ${(await fetch(address)).status}`;
  },
  publicationBytesMax: () =>
    api("publish", { channel: "a", data: text(limits.publicationBytesMax) }),
  tagsBytesMax: () =>
    api("publish", { channel: "a", data: 1, tags: { a: text(limits.tagsBytesMax) } }),
  idempotencyKeyBytesMax: () =>
    api("publish", {
      channel: "a",
      data: 1,
      idempotency_key: text(limits.idempotencyKeyBytesMax + 1),
    }),
  requestCommandsMax: () =>
    api("broadcast", {
      channels: Array.from({ length: limits.requestChannelsMax + 1 }, (_, at) => `c${at}`),
      data: 1,
    }),
  mapKeyBytesMax: () =>
    api("map_publish", { channel: "board:a", key: text(limits.mapKeyBytesMax + 1), data: 1 }),
  grownValueBytesMax: () =>
    api("map_append", {
      channel: "board:a",
      key: "a",
      text: text(growthLimits.grownValueBytesMax),
      at: 0,
    }),
};

describe("[B2] what docs/limits.md says that one sees at a bound", () => {
  it.each(Object.entries(beyond))("is seen beyond %s", async (name, tryIt) => {
    const row = Object.values(metBounds)
      .flat()
      .find((one) => boundsIn(one).includes(name));
    const seen = row?.seen.map((one): Seen => ("kind" in one ? one : one[0])) ?? [];
    const codes = seen.flatMap((one) => ("code" in one ? [`${one.kind} ${one.code}`] : []));
    expect(codes).toContain(await tryIt());
  });
});
