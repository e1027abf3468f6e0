import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { parse } from "yaml";
import { parseServeOptions } from "../../../../cli/serve/serve-options.ts";
import { wranglerConfigOf } from "../../../../cli/deployment/wrangler-config.ts";

const folder = "examples/container";

/** The instructions of the Dockerfile, each on one line. */
const dockerfile = readFileSync(`${folder}/Dockerfile`, "utf8").replaceAll(/^#.*\n/gm, "");
const instructions = dockerfile.replaceAll(/\\\n\s*/g, "").split("\n");

/** The arguments of all instructions of a kind. */
function argumentsOf(kind: string): readonly string[] {
  return instructions
    .filter((line) => line.startsWith(`${kind} `))
    .map((line) => line.slice(kind.length + 1));
}

/** The files and folders of the repository that are in the image. */
const copied = argumentsOf("COPY").flatMap((line) => {
  const paths = line.split(" ").filter((word) => !word.startsWith("--"));
  return paths.slice(0, -1);
});

/** The program of the container and its arguments, with the default port. */
const [port = ""] = argumentsOf("EXPOSE");
const shellLine: readonly string[] = JSON.parse(argumentsOf("CMD").at(-1) ?? "[]");
const [, program = "", script = "", ...options] = (shellLine[2] ?? "")
  .replaceAll('"$PORT"', port)
  .split(" ");

const compose: Compose = parse(readFileSync(`${folder}/compose.yaml`, "utf8"));
const caddyfile = readFileSync(`${folder}/Caddyfile`, "utf8");

interface Compose {
  readonly services: Readonly<Record<"dormouse" | "caddy", Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

interface Service {
  readonly build?: Readonly<Record<"context" | "dockerfile", string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
}

/** The mounts of a service: a file of the repository or a named volume, and the path in the container. */
function mountsOf(name: "dormouse" | "caddy"): readonly (readonly [string, string])[] {
  return compose.services[name].volumes.map((mount) => {
    const [source = "", target = ""] = mount.split(":");
    return [source, target] as const;
  });
}

/** Whether the image has a file of the repository. */
function isCopied(file: string): boolean {
  return copied.some((path) => file === path || file.startsWith(`${path}/`));
}

/** Whether Dockerfile.dockerignore lets a path through: the last rule that matches it, or a folder above it, decides. */
function isLetThrough(path: string): boolean {
  const parts = path.split("/");
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  let letThrough = true;
  for (const rule of ignoreRules) {
    const pattern = rule
      .replace("!", "")
      .replaceAll(".", "\\.")
      .replaceAll(/(?<!\*)\*(?!\*)/g, "[^/]*")
      .replace("**/", "(?:.*/)?");
    const shape = new RegExp(`^${pattern}$`);
    if (paths.some((one) => shape.test(one))) letThrough = rule.startsWith("!");
  }
  return letThrough;
}

const ignoreRules = readFileSync(`${folder}/Dockerfile.dockerignore`, "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

/** The files that a file imports by their paths, and theirs, and so on. */
function withImports(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+)";/gm);
  for (const [, path = ""] of imports) {
    const imported = normalize(join(dirname(file), path));
    if (existsSync(imported)) withImports(imported, found);
  }
  return found;
}

describe("[B12] the image of Dockerfile", () => {
  it("copies what there is", () => {
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each(["cli/serve/serve.ts", "workers/edge.ts", "workers/page/console.tsx"])(
    "has every file that %s imports",
    (entry) => {
      const files = [...withImports(entry)];
      expect(files.length).toBeGreaterThan(5);
      expect(files.filter((file) => !isCopied(file))).toEqual([]);
    },
  );

  it("has the package.json of every workspace, without which npm ci fails", () => {
    const { workspaces }: { readonly workspaces: readonly string[] } = JSON.parse(
      readFileSync("package.json", "utf8"),
    );
    expect(copied).toEqual(expect.arrayContaining(workspaces.map((one) => `${one}/package.json`)));
  });

  it("has the assets of wrangler.toml", () => {
    const { assets } = wranglerConfigOf({});
    expect(copied).toContain(assets?.directory);
  });

  it("runs the script of npm run serve, with options that it takes", () => {
    const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
      readFileSync("package.json", "utf8"),
    );
    expect(`node ${script}`).toBe(scripts["serve"]);
    expect(program).toBe("node_modules/.bin/node");
    expect(parseServeOptions(options)).toMatchObject({
      outcome: "options",
      options: { port: Number(port), host: "0.0.0.0", state: "/state" },
    });
  });

  it("is written as those who build it later expect", () => {
    const lines = instructions.filter((line) => line !== "");
    const kinds = "FROM RUN USER WORKDIR COPY ENV EXPOSE VOLUME HEALTHCHECK CMD".split(" ");
    expect(lines.filter((line) => !kinds.includes(line.split(" ")[0] ?? ""))).toEqual([]);
    expect(lines[0]).toMatch(/^FROM \S+:[\w.-]+$/);
    expect(lines[0]).not.toContain(":latest");
    for (const run of argumentsOf("RUN").filter((one) => one.includes("apt-get install")))
      expect(run).toMatch(/update.*--yes --no-install-recommends.*rm -rf \/var\/lib\/apt\/lists/);
    for (const line of argumentsOf("COPY")) expect(line).toMatch(/^--chown=node:node /);
    // With a shell in between, a signal wouldn't reach the server.
    expect(shellLine.slice(0, 2)).toEqual(["sh", "-c"]);
    expect(shellLine[2]).toMatch(/^exec /);
    const [, health = ""] = /CMD (\[.*\])$/.exec(argumentsOf("HEALTHCHECK")[0] ?? "") ?? [];
    expect(JSON.parse(health)).toHaveLength(3);
    // The packages are installed before the sources, so that a change of those reuses them.
    const install = lines.findIndex((line) => line.startsWith("RUN npm ci"));
    expect(lines.findIndex((line) => line.endsWith(" src src"))).toBeGreaterThan(install);
  });

  it("keeps the state in its volume, and isn't run by root", () => {
    expect(argumentsOf("VOLUME")).toEqual(["/state"]);
    expect(argumentsOf("USER")).toEqual(["node"]);
  });

  it("listens on one port unless it is told another", () => {
    expect(argumentsOf("ENV")).toEqual([`PORT=${port}`]);
    expect(argumentsOf("HEALTHCHECK")[0]).toContain("127.0.0.1:${process.env.PORT}/health`");
  });

  it("is built from what Dockerfile.dockerignore lets through, without secrets and state", () => {
    expect(copied.filter((path) => !isLetThrough(path))).toEqual([]);
    const kept = [
      ".env",
      ".dev.vars",
      join("workers/page", ".dev.vars.staging"),
      "examples/chat-rooms/.dev.vars",
    ];
    const others = [".git", ".dormouse", "node_modules", "examples/chat-rooms/server.js"];
    expect([...kept, ...others].filter(isLetThrough)).toEqual([]);
  });
});

describe("[B12] compose.yaml", () => {
  it("builds the image from the repository", () => {
    const { build } = compose.services.dormouse;
    expect(normalize(join(folder, build?.context ?? ""))).toBe(".");
    expect(build?.dockerfile).toBe(`${folder}/Dockerfile`);
  });

  it("mounts files that there are, and volumes that it declares", () => {
    const sources = [...mountsOf("dormouse"), ...mountsOf("caddy")].map(([source]) => source);
    const known = new Set(Object.keys(compose.volumes));
    expect(
      sources.filter((source) => !known.has(source) && !existsSync(join(folder, source))),
    ).toEqual([]);
  });

  it("puts the state into a volume, and the configuration where the server reads it", () => {
    const [workdir = ""] = argumentsOf("WORKDIR");
    expect(mountsOf("dormouse")).toEqual([
      ["state", "/state"],
      ["../../wrangler.toml", `${workdir}/wrangler.toml`],
    ]);
  });

  it("lets clients reach Caddy only, which passes them on to the server's port", () => {
    expect(compose.services.dormouse.ports).toBeUndefined();
    expect(compose.services.caddy.ports).toEqual(["80:80", "443:443"]);
    expect(caddyfile).toContain(`reverse_proxy dormouse:${port} {`);
  });

  it("[B20] has requests whose bodies don't end cut by Caddy when the server would", () => {
    expect(caddyfile).toContain(`read_body ${limits.bodyMs / 1_000}s\n`);
  });

  it("has the address of the client set by Caddy, as docs/self-hosting.md says", () => {
    expect(caddyfile).toContain("header_up X-Real-IP {remote_host}");
    const documentation = readFileSync("docs/self-hosting.md", "utf8");
    expect(documentation).toContain('CLIENT_ADDRESS_HEADER = "X-Real-IP"');
  });
});
