import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { parentCheckMs } from "../../../cli/serve/local-server.ts";
import { freePort } from "../../support/servers/listen.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { packageRoot } from "../../../cli/package-root.ts";
const patience = { timeout: 30_000, interval: 50 };

/** Starts a server under nohup by a shell, and ends the shell once it serves. */
async function startUnderNohup(environment: Readonly<NodeJS.Dict<string>>) {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  const port = String(await freePort());
  // The shell says the server's ID before it has opened the file.
  writeFileSync(join(folder, "out"), "");
  const printed = () => readFileSync(join(folder, "out"), "utf8");
  const command = [
    'nohup "$0" cli/serve/serve.ts --port "$1" --state "$2/state" >"$2/out" 2>&1 & echo $!; read line',
    process.execPath,
    port,
    folder,
  ];
  const env = { ...process.env, ...testSecrets, ...environment };
  const shell = spawn("sh", ["-c", ...command], {
    cwd: packageRoot,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line]: Buffer[] = await once(shell.stdout, "data");
  const id = Number(line);
  onTestFinished(async () => {
    if (isAlive(id)) process.kill(id, "SIGTERM");
    await vi.waitUntil(() => !isAlive(id), patience);
    rmSync(folder, { recursive: true });
  });
  await vi.waitUntil(() => printed().includes("Dormouse serves"), patience);
  const ended = once(shell, "exit");
  shell.stdin.end();
  await ended;
  const health = async () => (await fetch(`http://127.0.0.1:${port}/health`)).status;
  return { id, printed, health };
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false; // Its only error is that there is no such process.
  }
}

it("[N15] npm run serve outlives its shell and the closing of the terminal under nohup, and says why it stops", async () => {
  const { id, printed, health } = await startUnderNohup({ npm_lifecycle_event: undefined });
  // The script looks for its parent from time to time.
  await pause(3 * parentCheckMs);
  process.kill(id, "SIGHUP");
  expect(await health()).toBe(200);
  process.kill(id, "SIGTERM");
  await vi.waitUntil(() => !isAlive(id), patience);
  expect(printed()).toMatch(/^The server stops: SIGTERM$/m);
  expect(printed().match(/The server stops/g)).toHaveLength(1);
}, 60_000);

it("[N15] npm run serve ends with npm, and says so", async () => {
  const { id, printed } = await startUnderNohup({ npm_lifecycle_event: "serve" });
  await vi.waitUntil(() => !isAlive(id), patience);
  expect(printed()).toContain("The server stops: npm, which started it, has ended");
}, 60_000);
