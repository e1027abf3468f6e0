import {
  type ChildProcessWithoutNullStreams,
  execFile,
  execFileSync,
  spawn,
} from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { EventServer } from "../../support/servers/event-server.ts";
import { Inbox } from "../../support/inbox.ts";
import { freePort } from "../../support/servers/listen.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { linkPackage } from "../../support/environments/installed-example.ts";
import { packedInto } from "../../support/environments/packed-package.ts";
import { packageName } from "../../../src/version.ts";

const execute = promisify(execFile);

const config = {
  client: { users: { enabled: true } },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      presence: true,
      history_size: 300,
      history_ttl: "1m",
      force_recovery: true,
      allowed_delta_types: ["fossil"],
    },
    namespaces: [
      {
        name: "board",
        subscription_type: "map",
        allow_subscribe_for_client: true,
        map: { mode: "recoverable", key_ttl: "10m", min_page_size: 1 },
      },
    ],
  },
};

/** The package as npm packs it, in a folder of an application with nothing else. */
class InstalledPackage {
  readonly folder: string;

  static async install(): Promise<InstalledPackage> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
    const archive = await packedInto(folder);
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, ".bin"), { recursive: true });
    await execute("tar", ["xzf", join(folder, archive), "-C", modules]);
    renameSync(join(modules, "package"), join(modules, packageName));
    symlinkSync(`../${packageName}/dist/dormouse.js`, join(modules, ".bin", "dormouse"));
    const lines = Object.entries(testSecrets).map(([name, value]) => `${name}="${value}"\n`);
    writeFileSync(join(folder, ".dev.vars"), lines.join(""));
    return new InstalledPackage(folder);
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Starts a command. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams {
    return spawn(join(this.folder, "node_modules", ".bin", "dormouse"), args, {
      cwd: this.folder,
      env: { ...process.env, DORMOUSE_URL: server.address },
    });
  }

  /** Runs a command to its end. */
  async run(
    args: readonly string[],
    input = "",
  ): Promise<{ readonly code: number; readonly printed: string; readonly noted: string }> {
    const running = this.start(args);
    const code = new Promise<number>((resolve) => {
      running.once("close", (status) => resolve(status ?? -1));
    });
    running.stdin.end(input);
    const [printed, noted] = await Promise.all([textOf(running.stdout), textOf(running.stderr)]);
    return { code: await code, printed: printed.trimEnd(), noted: noted.trimEnd() };
  }

  /** Runs a command that must succeed, and gives what it prints. */
  async printed(args: readonly string[], input = ""): Promise<string> {
    const { code, printed, noted } = await this.run(args, input);
    if (code !== 0 || noted !== "") throw new Error(`it ended with ${code}, and printed: ${noted}`);
    return printed;
  }
}

/** A command that prints what it hears, while it runs. */
class Listening {
  readonly lines = new Inbox<string>();
  readonly ended: Promise<number>;

  constructor(test: TestContext, args: readonly string[], command: readonly string[] = ["listen"]) {
    const running = installed.start([...command, ...args]);
    test.onTestFinished(() => void running.kill());
    for (const stream of [running.stdout, running.stderr])
      createInterface(stream).on("line", (line) => this.lines.push(line));
    this.ended = new Promise((resolve) => {
      running.once("close", (code) => resolve(code ?? -1));
    });
  }
}

let backend: EventServer;
let server: TestServer;
let installed: InstalledPackage;

beforeAll(async () => {
  const secrets = { ...testSecrets, HOOK_SIGNING_SECRET: "hook-signing-secret-of-tests" };
  backend = await EventServer.start(secrets.HOOK_SIGNING_SECRET);
  const events = { target: backend.url, types: ["publication"] };
  [server, installed] = await Promise.all([
    TestServer.start({ config: { ...config, events }, secrets }),
    InstalledPackage.install(),
  ]);
}, 300_000);
afterAll(async () => {
  rmSync(installed.folder, { recursive: true });
  await server.close();
  await backend.close();
});

function npx(...args: readonly string[]): string {
  return execFileSync("npx", ["dormouse", ...args], { cwd: installed.folder, encoding: "utf8" });
}

/** A payload of which a delta changes little. */
function payload(text: string): string {
  return JSON.stringify({ text, rest: "x".repeat(200) });
}

describe("the installed package", () => {
  it("[A8] runs by npx without any other package", () => {
    expect(npx("--help")).toContain("Usage: dormouse");
    const file = join("node_modules", packageName, "wrangler.toml");
    expect(npx("check", file)).toContain("the configuration is valid");
  });

  it("[A7] migrates a configuration into files of which one is for its owner alone", async () => {
    const source = { api_key: "hunter2hunter2hunter2", history_size: 1, history_ttl: "1m" };
    writeFileSync(join(installed.folder, "config.json"), JSON.stringify(source));
    const printed = await installed.printed(["migrate", "config.json"]);
    expect(printed).not.toContain("hunter2");
    expect(statSync(join(installed.folder, ".dev.vars.migrated")).mode & 0o777).toBe(0o600);
    expect(await installed.printed(["check"])).toContain(
      "wrangler.jsonc: the configuration is valid",
    );
    const again = await installed.run(["migrate", "config.json"]);
    expect([again.code, again.noted]).toEqual([
      2,
      "wrangler.jsonc exists: use --force to replace it, or --out",
    ]);
    rmSync(join(installed.folder, "wrangler.jsonc"));
  });
});

describe("a project that dormouse init lays out in an empty folder", () => {
  it("[A8] serves with npm start, with the packages that it and dormouse depend on and no other", async (test) => {
    const folder = join(installed.folder, "chat");
    mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
    const linked = new LinkedPackages(folder);
    linked.copyDormouse(installed.folder);
    const port = String(await freePort());
    const environment = {
      ...process.env,
      PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      DORMOUSE_URL: `http://localhost:${port}`,
    };
    const options = { cwd: folder, env: environment, encoding: "utf8" } as const;
    const laidOut = execFileSync("npx", ["dormouse", "init"], options);
    expect(laidOut).toMatch(/Next:\n {2}npm install\n {2}npm start\n/);

    expect(packageOf(folder).dependencies).toEqual({ [packageName]: expect.any(String) });
    linked.install();
    const detached = { ...options, detached: true, stdio: "ignore" } as const;
    const started = spawn("npm", ["start", "--", "--port", port], detached);
    test.onTestFinished(async () => {
      const ended = once(started, "close");
      if (started.pid !== undefined) process.kill(-started.pid, "SIGINT");
      await ended;
    });
    while (!(await isServing(environment.DORMOUSE_URL))) {
      if (started.exitCode !== null) throw new Error("npm start has ended");
      await pause(100);
    }
    // As init says: in another terminal.
    const listening = spawn("npx", ["dormouse", "listen", "news", "--count", "1"], options);
    const lines = new Inbox<string>();
    createInterface(listening.stdout).on("line", (line) => lines.push(line));
    await lines.first((line) => line === "subscribed to news");
    execFileSync("npx", ["dormouse", "publish", "news", '{"text":"hello"}'], options);
    expect(await lines.first((line) => line.startsWith("news 1"))).toBe('news 1 {"text":"hello"}');
    // Its password is in .dev.vars (rule N1).
    const page = await fetch(`${environment.DORMOUSE_URL}/console/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("console.js")]);
  });
});

/** The packages of a project, which are links to those of this repository: nothing is downloaded. */
class LinkedPackages {
  readonly #project: string;
  readonly #modules: string;

  constructor(project: string) {
    this.#project = project;
    this.#modules = join(project, "node_modules");
  }

  /** Installs dormouse as it is packed, without what it depends on. */
  copyDormouse(from: string): void {
    cpSync(join(from, "node_modules", packageName), join(this.#modules, packageName), {
      recursive: true,
    });
    symlinkSync(`../${packageName}/dist/dormouse.js`, join(this.#modules, ".bin", "dormouse"));
  }

  /** As `npm install`: what the project's package.json names, and what dormouse's own one does, with its peers. */
  install(): void {
    const files = [this.#project, join(this.#modules, packageName)];
    const [project, dormouse] = files.map((path) => packageOf(path));
    const { peerDependencies = {}, peerDependenciesMeta = {} } = dormouse ?? {};
    const peers = Object.keys(peerDependencies).filter(
      (name) => peerDependenciesMeta[name]?.optional !== true,
    );
    const named = Object.keys({ ...project?.devDependencies, ...dormouse?.dependencies });
    for (const name of [...named, ...peers]) linkPackage(this.#project, name);
    symlinkSync("../wrangler/bin/wrangler.js", join(this.#modules, ".bin", "wrangler"));
  }
}

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

function packageOf(folder: string): PackageFile {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

async function isServing(address: string): Promise<boolean> {
  try {
    return (await fetch(`${address}/health`)).ok;
  } catch {
    return false;
  }
}

describe("dormouse", () => {
  it("[H1] publishes, and reads the history", async () => {
    const first = await installed.printed(["publish", "log", '{"a":1}', "--tag", "kind=x"]);
    const [, epoch = ""] = /^log 1:(\S+)$/.exec(first) ?? [];
    const lines = Array.from({ length: 250 }, (_, index) => `{"n":${index}}`).join("\n");
    const { printed, noted } = await installed.run(["publish", "log", "--lines"], lines);
    expect([printed, noted]).toEqual([`log 251:${epoch}`, "250 of 250 published"]);
    const all = (await installed.printed(["history", "log", "--limit", "-1"])).split("\n");
    expect([all.length, all[0], all.at(-1)]).toEqual([
      252,
      '1 {"a":1} {"kind":"x"}',
      `top 251:${epoch}`,
    ]);
    const since = ["history", "log", "--since", `250:${epoch}`, "--json"];
    expect(JSON.parse(await installed.printed(since))).toMatchObject({
      publications: [{ offset: 251, data: { n: 249 } }],
    });
    const spread = await installed.run(["publish", "a", "1", "--also-to", "unknown:b", "c"]);
    expect(spread.code).toBe(1);
    expect(spread.printed).toMatch(/^a 1:\S+\nunknown:b refused: 102 unknown channel\nc 1:\S+$/);
  });

  it("[D1] listens, with offsets, deltas and what was missed", async (test) => {
    const [, epoch = ""] =
      /:(\S+)$/.exec(await installed.printed(["publish", "news", payload("missed"), "--delta"])) ??
      [];
    const { lines, ended } = new Listening(test, [
      "news",
      "--delta",
      "--since",
      `0:${epoch}`,
      "--count",
      "2",
    ]);
    await lines.first((line) => line === "subscribed to news, and recovered");
    expect(await lines.first((line) => line.startsWith("news 1"))).toBe(
      `news 1 ${payload("missed")}`,
    );
    await installed.printed(["publish", "news", payload("changed"), "--delta"]);
    const second = await lines.first((line) => line.startsWith("news 2"));
    expect(second).toMatch(/^news 2 \{"text":"changed".* \(delta: \d\d of 22\d bytes\)$/);
    expect(await ended).toBe(0);
  });

  it("[Z2] changes a map, reads it, and watches it", async (test) => {
    const first = await installed.printed(["map", "set", "board:7", "a", '{"n":1}', "--if-new"]);
    const [, epoch = ""] = /^board:7 1:(\S+)$/.exec(first) ?? [];
    await installed.printed(["map", "set", "board:7", "b", "2", "--tag", "kind=x"]);
    const { lines, ended } = new Listening(
      test,
      ["board:7", "--page-size", "1", "--count", "2"],
      ["map", "watch"],
    );
    await lines.first((line) => line === '2 b 2 {"kind":"x"}');
    const again = await installed.run(["map", "set", "board:7", "a", "3", "--if-new"]);
    expect([again.code, again.noted]).toEqual([
      1,
      "nothing was changed: the map has the key, last changed at 1",
    ]);
    await installed.printed(["map", "remove", "board:7", "a", "--if-offset", "1"]);
    await installed.printed(["map", "set", "board:7", "c", "4"]);
    expect(await ended).toBe(0);
    expect(lines.all.slice(1)).toEqual([
      "subscribed to board:7",
      "the map has 2 keys",
      '1 a {"n":1}',
      '2 b 2 {"kind":"x"}',
      "3 a removed",
      "4 c 4",
    ]);
    expect(await installed.printed(["map", "read", "board:7"])).toBe(
      `2 b 2 {"kind":"x"}\n4 c 4\ntop 4:${epoch}, 2 keys`,
    );
    await installed.printed(["map", "clear", "board:7", "--yes"]);
    expect(await installed.printed(["map", "stats", "board:7"])).toBe("0 keys");
  });

  it("[U2] shows where a user is, and ends the user's connections", async (test) => {
    const token = await installed.printed(["token", "ada", "--info", '{"name":"Ada"}']);
    expect(await installed.printed(["token", "--check", "-"], token)).toContain(
      "The server accepts",
    );
    const { lines, ended } = new Listening(test, ["seen", "--token", token]);
    await lines.first((line) => line === "subscribed to seen");
    const [present, stats, connections, gateways] = await Promise.all(
      [["presence", "seen"], ["presence", "seen", "--stats"], ["users", "ada"], ["users"]].map(
        (args) => installed.printed(args),
      ),
    );
    expect(present).toMatch(/^ada +\S+ +\{"name":"Ada"\}/m);
    expect(stats).toBe("connections: 1, users: 1");
    expect(connections).toMatch(/^ada: 1 connection\n[^]*\n {4}seen/);
    expect(gateways).toMatch(/^gateway[^]+ 1 +1 +1$/m);
    expect(await installed.printed(["disconnect", "ada"])).toBe("ada is disconnected");
    expect(await lines.first((line) => line.startsWith("disconnected: 3503"))).toContain("3503");
    expect(await ended).toBe(1);
  });

  it("[Y3] [Y4] [E5] tells why something didn't arrive, how objects are, and what they keep", async (test) => {
    const token = await installed.printed(["token", "grace"]);
    const { lines } = new Listening(test, ["way", "--token", token]);
    await lines.first((line) => line === "subscribed to way");
    const { offset, epoch = "" } =
      /^way (?<offset>\d+):(?<epoch>\S+)$/.exec(await installed.printed(["publish", "way", "7"]))
        ?.groups ?? {};
    await lines.first((line) => line === "way 1 7");
    const [why, inspected, events, refused] = await Promise.all([
      installed.printed(["why", "way", offset ?? "", "--user", "grace"]),
      installed.printed(["inspect", "way"]),
      installed.printed(["events", "channel/way", "--json"]),
      installed.run(["inspect", "--object", "gateway:nowhere/0", "--refusals", "3"]),
    ]);
    expect(why).toMatch(/^published .+ with the key API_KEY, committed \d+ ms later$/m);
    expect(why).toMatch(/^gateway:\S+ +1 +\+\d+ ms, taken +\+\d+ ms +\+\d+ ms to 1$/m);
    expect(why).toMatch(
      /^sent {2}grace {2}\S+ on gateway:\S+\n {2}client .+ handed to its socket/m,
    );
    expect(inspected).toContain(`\ntop          1:${epoch}, `);
    expect(inspected).toMatch(/^gateway:\S+ +1 +1 +0 +0 +0$/m);
    expect(JSON.parse(events)).toMatchObject({
      events: [{ object: "channel/way", type: "publication", offset: 1, epoch, data: 7 }],
    });
    expect([refused.code, refused.printed]).toEqual([1, ""]);
    expect(refused.noted).toMatch(/^the server answers 107: bad request \(object must be a node/);
  });

  it("[A14] exits with 1 when the server refuses, and says why", async () => {
    const unknown = await installed.run(["publish", "unknown:news", "1"]);
    expect(unknown.code).toBe(1);
    expect(unknown.noted).toMatch(/^the server answers 102: unknown channel/);
    writeFileSync(join(installed.folder, "other"), "API_KEY=hunter2\n");
    const refused = await installed.run(["presence", "news", "--secrets", "other", "--json"]);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.noted)).toEqual({
      error: "the server refuses the key: API_KEY is another one there (status 401)",
    });
  });
});
