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
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const gzippedBytesMax = 100_000;
/** Classes of the libraries that are defined at load, schemas of request bodies, and little else. */
const startupCallsMax = 300;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

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
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  execFileSync(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", folder], {
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
