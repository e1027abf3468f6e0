import { readdirSync } from "node:fs";
import { limits } from "../../src/limits.ts";
import type { Homes } from "../systems/system.ts";
import { callersWithTokens } from "./caller-tokens.ts";
import { Figures, type Measured } from "./figures.ts";
import { measuredRun, type MeasuredRun, wantedOf, processOf } from "./measured-run.ts";
import { median } from "./median.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";
import { UserConnections } from "./user-connections.ts";

/** What orders for users take, and what users' homes cost when many users come at once. */
export const users: Scenario = {
  name: "users",
  question:
    "How soon are all connections of a user closed, and what do homes cost when thousands of users come at once?",
  run,
};

interface Extent {
  /** How often the user is disconnected. */
  readonly disconnects: number;
  /** Users that connect at once, with homes and without. */
  readonly callers: number;
  /** Users that connect at once, with shared homes and with a home each, whose objects take file descriptors. */
  readonly fewCallers: number;
}

const fullExtent: Extent = { disconnects: 10, callers: 8_000, fewCallers: 1_000 };
const quickExtent: Extent = { disconnects: 2, callers: 200, fewCallers: 100 };

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  if (wantedOf(bench, ["gateway"]).length === 0) return [];
  for (let round = 1; round <= bench.rounds; round++) {
    const during = `users, round ${round} of ${bench.rounds}`;
    bench.print(`${during}: a user with 50 connections is disconnected`);
    const options = { observed: true, tokens: true, socketsPerObject: socketsPerGateway };
    await measuredRun(bench, "gateway", options, (measured) =>
      disconnectUser(measured, extent.disconnects, figures),
    );
    const { callers, fewCallers } = extent;
    for (const [homes, count] of [
      ["none", callers],
      ["shared", callers],
      ["shared", fewCallers],
      ["one-each", fewCallers],
    ] as const) {
      bench.print(`${during}: ${count} users connect, ${names[homes]}`);
      await addConnects(bench, homes, count, figures);
    }
  }
  return figures.findings;
}

/** Few, so that the user's 40 connections are on several gateways. */
const socketsPerGateway = 16;

/** Disconnects the user several times, awake and asleep, and compares with a publication to the same connections. */
async function disconnectUser(
  measured: MeasuredRun,
  disconnects: number,
  figures: Figures,
): Promise<void> {
  const { running, server } = measured;
  for (const state of ["awake", "asleep"] as const) {
    const publishedMs: number[] = [];
    const closedMs: number[] = [];
    const answeredMs: number[] = [];
    // The first time is unmeasured: its code has yet to be compiled.
    for (let time = 0; time <= disconnects; time++) {
      const connections = await UserConnections.open(server.api);
      if (state === "asleep") await running.sleep();
      const published = await connections.publish();
      if (state === "asleep") await running.sleep();
      const { closed, answered } = await connections.disconnect();
      if (time === 0) continue;
      publishedMs.push(published);
      closedMs.push(closed);
      answeredMs.push(answered);
    }
    const add = (measure: string, unit: "ms" | "ratio", value: number): void => {
      const point = `50 connections, ${state}`;
      figures.add({ measure, unit, better: "lower", system: "gateway", point }, { value, busy: 0 });
    };
    add("last connection of a user closed", "ms", median(closedMs));
    add("disconnect acknowledged", "ms", median(answeredMs));
    add("last delivery to the same connections", "ms", median(publishedMs));
    add("closing by publishing", "ratio", median(closedMs) / median(publishedMs));
  }
}

/** Homes as the product has them, and two other ways. */
const names: Readonly<Record<Homes, string>> = {
  shared: `${limits.homes} homes`,
  none: "no homes",
  "one-each": "a home each",
};

/** Lets users connect, each once, and adds what they took: time, calls and rows, and file descriptors. */
async function addConnects(
  bench: Bench,
  homes: Homes,
  callers: number,
  figures: Figures,
): Promise<void> {
  const point = `${callers.toLocaleString("en-US")} users, ${names[homes]}`;
  const figure = { better: "lower", system: "gateway", point } as const;
  const options = { tokens: true, homes, socketsPerObject: 16_000 };
  const timed = await measuredRun(bench, "gateway", options, async (measured) => {
    const before = descriptorsOf(measured);
    const measuredConnect = await connectAll(measured, callers);
    return { ...measuredConnect, descriptors: descriptorsOf(measured) - before };
  });
  const { value, busy, descriptors } = timed;
  figures.add(
    { measure: "time until all users are there", unit: "ms", ...figure },
    { value, busy },
  );
  figures.add(
    { measure: "file descriptors, those of the sockets included", unit: "count", ...figure },
    { value: descriptors, busy: 0 },
  );
  // Counting takes time, so it is done in a run of its own.
  const counted = await measuredRun(
    bench,
    "gateway",
    { ...options, counted: true },
    async (each) => {
      await each.running.counts();
      await connectAll(each, callers);
      return each.running.counts();
    },
  );
  for (const [measure, name] of [
    ["calls between objects per connect", "callsBetweenObjects"],
    ["rows written per connect", "rowsWritten"],
  ] as const) {
    const perCaller = counted[name] / (callers + firstCallers);
    figures.add({ measure, unit: "count", ...figure }, { value: perCaller, busy: 0 });
  }
}

/** From the first connect until the last user is subscribed, ms. */
async function connectAll({ server, load }: MeasuredRun, callers: number): Promise<Measured> {
  const all = callersWithTokens("news", callers + firstCallers);
  const order = { order: "connect", server, concurrency: 256, missed: 0 } as const;
  // Unmeasured: a new process has yet to compile its hot code.
  await load.carryOut({ ...order, callers: all.slice(0, firstCallers) });
  const { seconds, busy } = await load.carryOut({ ...order, callers: all.slice(firstCallers) });
  return { value: seconds * 1_000, busy };
}

const firstCallers = 100;

/** The open files and sockets of the system's process. */
function descriptorsOf(measured: MeasuredRun): number {
  const processId = processOf(measured);
  try {
    return readdirSync(`/proc/${processId}/fd`).length;
  } catch {
    // Only Linux shows them.
    return 0;
  }
}
