/**
 * The test kit: the production server with its real objects, in process, for vitest and the runner of Node.js. It needs
 * wrangler, which brings the runtime.
 */
import { randomBytes } from "node:crypto";
import { HookBackend, keepsPublications, testConfig } from "./hooks.ts";
import { Network } from "./network.ts";
import { checkNodeVersion } from "./node-version.ts";
import { Runtime } from "./runtime.ts";
import { checkStartOptions, type StartOptions } from "./start-options.ts";
import { TestDormouse } from "./test-dormouse.ts";
import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";
import { workerModules } from "./worker-code.ts";

export { DormouseTestError } from "./test-error.ts";
export type { AskedQuestion, HookAnswer, HookAnswerer, HookQuestion, TestHooks } from "./hooks.ts";
export type { ObjectKind, StartedObject } from "./runtime.ts";
export type { StartOptions } from "./start-options.ts";
export type { TestClient, TestSubscription } from "./test-client.ts";
export type { ClientOptions, TestDormouse } from "./test-dormouse.ts";
export type { TokenClaims } from "./tokens.ts";

/**
 * Starts a server for tests. Its state is in a folder of its own, which goes with it.
 *
 * @throws {DormouseTestError} with the problems of the options and of the configuration
 */
export async function startDormouse(options: StartOptions = {}): Promise<TestDormouse> {
  checkNodeVersion(process.versions.node);
  checkStartOptions(options);
  const {
    config = {},
    hooks = {},
    worker,
    prefix = "",
    variables,
    port,
    withinMs = testLimits.withinMs,
  } = options;
  const backend = new HookBackend(hooks);
  const secrets = {
    API_KEY: secret(),
    TOKEN_HMAC_SECRET_KEY: secret(),
    HOOK_SIGNING_SECRET: `whsec_${randomBytes(32).toString("base64")}`,
    ...options.secrets,
  };
  const configured = worker === undefined ? { config: testConfig({ ...config }, hooks) } : {};
  const runtime = await Runtime.start({
    modules: await workerModules(worker),
    // All clients have one address here, which would bound them together.
    bindings: { CLIENT_ADDRESS_HEADER: "", ...configured, ...variables, ...secrets },
    hooks: backend,
  });
  try {
    await checkHealth(runtime, prefix);
    const network = await Network.to(() => runtime.url, port);
    const { API_KEY: apiKey, TOKEN_HMAC_SECRET_KEY: tokenSecret } = secrets;
    return new TestDormouse({
      runtime,
      network,
      backend,
      apiKey,
      tokenSecret,
      prefix,
      withinMs,
      keepsPublications: keepsPublications({ ...config }),
    });
  } catch (error) {
    await runtime.stop();
    throw error;
  }
}

function secret(): string {
  return randomBytes(32).toString("hex");
}

/** @throws {DormouseTestError} with what the server itself says of its configuration */
async function checkHealth(runtime: Runtime, prefix: string): Promise<void> {
  const response = await fetch(new URL(`${prefix}/health`, runtime.url));
  const text = await response.text();
  if (response.status === 503) throw new DormouseTestError(`the server refuses to serve:\n${text}`);
  if (!response.ok)
    throw new DormouseTestError(
      `there is no server at ${prefix || "/"}: ${response.status} at ${prefix}/health`,
    );
}
