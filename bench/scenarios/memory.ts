import type { Caller } from "../systems/wire.ts";
import { otherSystems } from "../results/shown-system.ts";
import { objectSystems } from "./compared-systems.ts";
import { Figures } from "./figures.ts";
import { usedHeapBytes } from "./heap-inspector.ts";
import { connect, dataBytes, measureEach, type MeasuredRun, processOf } from "./measured-run.ts";
import { processMemoryBytes } from "./process-memory.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** The memory of an idle connection. */
export const memory: Scenario = {
  name: "memory",
  question: "How much memory does a connection take, awake and asleep?",
  run,
};

interface SubscriberPlan {
  readonly connections: number;
  /**
   * Connections before the measured ones, unmeasured: by then most code is compiled, and tables seldom double their
   * size.
   */
  readonly firstConnections: number;
  /** Whether all connections share a channel, or each has its own. */
  readonly channels: "one channel" | "a channel each";
}

/** One round, whatever is asked for: the result doesn't depend on other programs on the machine. */
async function run(bench: Bench): Promise<readonly Finding[]> {
  const connections = bench.quick ? 150 : 4_000;
  const plan = {
    connections,
    firstConnections: connections / 4,
    channels: "one channel",
  } as const;
  const figures = new Figures();
  const during = "memory";
  const heap = { during, detail: `heap of ${connections} connections`, options: observed };
  await measureEach(bench, objectSystems, heap, (each) => measureHeap(each, plan, figures));
  await measureEach(
    bench,
    ["gateway"],
    { ...heap, detail: `${heap.detail} with a channel each` },
    (each) => measureHeap(each, { ...plan, channels: "a channel each" }, figures),
  );
  const detail = `process with ${connections} connections`;
  await measureEach(
    bench,
    [...objectSystems, ...otherSystems],
    { during, detail, options: { socketsPerObject } },
    (each) => measureProcess(each, plan, figures),
  );
  return figures.findings;
}

/**
 * Each state is compared with the same state before the connections, so that code compiled for hibernation isn't
 * counted as theirs.
 */
async function measureHeap(
  measured: MeasuredRun,
  plan: SubscriberPlan,
  figures: Figures,
): Promise<void> {
  const { running } = measured;
  const callers = callersOf(plan);
  await connect(measured, callers.slice(0, plan.firstConnections));
  await running.sleep();
  await wakeUp(measured, callers);
  const awakeBefore = await memoryOf(measured);
  await running.sleep();
  const asleepBefore = await memoryOf(measured);
  await wakeUp(measured, callers);
  await connect(measured, callers.slice(plan.firstConnections));
  const awake = await memoryOf(measured);
  await running.sleep();
  const asleep = await memoryOf(measured);
  const add = (measure: string, difference: number) =>
    addBytes(figures, measured, measure, plan, difference);
  // With a channel each, the channel objects are on the same heap, so the figure includes them.
  const awakeOne = plan.channels === "one channel" ? "connection" : "connection and its channel";
  add(`heap per awake ${awakeOne}`, awake.heap - awakeBefore.heap);
  add(`heap per sleeping ${awakeOne}`, asleep.heap - asleepBefore.heap);
  add(`process memory per sleeping ${awakeOne}`, asleep.process - asleepBefore.process);
}

/** The difference that only the connections make, and without a forced collection, which not all systems have. */
async function measureProcess(
  measured: MeasuredRun,
  plan: SubscriberPlan,
  figures: Figures,
): Promise<void> {
  const processId = processOf(measured);
  const callers = callersOf(plan);
  await connect(measured, callers.slice(0, plan.firstConnections));
  const before = await processMemoryBytes(processId);
  await connect(measured, callers.slice(plan.firstConnections));
  const after = await processMemoryBytes(processId);
  addBytes(figures, measured, "process memory per awake connection", plan, after - before);
}

/** A publication wakes the objects of its subscribers; the others wake on demand. */
async function wakeUp({ load }: MeasuredRun, callers: readonly Caller[]): Promise<void> {
  const channel = callers[0]?.channel ?? "";
  await load.carryOut({ order: "single", channel, dataBytes });
}

async function memoryOf(
  measured: MeasuredRun,
): Promise<{ readonly heap: number; readonly process: number }> {
  const { inspectorPort, port } = measured.running;
  if (inspectorPort === undefined) throw new Error("The inspector isn't on");
  const heap = await usedHeapBytes(inspectorPort, port);
  return { heap, process: await processMemoryBytes(processOf(measured)) };
}

function addBytes(
  figures: Figures,
  { system }: MeasuredRun,
  measure: string,
  { connections, channels }: SubscriberPlan,
  difference: number,
): void {
  const point = `${connections.toLocaleString("en-US")} connections, ${channels}`;
  figures.add(
    { measure, unit: "bytes", better: "lower", system, point },
    { value: difference / connections, busy: 0 },
  );
}

function callersOf({ connections, firstConnections, channels }: SubscriberPlan): readonly Caller[] {
  return Array.from({ length: firstConnections + connections }, (_, index) => ({
    channel: channels === "one channel" ? "news" : `news-${index}`,
    token: "",
  }));
}

/** All sockets on one object: another connection must not mean another object. */
const socketsPerObject = 16_000;
const observed = { observed: true, socketsPerObject };
