import { execFile, spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { endGroup } from "./process-group.ts";
import { packageRoot } from "../../../cli/package-root.ts";
import { packageName } from "../../../src/version.ts";
import { cookieSocket } from "../sockets/cookie-socket.ts";
import { SdkClient } from "../sockets/sdk-client.ts";
import { freePort } from "./listen.ts";

const execute = promisify(execFile);
const examples = join(packageRoot, "examples", "frameworks");

/** The frameworks that have a project. */
export function frameworks(): readonly string[] {
  const entries = readdirSync(examples, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** The versions that a framework's project names. */
export function versionsOf(framework: string): Readonly<Record<string, string>> {
  const { dependencies, devDependencies } = packageIn(join(examples, framework));
  return { ...dependencies, ...devDependencies };
}

/**
 * Copies a framework's project into a folder, installs what it says, builds it and serves it as `wrangler dev` does, until
 * the work is done.
 *
 * @param archive the file of the packed package, in the folder
 * @param work    gets the address of the server
 */
export async function withProject(
  framework: string,
  folder: string,
  archive: string,
  work: (address: string) => Promise<void>,
): Promise<void> {
  cpSync(join(examples, framework), folder, { recursive: true });
  const project = packageIn(folder);
  const dependencies = { ...project.dependencies, [packageName]: `file:${archive}` };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...project, dependencies }));
  const surroundings = { cwd: folder, env: { ...process.env, ...quiet } };
  await execute("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"], surroundings);
  await execute("npm", ["run", "build:worker"], surroundings);
  const port = await freePort();
  const wrangler = join("node_modules", "wrangler", "bin", "wrangler.js");
  const args = [wrangler, "dev", "--port", String(port), "--show-interactive-dev-session=false"];
  const options = { ...surroundings, detached: true, stdio: "ignore" } as const;
  const running = spawn(process.execPath, args, options);
  const address = `http://localhost:${port}`;
  try {
    while (!(await isServing(address))) {
      if (running.exitCode !== null) throw new Error("wrangler dev has ended");
      await pause(100);
    }
    await work(address);
  } finally {
    await endGroup(running);
  }
}

/** No questions, and no reports to the makers of the tools. */
const quiet = {
  CI: "1",
  WRANGLER_SEND_METRICS: "false",
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
};

/**
 * Sends the form of the first page, as a browser without scripts does, and hears with the official client what the
 * framework's code publishes.
 *
 * @returns the data of the publication, and the code with which somebody without a session is disconnected
 */
export async function sendForm(address: string, text: string): Promise<FormOutcome> {
  const socket = `${address.replace("http", "ws")}/realtime/connection/websocket`;
  const ann = new SdkClient(socket, { websocket: cookieSocket("session=ann") });
  const nobody = new SdkClient(socket, { websocket: cookieSocket("") });
  try {
    const news = await ann.subscribed("news:all");
    const page = await (await fetch(address)).text();
    const action = /<form[^>]* action="([^"]*)"/.exec(page)?.[1] ?? "";
    const body = new FormData();
    for (const [, name = ""] of page.matchAll(/<input type="hidden" name="([^"]+)"/g))
      body.append(name, "");
    body.append("text", text);
    const headers = { Origin: address };
    const answered = await fetch(new URL(action, address), {
      method: "POST",
      body,
      headers,
      redirect: "manual",
    });
    if (answered.status >= 400)
      throw new Error(`the form is answered ${answered.status}: ${await answered.text()}`);
    const { data } = await news.publications.next();
    const { code } = await nobody.disconnected.next();
    return { data, code };
  } finally {
    ann.close();
    nobody.close();
  }
}

/** What came of a form. */
export interface FormOutcome {
  readonly data: unknown;
  readonly code: number;
}

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function packageIn(folder: string): PackageFile {
  const content: PackageFile = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return content;
}

async function isServing(address: string): Promise<boolean> {
  try {
    return (await fetch(`${address}/realtime/health`)).ok;
  } catch {
    return false;
  }
}
