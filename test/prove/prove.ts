/**
 * `npm run prove`: runs the real server and real clients, breaks things on purpose, checks every delivery, and says whether
 * the guarantees held. Exits with 0 when they did, with 1 when they didn't, and with 2 when it couldn't be found out.
 */
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { Checker } from "../checker/checker.ts";
import { writeEdn } from "./history/edn-history.ts";
import { readHistory } from "./history/read-history.ts";
import { parseOptions, type ProveOptions, usage } from "./options.ts";
import { Proof, type ProofFiles } from "./proof.ts";
import { Course } from "./report/course.ts";
import { page } from "./report/page.ts";
import { held, type RunReport } from "./report/run-report.ts";
import { summary } from "./report/summary.ts";
import { openSite, type Site } from "./site.ts";

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
  const tell = (text: string): void => {
    console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${text}`);
  };
  tell(`seed ${options.seed}`);
  const site = await openSite(options);
  endOnSignals(site);
  let files: ProofFiles;
  try {
    files = await new Proof(site, options, tell).run();
  } finally {
    await site.close();
  }
  tell("reading the history");
  const report = check(files, options, site.subject);
  checkThatHeard(report, site);
  writeFileSync(join(options.folder, "report.html"), page(report));
  if (options.edn) writeEdn(files.histories, join(options.folder, "history.edn"));
  console.log(`${summary(report)}\nThe report is ${join(options.folder, "report.html")}`);
  return held(report) ? 0 : 1;
}

/** Whoever interrupts it finds nothing left behind but the folder of the report. */
function endOnSignals(site: Site): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      void site.close().finally(() => process.exit(2));
    });
  }
}

/** @throws where nothing happened of which anything could be said */
function checkThatHeard({ course }: RunReport, { scenario }: Site): void {
  const deaf = scenario.channels.filter(
    ({ name, traffic }) =>
      (traffic === "steady" || traffic === "crowd") && !course.channels.has(name),
  );
  if (deaf.length === 0) return;
  const names = deaf.map(({ name }) => name).join(", ");
  throw new Error(`nobody heard anything on ${names}: nothing can be said`);
}

function check(
  { histories, seconds }: ProofFiles,
  options: ProveOptions,
  subject: string,
): RunReport {
  const checker = new Checker();
  const course = new Course();
  for (const happening of readHistory(histories)) {
    checker.take(happening);
    course.take(happening);
  }
  return {
    command: commandOf(options),
    subject,
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    seconds,
    verdict: checker.finish(),
    course,
  };
}

/** What was given, with the seed that makes it the same again. */
function commandOf(options: ProveOptions): string {
  const { seed, seconds, deliveries, faults, pace, remote, without } = options;
  const rates = [...faults].map(([kind, perMinute]) => `${kind}=${perMinute}`).join(",");
  return [
    `npm run prove -- --seed ${seed} --seconds ${seconds}`,
    deliveries === 0 ? "" : `--deliveries ${deliveries}`,
    `--faults ${rates === "" ? "none" : rates}`,
    pace === 1 ? "" : `--pace ${pace}`,
    remote === undefined ? "" : `--url ${remote.url.href}`,
    without === undefined ? "" : `--without ${without.name}`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(error);
  process.exit(2);
}
