import { afterAll, beforeAll, expect, it } from "vitest";
import { apiKey } from "../systems/dormouse-wire.ts";
import { parsePeer } from "../systems/peer.ts";
import { type Server, serverOf } from "../systems/server.ts";
import type { RunningSystem } from "../systems/system.ts";
import { systemsWith } from "../systems/systems.ts";
import { Load } from "./load.ts";

// A running Dormouse, which the bench reaches as a peer: by its addresses and its key alone.

let running: RunningSystem;
let server: Server;
let load: Load;

/** Ms; each test drives a real server, which takes long on a busy machine. */
const timeout = 30_000;
const channel = "news";
const dataBytes = 128;
const connection = (count: number) =>
  ({
    order: "connect",
    callers: Array.from({ length: count }, () => ({ channel, token: "" })),
    concurrency: 8,
    missed: 0,
  }) as const;
const publishing = {
  order: "closed-loop",
  publishers: 2,
  seconds: 0.2,
  channels: [channel],
  batch: 1,
  dataBytes,
} as const;

beforeAll(async () => {
  running = await systemsWith([])("gateway").start({});
  const address = `127.0.0.1:${running.port}`;
  const parsed = parsePeer(
    `dormouse=ws://${address}/connection/websocket,api=http://${address}/api,key=${apiKey}`,
  );
  if (parsed.outcome === "refused") throw new Error(parsed.problem);
  const peer = await systemsWith([parsed.peer])("peer:dormouse").start({});
  server = serverOf("peer:dormouse", peer);
  load = await Load.start();
}, 60_000);

afterAll(async () => {
  await load.close();
  await running.stop();
});

it(
  "delivers to its subscribers what is published by its API, while others come and go",
  { timeout },
  async () => {
    const visitors = await Load.start();
    try {
      await load.carryOut({ ...connection(20), server });
      const pace = { pace: "as many as possible", clients: 4 } as const;
      await visitors.carryOut({ order: "begin-churn", server, channel, pace });
      const { publications, deliveries } = await load.carryOut(publishing);
      const { joins, latenciesMs } = await visitors.carryOut({ order: "end-churn" });
      expect(publications).toBeGreaterThan(0);
      expect(deliveries).toBe(20 * publications);
      expect(joins).toBeGreaterThan(0);
      expect(latenciesMs.length).toBeGreaterThanOrEqual(joins);
      await load.carryOut({ order: "cut" });
    } finally {
      await visitors.close();
    }
  },
);

it("answers a receipt for each delivery", { timeout }, async () => {
  await load.carryOut({ ...connection(5), server, sendsReceipts: true });
  const report = await load.carryOut({
    order: "receipts",
    channel,
    publishers: 2,
    seconds: 0.2,
    dataBytes,
  });
  expect(report.receipts).toBeGreaterThan(0);
  expect(report.receiptLatenciesMs).toHaveLength(report.receipts);
  // Each of the five sockets is watched.
  expect(report.latenciesMs).toHaveLength(report.receipts);
  await load.carryOut({ order: "cut" });
});

it("fails with a wrong key, which isn't told", { timeout }, async () => {
  if (server.peer === undefined) throw new Error("a peer without addresses");
  const stranger = { ...server, peer: { ...server.peer, key: "secret" } };
  await load.carryOut({ ...connection(1), server: stranger });
  const refused = await load.carryOut(publishing).catch(String);
  expect(refused).toContain("a post was answered 401");
  expect(refused).not.toContain("secret");
});

it("isn't measured where nothing listens", async () => {
  const peer = parsePeer("gone=ws://127.0.0.1:1/,api=http://127.0.0.1:1/api,key=k");
  if (peer.outcome === "refused") throw new Error(peer.problem);
  const starting = systemsWith([peer.peer])("peer:gone").start({});
  await expect(starting).rejects.toThrow("peer:gone doesn't listen on 127.0.0.1:1");
});
