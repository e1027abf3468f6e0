/**
 * `npm start`: runs the server on this machine, for development. Everything after `--` is passed to `wrangler dev`, for
 * example `npm start -- --port 9000 --var 'config:{"client":{…}}'`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants, copyFileSync, existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseEnv } from "node:util";
import type { Config } from "../../src/config/config.ts";
import { buildConsole } from "../build/build-console.ts";
import { type TrialChannel, trialChannel } from "./trial-channel.ts";
import { trialToken } from "../token/token-signer.ts";
import { optionValue, targetOf, withoutOption } from "../configuration/command-line.ts";
import { checkConfiguration } from "../deployment/configuration-problems.ts";
import { streamProbeMs, whenParentEnds } from "./local-server.ts";
import { textFault, textOf } from "../configuration/text-file.ts";
import { secretsFileOf } from "../deployment/secrets.ts";
import { takesToken } from "./takes-token.ts";
import { takeWranglerState } from "./wrangler-state.ts";
import { packageRoot } from "../package-root.ts";
import { wranglerScript } from "../configuration/wrangler.ts";

/** The origins of pages from a development server. A deployed Worker allows the origins in its configuration. */
const developmentOrigins = [
  "http://localhost:*",
  "http://127.0.0.1:*",
  "http://localhost",
  "http://127.0.0.1",
];

async function start(options: readonly string[]): Promise<number> {
  const config = checkConfiguration(options, "development");
  if (config === undefined) return 1;
  const secrets = secretsFile(options);
  const fault = textFault(secrets);
  if (fault !== undefined) {
    console.error(`The server did not start: ${fault}`);
    return 1;
  }
  const port = optionValue(options, "--port") ?? "8787";
  // Wrangler would find out too, but only after this script had taken the other server for its own.
  if (await isTaken(Number(port))) {
    console.error(`Port ${port} is used by another server: choose a free port with --port`);
    return 1;
  }
  const problem = takeWranglerState(options);
  if (problem !== undefined) {
    console.error(`The server did not start: ${problem}`);
    return 1;
  }
  await buildConsole();
  const server = serve(port, options);
  const stopped = new Promise<number>((resolve) => {
    server.once("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 0)));
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => server.kill(signal));
  server.once(
    "exit",
    whenParentEnds(() => server.kill("SIGTERM")),
  );
  const address = `http://localhost:${port}`;
  const health = await healthOf(address, server);
  switch (health.outcome) {
    case "healthy":
      console.log(await welcome(address, secrets, config));
      return stopped;
    case "unconfigured":
      console.error(
        `The server is not configured (its secrets are in ${secrets}):\n${health.problems.trimEnd()}`,
      );
      server.kill("SIGTERM");
      await stopped;
      return 1;
    case "ended":
      return stopped;
  }
}

/**
 * Finds the file from which wrangler reads the secrets. If there is neither one for the environment nor a common one,
 * the common one is copied from the example.
 */
function secretsFile(options: readonly string[]): string {
  const file = secretsFileOf(targetOf(options));
  try {
    copyFileSync(join(packageRoot, "examples", ".dev.vars.example"), file, constants.COPYFILE_EXCL);
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
  return file;
}

/** Whether a server already listens where a browser on this machine would connect. */
async function isTaken(port: number): Promise<boolean> {
  const listening = ["127.0.0.1", "::1"].map(
    (host) =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ host, port });
        socket.once("error", () => resolve(false));
        socket.once("connect", () => {
          socket.destroy();
          resolve(true);
        });
      }),
  );
  return (await Promise.all(listening)).includes(true);
}

function serve(port: string, options: readonly string[]): ChildProcess {
  const fixed = ["dev", "--port", port, "--show-interactive-dev-session=false"];
  const origins = ["--var", `DEVELOPMENT_ORIGINS:${developmentOrigins.join(",")}`];
  const development = ["--var", "DEVELOPMENT:true"];
  // The system chooses the debugger's port. Two servers that start at the same time would otherwise take the same one, and
  // the second would end.
  const inspector =
    optionValue(options, "--inspector-port") === undefined ? ["--inspector-port", "0"] : [];
  // The local runtime isn't told when a page is closed. Without probes, the page's client would stay present for a
  // while.
  const probes = ["--var", `STREAM_PROBE_MS:${streamProbeMs}`];
  // All clients are on this machine: bounds for one address would bound them together.
  const addresses = ["--var", "CLIENT_ADDRESS_HEADER:"];
  return spawn(
    process.execPath,
    [
      wranglerScript,
      ...fixed,
      ...development,
      ...origins,
      ...probes,
      ...addresses,
      ...inspector,
      ...withoutOption(options, "--port"),
    ],
    {
      cwd: packageRoot,
      stdio: "inherit",
      env: {
        // Otherwise wrangler stores a trace of every request, frame and alarm beside the state. A trace has the address of
        // its request, and so the token in it (rule A7), and storing traces makes a publish take a third longer.
        X_LOCAL_OBSERVABILITY: "false",
        ...process.env,
        WRANGLER_SEND_METRICS: "false",
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
      },
    },
  );
}

type Health =
  | { readonly outcome: "healthy" }
  /** The Worker runs, and reports a missing secret: any other problem has been found by the check before. */
  | { readonly outcome: "unconfigured"; readonly problems: string }
  | { readonly outcome: "ended" };

/** Waits for the server's first answer, or for its end. */
async function healthOf(address: string, server: ChildProcess): Promise<Health> {
  while (server.exitCode === null && server.signalCode === null) {
    try {
      const response = await fetch(`${address}/health`);
      if (response.ok) return { outcome: "healthy" };
      if (response.status === 503) {
        return { outcome: "unconfigured", problems: await response.text() };
      }
    } catch {
      // The server isn't listening yet.
    }
    await pause(200);
  }
  return { outcome: "ended" };
}

async function welcome(address: string, file: string, config: Config): Promise<string> {
  const secrets = parseEnv(textOf(file));
  const socketAddress = `${address.replace("http", "ws")}/connection/websocket`;
  const token = await trialToken(
    secrets["TOKEN_HMAC_SECRET_KEY"] ?? "",
    config.client.token.userIdClaim,
  );
  const trial = trialChannel(config.channel);
  const subscribe = trial?.isOpen === true ? `, and subscribe to "${trial.channel}"` : "";
  return `
Dormouse serves ${address}

Connect any Centrifugo client, such as npm's centrifuge${subscribe}:
  ${socketAddress}

${await credentials(socketAddress, token)}

${publishLines(address, secrets["API_KEY"] ?? "", trial)}
${consoleLine(address, secrets["CONSOLE_PASSWORD"], config, trial)}`;
}

/** How a newcomer publishes, and a sentence if no channel is open to every user. */
function publishLines(address: string, key: string, trial: TrialChannel | undefined): string {
  if (trial === undefined) return "No namespace of this configuration takes a backend's JSON.";
  const { channel, isOpen, method, request } = trial;
  const title = isOpen
    ? "Publish to it:"
    : `No namespace lets every user subscribe, so subscribe by a subscription token, or set
allow_subscribe_for_client. Publish to ${channel}:`;
  return `${title}
  curl -X POST ${address}/api/${method} -H "X-API-Key: ${key}" -d '${request}'`;
}

/** Where the console is; "" if it is off (rule N1). */
function consoleLine(
  address: string,
  password: string | undefined,
  config: Config,
  trial: TrialChannel | undefined,
): string {
  const { enabled = true, access } = config.console ?? {};
  if (!enabled || access !== undefined || password === undefined) return "";
  return `
See it arrive in the console, whose password is ${password}:
  ${address}/console/${trial === undefined ? "" : `#/channel?name=${encodeURIComponent(trial.channel)}&hear=1`}
`;
}

/**
 * The credentials for the welcome text. The token is shown only if the server accepts it: the configuration may require
 * an issuer, an audience or a key that this script doesn't have.
 */
async function credentials(socketAddress: string, token: string | undefined): Promise<string> {
  if (token === undefined || !(await takesToken(socketAddress, token)))
    return "with a token that your own issuer signs";
  return `with this token, valid for 7 days:\n  ${token}`;
}

process.exitCode = await start(process.argv.slice(2));
