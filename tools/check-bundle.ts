/**
 * `npm run bundle`: builds what would be deployed and holds it to two bounds. Its size, gzipped, because each new
 * isolate loads it; and the function calls that loading it makes, because an isolate starts for every object that wakes.
 * Calls are counted, not timed: the same build always gives the same number.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { root, wranglerScript } from "./wrangler.ts";

const gzippedBytesMax = 100_000;
/**
 * What is left does no work: jose's classes of errors and its tables of algorithms make up four fifths, since it is asked to
 * import keys; ours are the shapes of requests, which are only put together when the first one is read.
 */
const startupCallsMax = 80;

async function checkBundle(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-bundle-"));
  try {
    const bundle = build(folder);
    const gzippedBytes = gzipSync(readFileSync(bundle)).byteLength;
    const calls = await startupCalls(bundle);
    console.log(`bundle: ${gzippedBytes} bytes gzipped (at most ${gzippedBytesMax})`);
    console.log(`start-up: ${calls} function calls (at most ${startupCallsMax})`);
    if (gzippedBytes > gzippedBytesMax || calls > startupCallsMax) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function build(folder: string): string {
  execFileSync(process.execPath, [wranglerScript, "deploy", "--dry-run", "--outdir", folder], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  });
  return join(folder, "edge.js");
}

async function startupCalls(bundle: string): Promise<number> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers"
        ? { url: "data:text/javascript,export class DurableObject {}", shortCircuit: true }
        : next(specifier, context),
  });
  const url = pathToFileURL(bundle).href;
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await import(url);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const functions = result.find((script) => script.url === url)?.functions ?? [];
  if (functions.length === 0)
    throw new Error("The bundle was loaded, but nothing of it was counted");
  return functions.reduce((calls, { ranges }) => calls + (ranges[0]?.count ?? 0), 0);
}

await checkBundle();
