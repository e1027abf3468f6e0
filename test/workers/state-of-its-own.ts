/**
 * Gives each test file state of its own in a runtime that it shares with other files: timers, objects, bindings,
 * modules, and the Workers beside the one under test. A runtime for each file would take longer to start than the tests
 * of most files.
 */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, vi } from "vitest";

const bindings = { ...env };
const { CHANNELS, GATEWAYS, USERS, METRICS, BACKEND, RECEIVER, DEAD_LETTERS } = bindings;

afterAll(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await reset();
  for (const worker of [BACKEND, RECEIVER, DEAD_LETTERS])
    await worker.fetch("https://beside.example.com/", { method: "DELETE" });
  for (const name of Object.keys(env))
    if (!Object.hasOwn(bindings, name)) Reflect.deleteProperty(env, name);
  Object.assign(env, bindings);
  // The methods that the file put before those of the platform.
  for (const binding of [CHANNELS, GATEWAYS, USERS, METRICS])
    for (const name of Object.keys(binding)) Reflect.deleteProperty(binding, name);
  vi.resetModules();
});
