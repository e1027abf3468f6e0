import { fstatSync } from "node:fs";
import { Command } from "commander";
import { ControlServer } from "../../package/test/control-server.ts";
import { hookNames, isHookName, type TestHooks } from "../../package/test/hooks.ts";
import { startDormouse } from "../../package/test/index.ts";
import { DormouseTestError } from "../../package/test/test-error.ts";
import { type ConfigOptions, findConfig, withConfig } from "../configuration/worker-config.ts";
import { refusal, type Shell, usageFailure } from "../shell.ts";
import { wholeNumber } from "../text/values.ts";

interface TestServerOptions extends ConfigOptions {
  readonly port?: number;
  readonly controlPort?: number;
  readonly hook: readonly string[];
}

/** `dormouse test-server`: the test kit for suites in other languages, which control it over HTTP. */
export function testServerCommand(shell: Shell): Command {
  const command = new Command("test-server").description(
    "run a server for tests, which another port controls: cuts, evictions, deploys, time",
  );
  return withConfig(command)
    .option("--port <number>", "the port for clients (default: a free one)", wholeNumber(0, 65_535))
    .option(
      "--control-port <number>",
      "the port for control calls (default: a free one)",
      wholeNumber(0, 65_535),
    )
    .option("--hook <name>", "answer this hook, as control calls say (repeatable)", collected, [])
    .addHelpText(
      "after",
      `
It prints a line of JSON with its addresses and secrets when it is ready, and ends with SIGTERM, with the call stop, and
when a pipe at its standard input ends. docs/testing.md lists the control calls.

Examples:
  dormouse test-server
  dormouse test-server --config wrangler.toml --hook onPublish`,
    )
    .action((options: TestServerOptions) => serve(options, shell));
}

function collected(name: string, before: readonly string[]): readonly string[] {
  return [...before, name];
}

async function serve(options: TestServerOptions, shell: Shell): Promise<void> {
  const { port, controlPort, hook } = options;
  const config = configOf(options, shell);
  const hooks = answeredHooks(hook);
  try {
    const dormouse = await startDormouse({ config, hooks, ...(port !== undefined && { port }) });
    const control = await ControlServer.start(dormouse, controlPort);
    const { url, websocketUrl, apiKey, tokenSecret } = dormouse;
    shell.print(
      JSON.stringify({
        url,
        websocket: websocketUrl,
        api: `${url}/api`,
        control: control.address,
        api_key: apiKey,
        token_hmac_secret_key: tokenSecret,
      }),
    );
    await Promise.race([control.stopped, endOfProcess()]);
    await control.close();
    await dormouse.stop();
  } catch (error) {
    if (error instanceof DormouseTestError) throw refusal(error.message);
    throw error;
  }
}

/** The configuration of the file, unchecked, because the server checks it; that of the defaults without a file. */
function configOf(options: ConfigOptions, shell: Shell): object {
  const input = findConfig(options, shell)?.input ?? {};
  const config: unknown = typeof input === "string" ? JSON.parse(input) : input;
  if (typeof config !== "object" || config === null)
    throw usageFailure("the configuration must be an object");
  return config;
}

/** Hooks that answer nothing, until a control call says what. */
function answeredHooks(names: readonly string[]): TestHooks {
  const hooks: TestHooks = {};
  for (const name of names) {
    if (!isHookName(name))
      throw usageFailure(`--hook ${name} is no hook; the hooks are ${hookNames.join(", ")}`);
    hooks[name] = () => undefined;
  }
  return hooks;
}

/** Resolves when the process is to end: by a signal, or because whoever started it has closed the pipe, or has ended. */
function endOfProcess(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
    // A terminal, and /dev/null of a process in the background, say nothing of whoever started it.
    const input = fstatSync(0);
    if (!input.isFIFO() && !input.isSocket()) return;
    process.stdin.once("end", () => resolve());
    process.stdin.resume();
    process.stdin.unref();
  });
}
