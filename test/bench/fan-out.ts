/**
 * `npm run bench`: how fast publications reach everybody, against what the platform itself can do.
 * Dormouse (history on, one durable row a publication), with the sockets on the channel's object and on a gateway, and a
 * bare object (no history, no order, no batching) take turns on the same machine in the same run; the ratio is what counts,
 * not the figures. Nothing else should run meanwhile.
 */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { freePort } from "../support/listen.ts";
import { productionBundle } from "../support/production-bundle.ts";
import { Workerd, type WorkerdSetup } from "../support/workerd.ts";

const rounds = 3;
/** Enough for a run of about a second: many publications for few subscribers, few for many. */
const publicationsFor = (subscribers: number): number =>
  Math.min(2_000, Math.ceil(400_000 / subscribers));
const data = JSON.stringify({ text: "x".repeat(117) });

interface Contender {
  readonly name: string;
  readonly setup: WorkerdSetup;
  /** Where subscribers connect. */
  readonly socketPath: string;
  /** Where publications are posted. */
  readonly path: string;
  readonly body: string;
  /** What a subscriber sends first. */
  readonly hello?: string;
  /** How many publications stand in a frame. */
  count(frame: string): number;
}

/** Publications delivered each second, over all subscribers. */
async function run(contender: Contender, subscribers: number, publishers: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-bench-"));
  const port = await freePort();
  const server = await Workerd.start(contender.setup, folder, port);
  try {
    const publications = publicationsFor(subscribers);
    let delivered = 0;
    const all = Promise.withResolvers<void>();
    const sockets: WebSocket[] = [];
    for (let index = 0; index < subscribers; index++) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${contender.socketPath}`);
      sockets.push(socket);
      await once(socket, "open");
      if (contender.hello !== undefined) await greet(socket, contender.hello);
      socket.on("message", (frame: Buffer) => {
        delivered += contender.count(frame.toString("latin1"));
        if (delivered === subscribers * publications) all.resolve();
      });
    }
    const agent = new Agent({ keepAlive: true, maxSockets: publishers });
    const began = performance.now();
    let left = publications;
    const publisher = async (): Promise<void> => {
      while (left-- > 0) await post(agent, port, contender);
    };
    await Promise.all(Array.from({ length: publishers }, publisher));
    await all.promise;
    const seconds = (performance.now() - began) / 1000;
    for (const socket of sockets) socket.terminate();
    agent.destroy();
    return (subscribers * publications) / seconds;
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true });
  }
}

/** Connects and subscribes; both replies may come in one turn. */
async function greet(socket: WebSocket, hello: string): Promise<void> {
  const greeted = new Promise<void>((resolve) => {
    let replies = 0;
    socket.on("message", () => {
      if (++replies === 2) resolve();
    });
  });
  socket.send(hello);
  await greeted;
  socket.removeAllListeners("message");
}

async function post(agent: Agent, port: number, { path, body }: Contender): Promise<void> {
  const headers = { "X-API-Key": "bench", "Content-Length": Buffer.byteLength(body) };
  const sent = request({ agent, port, host: "127.0.0.1", path, method: "POST", headers });
  sent.end(body);
  const [response] = await once(sent, "response");
  if (response.statusCode !== 200) throw new Error(`A publish was answered ${response.statusCode}`);
  response.resume();
  await once(response, "end");
}

function dormouse(): Contender {
  const config = {
    client: { allow_anonymous_connect_without_token: true },
    channel: {
      without_namespace: {
        allow_subscribe_for_client: true,
        allow_subscribe_for_anonymous: true,
        history_size: 100,
        history_ttl: "5m",
        force_recovery: true,
      },
    },
  };
  return {
    name: "dormouse",
    setup: {
      modules: { "edge.js": productionBundle() },
      classNames: { CHANNELS: "ChannelObject", GATEWAYS: "GatewayObject" },
      variables: {
        API_KEY: "bench",
        TOKEN_HMAC_SECRET_KEY: "bench",
        config: JSON.stringify(config),
      },
    },
    socketPath: "/channel/bench/websocket",
    path: "/api/publish",
    body: `{"channel":"bench","data":${data}}`,
    hello: '{"id":1,"connect":{}}\n{"id":2,"subscribe":{"channel":"bench"}}',
    count: (frame) => frame.split('"pub":').length - 1,
  };
}

function bare(): Contender {
  const module = readFileSync(new URL("./bare-object.js", import.meta.url), "utf8");
  return {
    name: "bare",
    setup: {
      modules: { "bare-object.js": module },
      classNames: { CHANNELS: "BareObject" },
      variables: {},
    },
    socketPath: "/channel/bench/websocket",
    path: "/publish",
    body: `{"push":{"channel":"bench","pub":{"data":${data},"offset":1}}}`,
    count: () => 1,
  };
}

/** A count given on the command line, or else the usual ones. */
function argument(index: number, usual: readonly number[]): readonly number[] {
  const given = process.argv[index];
  return given === undefined ? usual : [Number(given)];
}

function median(figures: readonly number[]): number {
  return [...figures].sort((left, right) => left - right)[Math.floor(figures.length / 2)] ?? 0;
}

const channel = dormouse();
const gateway: Contender = { ...channel, name: "gateway", socketPath: "/connection/websocket" };
const contenders = [channel, gateway, bare()];
console.log(
  `deliveries a second, median of ${rounds} rounds, 128 bytes, history on: channel socket / gateway / bare object`,
);
for (const subscribers of argument(2, [1, 100, 1_000])) {
  for (const publishers of argument(3, [1, 16, 64])) {
    const figures = contenders.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [index, contender] of contenders.entries()) {
        figures[index]?.push(await run(contender, subscribers, publishers));
      }
    }
    const [ours = 0, relayed = 0, theirs = 1] = figures.map(median);
    const rates = [ours, relayed, theirs].map(Math.round).join(" / ");
    const ratios = [ours / theirs, relayed / theirs].map((ratio) => ratio.toFixed(2)).join(" and ");
    console.log(`${subscribers} subscribers, ${publishers} publishers: ${rates} = ${ratios}`);
  }
}
