/**
 * `npm start`: the real server on this machine, for development. Everything after `--` goes to `wrangler dev`, for
 * example `npm start -- --port 9000 --var 'config:{"client":{…}}'`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants, copyFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { SignJWT } from "jose";
import { optionValue, withoutOption } from "./command-line.ts";
import { configurationProblems } from "./configuration-problems.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const secretsFile = join(root, ".dev.vars");

/** Pages served by a development server may connect; a deployed Worker allows what its configuration names. */
const developmentOrigins = [
  "http://localhost:*",
  "http://127.0.0.1:*",
  "http://localhost",
  "http://127.0.0.1",
];

async function start(options: readonly string[]): Promise<void> {
  try {
    copyFileSync(`${secretsFile}.example`, secretsFile, constants.COPYFILE_EXCL);
  } catch (error) {
    if (!existsSync(secretsFile)) throw error;
  }
  const problems = configurationProblems(options);
  if (problems.length > 0) {
    console.error(
      `The configuration can't be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
    );
    process.exitCode = 1;
    return;
  }
  const port = optionValue(options, "--port") ?? "8787";
  const server = serve(port, options);
  const stopped = new Promise<number>((resolve) => {
    server.once("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 0)));
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => server.kill(signal));
  endWithParent(server);
  const address = `http://localhost:${port}`;
  if (await answers(address, server)) console.log(await welcome(address));
  process.exitCode = await stopped;
}

function serve(port: string, options: readonly string[]): ChildProcess {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const fixed = ["dev", "--port", port, "--show-interactive-dev-session=false"];
  const origins = ["--var", `DEVELOPMENT_ORIGINS:${developmentOrigins.join(",")}`];
  return spawn(
    process.execPath,
    [wrangler, ...fixed, ...origins, ...withoutOption(options, "--port")],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
    },
  );
}

/** npm passes no signal on when it is ended itself; the server must not stay behind with the port. */
function endWithParent(server: ChildProcess): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) server.kill("SIGTERM");
  }, 500);
  server.once("exit", () => clearInterval(watch));
}

async function answers(address: string, server: ChildProcess): Promise<boolean> {
  while (server.exitCode === null && server.signalCode === null) {
    try {
      if ((await fetch(`${address}/health`)).ok) return true;
    } catch {
      // Not listening yet.
    }
    await pause(200);
  }
  return false;
}

async function welcome(address: string): Promise<string> {
  const secrets = parseEnv(readFileSync(secretsFile, "utf8"));
  const key = new TextEncoder().encode(secrets["TOKEN_HMAC_SECRET_KEY"]);
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject("newcomer")
    .setIssuedAt()
    .setExpirationTime("7d")
    .sign(key);
  return `
Dormouse serves ${address}

Listen to the channel "news", in any WebSocket client or with npm's centrifuge:
  ${address.replace("http", "ws")}/channel/news/websocket

with this token, good for 7 days:
  ${token}

Publish to it:
  curl -X POST ${address}/api/publish -H "X-API-Key: ${secrets["API_KEY"] ?? ""}" -d '{"channel":"news","data":{"text":"hello"}}'
`;
}

await start(process.argv.slice(2));
