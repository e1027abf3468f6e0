/**
 * `npm run serve`: runs the production bundle in workerd as if it were deployed, with its state on this machine's disk.
 * The bench measures this server, and docs/self-hosting.md tells how to host Dormouse with it.
 */
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isatty } from "node:tty";
import { secretProblems } from "../../src/access/secrets.ts";
import type { Config } from "../../src/config/config.ts";
import { targetsOf } from "../../src/features/sections.ts";
import { secretUses } from "../../src/config/secret-uses.ts";
import { buildConsole } from "../build/build-console.ts";
import { checkConfiguration } from "../deployment/configuration-problems.ts";
import { whenClockIsSetBack, Restarts } from "./restarts.ts";
import { deleteEmptyDatabases } from "./wrangler-state.ts";
import { listeningProblem, streamProbeMs, whenParentEnds } from "./local-server.ts";
import { productionBundle } from "../build/production-bundle.ts";
import { parseServeOptions, type ServeOptions, usage } from "./serve-options.ts";
import { type ServedSecrets, servedSecrets } from "../deployment/secrets.ts";
import { noteProcess, takeStateFolder } from "./state-folder.ts";
import { limits } from "../../src/limits.ts";
import { bracketed } from "./workerd-config.ts";
import { type Ending, Workerd, type WorkerdSetup } from "./workerd.ts";
import { configurationFile, wranglerConfigOf } from "../deployment/wrangler-config.ts";

/** The time in ms that pending requests have when the server stops. Sockets would stay open forever. */
const drainMs = 2_000;

/** With fewer file descriptors, the server says for how many connections they suffice. */
const descriptorsRecommended = 8_192;

async function serve(args: readonly string[]): Promise<number> {
  const parsed = parseServeOptions(args);
  if (parsed.outcome === "help") {
    console.log(usage);
    return 0;
  }
  if (parsed.outcome === "bad") return refuse(parsed.problem);
  const { options } = parsed;
  const config = checkConfiguration(args, "hosting");
  if (config === undefined) return 1;
  const unplaced = unplacedTargets(config, options.services);
  if (unplaced !== undefined) return refuse(unplaced);
  const uses = secretUses(config);
  const given = servedSecrets(options.target, uses);
  if (given.fault !== undefined) return refuse(given.fault);
  const setup = setupOf(options, given.secrets);
  const weak = secretProblems({ ...setup.variables, ...given.secrets }, uses, false);
  if (weak.length > 0) return refuse(weak.join("\n"));
  const problem = await listeningProblem(options.host, options.port);
  if (problem !== undefined) return refuse(problem);
  const folder = takeStateFolder(options.state);
  if (folder.outcome === "refused") return refuse(folder.problem);
  deleteEmptyDatabases(join(options.state, "storage"));
  await buildConsole();
  const { target } = options;
  const environment = target.environment === undefined ? [] : ["--env", target.environment];
  const bundling = ["--config", configurationFile(target), ...environment];
  const modules = { "edge.js": productionBundle(undefined, bundling) };
  return run({ ...setup, modules, keepsOpen: folder.descriptor }, options, given);
}

/**
 * The problem of consumers, of a target that the server can't reach, or of one whose address isn't given; undefined if
 * there is none.
 */
function unplacedTargets(config: Config, services: ServeOptions["services"]): string | undefined {
  if (config.consumers.length > 0)
    return "consumers take messages of queues, which only Cloudflare and npm start have";
  for (const { key, endpoint } of targetsOf(config)) {
    if (endpoint.kind === "queue")
      return `${key} is a queue, which only Cloudflare and npm start have`;
    if (endpoint.kind === "service" && !(endpoint.binding in services))
      return `say with --service ${endpoint.binding}=HOST:PORT where the Worker is that ${key} names`;
  }
  return undefined;
}

function refuse(problem: string): number {
  console.error(`The server did not start: ${problem}`);
  return 1;
}

/** Everything that the deployed Worker has, except its code. */
function setupOf(
  { target, host, services }: ServeOptions,
  secrets: ServedSecrets["secrets"],
): Omit<WorkerdSetup, "modules"> {
  const config = wranglerConfigOf(target);
  const { binding = "ASSETS", directory } = config.assets ?? {};
  const variables =
    target.config === undefined ? config.vars : { ...config.vars, config: target.config };
  return {
    classNames: Object.fromEntries(
      config.durable_objects.bindings.map(
        (each: { readonly name: string; readonly class_name: string }) => [
          each.name,
          each.class_name,
        ],
      ),
    ),
    variables: {
      STREAM_PROBE_MS: String(streamProbeMs),
      // Without a proxy that sets a header, every client could.
      CLIENT_ADDRESS_HEADER: "",
      ...textsOf(variables, secrets),
      SELF_HOSTED: "true",
    },
    secrets,
    ...(directory !== undefined && { assets: { binding, folder: folderOf(target, directory) } }),
    compatibility: { date: config.compatibility_date ?? "", flags: config.compatibility_flags },
    host,
    services,
    ...descriptorsLimit(),
    printsThrough: true,
  };
}

/** How many file descriptors workerd may have; it inherits the limit of this process. Only Linux tells it. */
function descriptorsLimit(): Pick<WorkerdSetup, "descriptorsMax"> {
  if (process.platform !== "linux") return {};
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === undefined ? {} : { descriptorsMax: Number(limit) };
}

/** The variables as texts, without those that a secret replaces. */
function textsOf(
  variables: ReturnType<typeof wranglerConfigOf>["vars"],
  secrets: ServedSecrets["secrets"],
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (name in secrets) continue;
    texts[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return texts;
}

function folderOf(target: ServeOptions["target"], directory: string): string {
  return resolve(dirname(configurationFile(target)), directory);
}

/**
 * Serves until a signal stops the server. If workerd ends by itself, it is started again (rule B12): the state is on the
 * disk, and clients reconnect and recover.
 */
async function run(
  setup: WorkerdSetup,
  { state, host, port }: ServeOptions,
  { source }: ServedSecrets,
): Promise<number> {
  const stopping = new AbortController();
  const restarts = new Restarts();
  let workerd: Workerd | undefined;
  process.once("exit", () => void workerd?.kill());
  const end = (why: string) => {
    if (!stopping.signal.aborted) console.log(`The server stops: ${why}`);
    // A second signal ends the server at once.
    void (stopping.signal.aborted ? workerd?.kill() : workerd?.stop(drainMs));
    stopping.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  // Under nohup no stream is a terminal, and the server outlives the one that is closed; Node.js resets what nohup set.
  process.on("SIGHUP", () => {
    if ([0, 1, 2].some((stream) => isatty(stream))) end("SIGHUP, as its terminal was closed");
  });
  const unwatch = whenParentEnds(() => {
    if (!stopping.signal.aborted) end("npm, which started it, has ended");
  });
  let isBehind = false;
  const unwatchClock = whenClockIsSetBack((byMs) => {
    const seconds = Math.round(byMs / 1_000);
    console.error(`The clock was set back by ${seconds} s: workerd starts again with it`);
    isBehind = true;
    void workerd?.kill();
  });
  try {
    for (let starts = 1; ; starts++) {
      workerd = Workerd.launch(setup, state, port);
      if (workerd.processId !== undefined) noteProcess(state, workerd.processId);
      const problems = await problemsOf(workerd);
      const answeredAtMs = Date.now();
      if (problems === "") {
        if (starts === 1) announce(`http://${bracketed(host)}:${port}`, state, setup);
        else console.log("workerd serves again");
      } else if (problems !== undefined) end("its configuration has problems");
      const ending = await workerd.ended;
      if (problems !== undefined && problems !== "")
        return refuse(`${problems}\n(secrets are taken from ${source})`);
      if (stopping.signal.aborted) return 0;
      if (isBehind) {
        isBehind = false;
        continue;
      }
      const served = problems === undefined ? undefined : Date.now() - answeredAtMs;
      const restartInMs = restarts.afterEnd(served);
      const status = statusOf(ending);
      console.error(unexpectedEnd(ending.signal ?? `status ${status}`, restartInMs));
      if (restartInMs === undefined) return status;
      if (!(await waited(restartInMs, stopping.signal))) return 0;
    }
  } finally {
    unwatch();
    unwatchClock();
  }
}

function announce(address: string, state: string, { descriptorsMax: max }: WorkerdSetup): void {
  console.log(`Dormouse serves ${address}, its state is in ${state}`);
  if (max === undefined || max >= descriptorsRecommended) return;
  const room = Math.floor((max * (1 - limits.descriptorsSpare)) / limits.descriptorsPerRequest);
  console.log(
    `ulimit -n is ${max}: there is room for at most ${room} connections with a channel each`,
  );
}

/** What the operator is told when workerd has ended by itself. workerd has printed the cause before. */
function unexpectedEnd(how: string, restartInMs: number | undefined): string {
  const ended = `workerd ended unexpectedly: ${how}`;
  if (restartInMs === undefined) return ended;
  const when = restartInMs === 0 ? "now" : `in ${restartInMs} ms`;
  return (
    `${ended}. It starts again ${when}, and clients reconnect. After "Too many open files", raise ulimit -n, and ` +
    "bound the connections in the proxy: docs/self-hosting.md"
  );
}

/** Lets so many ms pass. Returns whether they passed: false if the server is stopped meanwhile. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(ms, undefined, { signal });
    return true;
  } catch {
    return false; // The only error is that the signal aborted the wait.
  }
}

/** The problems that the Worker reports; "" if there are none; undefined if it ended before it answered. */
async function problemsOf(workerd: Workerd): Promise<string | undefined> {
  const health = await workerd.health();
  if (health === undefined) return undefined;
  if (health.status !== 503) return "";
  // The problem of a secret ends with a command that helps only where the Worker is deployed.
  return (await health.text()).replaceAll(/: set it with .*/g, "").trimEnd();
}

/** The status as a shell computes it: 128 plus the number of a signal. */
function statusOf({ code, signal }: Ending): number {
  return code ?? (signal === null ? 1 : 128 + constants.signals[signal]);
}

process.exitCode = await serve(process.argv.slice(2));
