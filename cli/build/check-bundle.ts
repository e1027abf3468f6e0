/**
 * `npm run bundle`: builds the bundle that would be deployed, unless one of the same sources is kept, and checks two bounds. Its gzipped size matters because
 * each new isolate loads it; the function calls made while loading it matter because an isolate starts for every object
 * that wakes. The calls are counted, not timed, so that the same build always gives the same number.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { keptBundle } from "./kept-bundle.ts";

const gzippedBytesMax = 295_500;
/**
 * The remaining calls do little work. Four fifths are jose's error classes and tables of algorithms, which come with
 * the import of keys. The rest are the shapes of requests, which are built only when the first request is parsed, a few
 * tables and classes of the hooks and of users, which are made once and hold nothing yet, and six of MessagePack's decoder.
 */
const startupCallsMax = 111;

async function checkBundle(): Promise<void> {
  const bundle = keptBundle({});
  const folder = mkdtempSync(join(tmpdir(), "dormouse-bundle-"));
  try {
    const file = join(folder, "edge.mjs");
    writeFileSync(file, bundle);
    const gzippedBytes = gzipSync(bundle).byteLength;
    const calls = await startupCalls(file);
    console.log(`bundle: ${gzippedBytes} bytes gzipped (limit: ${gzippedBytesMax})`);
    console.log(`start-up: ${calls} function calls (limit: ${startupCallsMax})`);
    if (gzippedBytes > gzippedBytesMax || calls > startupCallsMax) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function startupCalls(file: string): Promise<number> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers"
        ? {
            url: "data:text/javascript,export const tracing = {}; export class DurableObject {} export class WorkerEntrypoint {}",
            shortCircuit: true,
          }
        : next(specifier, context),
  });
  const url = pathToFileURL(file).href;
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await import(url);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const functions = result.find((script) => script.url === url)?.functions ?? [];
  if (functions.length === 0) throw new Error("The coverage report has no entry for the bundle");
  return functions.reduce((calls, { ranges }) => calls + (ranges[0]?.count ?? 0), 0);
}

await checkBundle();
