import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Checker } from "../checker/checker.ts";
import { writeEdn } from "./history/edn-history.ts";
import { readHistory } from "./history/read-history.ts";
import { parseOptions, type ProveOptions, usage } from "./options.ts";
import { Proof } from "./proof.ts";
import { RunTimeline } from "./report/run-timeline.ts";
import { page } from "./report/page.ts";
import { held, type RunReport } from "./report/run-report.ts";
import { summary } from "./report/summary.ts";
import { factsOf, historiesIn, readFacts, writeFacts } from "./run-facts.ts";
import { openTarget, type Target } from "./target.ts";

/**
 * `npm run prove`: runs the real server and real clients, injects faults, checks every delivery, and prints whether the
 * guarantees held. Exits with 0 if they did, with 1 if one was violated, and with 2 if nothing could be said.
 */

async function main(given: readonly string[]): Promise<number> {
  const parsed = parseOptions(given, process.env, Math.floor(Math.random() * 1_000_000_000));
  switch (parsed.outcome) {
    case "help":
      console.log(usage);
      return 0;
    case "refused":
      console.error(`${parsed.problem}\n\n${usage}`);
      return 2;
    case "options":
      return prove(parsed.options);
  }
}

async function prove(options: ProveOptions): Promise<number> {
  const began = performance.now();
  const print = (text: string): void => {
    console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${text}`);
  };
  const { folder, again, edn } = options;
  if (again === undefined) await runOnce(options, print);
  print("reading the history");
  const report = check(again ?? folder);
  const file = join(again ?? folder, "report.html");
  writeFileSync(file, page(report));
  const { backend, clients } = historiesIn(again ?? folder);
  if (edn) writeEdn([backend, clients], join(again ?? folder, "history.edn"));
  console.log(`${summary(report)}\nThe report is ${file}`);
  return held(report) ? 0 : 1;
}

async function runOnce(options: ProveOptions, print: (text: string) => void): Promise<void> {
  print(`seed ${options.seed}`);
  const target = await openTarget(options);
  endOnSignals(target);
  try {
    const { seconds } = await new Proof(target, options, print).run();
    writeFacts(options.folder, factsOf(options, target, seconds));
  } finally {
    await target.close();
  }
}

/** @throws if too little happened for a result */
function check(folder: string): RunReport {
  const facts = readFacts(folder);
  const checker = new Checker(promptMicroseconds, 1_000 * overdueMs(facts.pingIntervalMs));
  const timeline = new RunTimeline();
  const { backend, clients } = historiesIn(folder);
  for (const event of readHistory([backend, clients])) {
    checker.take(event);
    timeline.take(event);
  }
  const result = checker.finish();
  const { deliveries, acknowledged, channels } = result.counts;
  if (deliveries === 0 || acknowledged === 0 || timeline.channels.size < channels / 2) {
    throw new Error("too little was published and delivered for a result");
  }
  return { ...facts, result, timeline };
}

/**
 * A subscriber that receives nothing for so long, although publications came, missed them: pings would have revealed a
 * dead socket.
 */
function overdueMs(pingIntervalMs: number): number {
  return 2 * pingIntervalMs + 16_000;
}

/** How late an effect may come after its request or its cause. */
const promptMicroseconds = 10_000_000;

/** An interrupted run leaves nothing behind but the report's folder. */
function endOnSignals(target: Target): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      void target.close().finally(() => process.exit(2));
    });
  }
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(error);
  process.exit(2);
}
