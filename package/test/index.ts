/**
 * The test kit: the production server with its real objects, in process, for vitest and the runner of Node.js. It needs
 * wrangler, which brings the runtime.
 */
import { randomBytes } from "node:crypto";
import { isPublic } from "../../src/access/public-secrets.ts";
import { HookBackend, type JsonConfig, keepsPublications } from "./hooks.ts";
import { Network } from "./network.ts";
import { checkNodeVersion } from "./node-version.ts";
import { Runtime } from "./runtime.ts";
import { parseConfigVariable, projectOf, serverSetup } from "./server-setup.ts";
import { checkStartOptions, type StartOptions } from "./start-options.ts";
import { type TestBindings, TestDormouse } from "./test-dormouse.ts";
import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";

export { DormouseTestError } from "./test-error.ts";
export type { AskedQuestion, HookAnswer, HookAnswerer, HookQuestion, TestHooks } from "./hooks.ts";
export type { GivenBindings, ServiceFunction, ServiceMethods } from "./project/given-bindings.ts";
export type { JsonValue } from "../../src/protocol/wire-value.ts";
export type { OwnObject, StartedObject } from "./running-server.ts";
export type { StartOptions } from "./start-options.ts";
export type { TestClient, TestSubscription } from "./test-client.ts";
export type { ClientOptions, TestBindings, TestDormouse } from "./test-dormouse.ts";
export {
  testChannel,
  TestChannel,
  type TestCaller,
  type TestChannelOptions,
  type TestPublication,
  TestRejection,
} from "./test-channel.ts";
export type { TokenClaims } from "./tokens.ts";

/**
 * Starts a server for tests. Its state is in a folder of its own, which goes with it.
 *
 * @throws {DormouseTestError} with the problems of the options and of the configuration
 */
export async function startDormouse<Bindings extends object = TestBindings>(
  options: StartOptions = {},
): Promise<TestDormouse<Bindings>> {
  checkNodeVersion(process.versions.node);
  checkStartOptions(options);
  const { hooks = {}, prefix = "", port, withinMs = testLimits.withinMs } = options;
  const backend = new HookBackend(hooks);
  const project = projectOf(options);
  const secrets = {
    API_KEY: secret(),
    TOKEN_HMAC_SECRET_KEY: secret(),
    HOOK_SIGNING_SECRET: `whsec_${randomBytes(32).toString("base64")}`,
    // Those of `.dev.vars`, with which the Worker's own code signs, unless they are the example's, which no server takes.
    ...textsOf({ ...project?.worker.bindings }),
    ...options.secrets,
  };
  const setup = await serverSetup(options, project, backend);
  const variables: JsonConfig = { ...setup.variables, ...secrets };
  const runtime = await Runtime.start<Bindings>({ ...setup, variables }, project);
  try {
    checkConfiguration(await runtime.configurationProblems());
    await checkHealth(runtime, prefix);
    const network = await Network.to(() => runtime.url, port);
    const { API_KEY: apiKey, TOKEN_HMAC_SECRET_KEY: tokenSecret } = secrets;
    return new TestDormouse<Bindings>({
      runtime,
      network,
      backend,
      apiKey,
      tokenSecret,
      prefix,
      withinMs,
      keepsPublications: keepsPublications(
        (await runtime.embeddedEvents()) ?? parseConfigVariable(variables["config"])?.["events"],
      ),
    });
  } catch (error) {
    await runtime.stop();
    throw error;
  }
}

/** The variables of a Worker that are texts, without public ones. */
function textsOf(variables: object): Readonly<Record<string, string>> {
  const texts: [string, string][] = [];
  for (const [name, value] of Object.entries(variables))
    if (typeof value === "string" && !isPublic(value)) texts.push([name, value]);
  return Object.fromEntries(texts);
}

function secret(): string {
  return randomBytes(32).toString("hex");
}

/**
 * Before any request: the Worker's own code may stand before the server, and the server quotes no values.
 *
 * @throws {DormouseTestError} with the problems of a configuration that is in code
 */
function checkConfiguration(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new DormouseTestError(`the server refuses to serve:\n${problems.join("\n")}`);
}

/** @throws {DormouseTestError} with what the server itself says of its configuration */
async function checkHealth({ url }: { readonly url: URL }, prefix: string): Promise<void> {
  const response = await fetch(new URL(`${prefix}/health`, url));
  const text = await response.text();
  if (response.status === 503) throw new DormouseTestError(`the server refuses to serve:\n${text}`);
  if (!response.ok)
    throw new DormouseTestError(
      `there is no server at ${prefix || "/"}: ${response.status} at ${prefix}/health`,
    );
}
