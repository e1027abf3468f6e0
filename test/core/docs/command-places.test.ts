import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { programOf } from "../../../cli/program.ts";
import { packageName } from "../../../src/version.ts";
import { documentedCommands } from "../../support/environments/documented-command.ts";
import { recordedShell, shellOf } from "../cli/recorded-shell.ts";

/** Where a reader types a page's commands: a clone of the repository, a project of `init`, or an example's folder. */
type Place = "clone" | "project" | `examples/${string}`;

/** Where a page's first command is typed. A reader of a page with several is in one of them. */
const places: Readonly<Record<string, readonly Place[]>> = {
  "README.md": ["clone"],
  "CONTRIBUTING.md": ["clone"],
  "docs/README.md": ["clone"],
  "docs/command-line.md": ["clone", "project"],
  "docs/coming-from-centrifugo.md": ["clone"],
  "docs/coming-from-pusher.md": ["clone"],
  "docs/compatibility.md": ["clone", "project"],
  "docs/configuration.md": ["clone", "project"],
  "docs/console.md": ["clone", "project"],
  "docs/ai-chat.md": ["clone"],
  "docs/cursors.md": ["clone", "project"],
  "docs/deploy.md": ["project"],
  "docs/directory.md": ["clone", "project"],
  "docs/embedding.md": ["examples/own-worker"],
  "docs/events.md": ["clone", "project"],
  "docs/frameworks.md": ["clone"],
  "docs/guarantees.md": ["clone"],
  "docs/hooks.md": ["clone", "project"],
  "docs/http-api.md": ["clone", "project"],
  "docs/logs.md": ["clone", "project"],
  "docs/maps.md": ["clone", "project"],
  "docs/messagepack.md": ["clone", "project"],
  "docs/metrics.md": ["clone", "project"],
  "docs/openapi.md": ["clone"],
  "docs/outbox.md": ["clone", "project"],
  "docs/performance.md": ["clone"],
  "docs/placement.md": ["clone", "project"],
  "docs/procedures.md": ["clone", "project"],
  "docs/protocol.md": ["clone", "project"],
  "docs/queue.md": ["clone", "project"],
  "docs/react.md": ["examples/template"],
  "docs/runbook.md": ["clone", "project"],
  "docs/self-hosting.md": ["clone"],
  "docs/several-machines.md": ["clone"],
  "docs/shared-poll.md": ["clone", "project"],
  "docs/tokens.md": ["clone", "project"],
  "docs/transports.md": ["clone", "project"],
  "docs/troubleshooting.md": ["project"],
  "docs/tutorial-chat.md": ["clone"],
  "docs/users.md": ["clone", "project"],
  "docs/why.md": ["clone", "project"],
  "examples/ai-answer/README.md": ["clone"],
  "examples/ai-chat/README.md": ["examples/ai-chat"],
  "examples/auction/README.md": ["clone"],
  "examples/chat-rooms/README.md": ["clone"],
  "examples/inbox/README.md": ["clone"],
  "examples/own-worker/README.md": ["examples/own-worker"],
  "examples/shared-board/README.md": ["clone"],
  "examples/template/README.md": ["examples/template"],
};

/** Scripts that only a clone has, and that pages name for readers in either place. */
const cloneOnly: Readonly<Record<string, string>> = {
  serve: "one hosts oneself from a clone",
  prove: "the proof is in the repository only",
  simulate: "the simulator is in the repository only",
  "try-frameworks": "the projects are in the repository only",
  bench: "the benchmarks are in the repository only",
  "bench:chats": "the benchmarks are in the repository only",
  build: "a package that is installed is built",
};

/** Commands in sentences that say themselves where they work, with the words. */
const saidThere: Readonly<Record<string, string>> = {
  "docs/command-line.md npx dormouse": "in a project that has the package",
};

/** Programs that need no project. */
const anywhere: ReadonlySet<string> = new Set([
  "cat",
  "composer",
  "cp",
  "curl",
  "docker",
  "echo",
  "export",
  "git",
  "openapi-python-client",
  "openssl",
  "php",
  "pip",
  "psql",
  "python3",
  "set",
  "umask",
]);

/** Files that a command before it on the page makes, or that are the reader's own. */
const readersFiles: readonly RegExp[] = [
  /^(?:\.\/)?\.(?:env|dev\.vars)/,
  /^(?:config\.json|config\/reverb\.php|soketi\.json|compose\.yaml|centrifugo\.\w+|wrangler\.jsonc|private\.pem|events\.jsonl)$/,
  /^chat\/|\/\.venv\b/,
  /^FILE$/,
];

const scriptsOf = new Map<Place, ReadonlySet<string>>();
const binsOf = new Map<Place, ReadonlySet<string>>();
const foldersOf = new Map<Place, string>();
let commandNames: ReadonlySet<string>;

interface Package {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function packageIn(folder: string): Package {
  const parsed: Package = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return parsed;
}

/** The programs that `npx` finds where these packages are installed. */
function binsOfPackage({ dependencies, devDependencies }: Package): ReadonlySet<string> {
  const names = Object.keys({ ...dependencies, ...devDependencies });
  return new Set(
    names.flatMap((name) => {
      const folder = name === packageName ? "." : join("node_modules", name);
      // What an example alone needs isn't installed here, and has no program that a page names.
      if (!existsSync(folder)) return [];
      const { bin = {} } = packageIn(folder);
      return typeof bin === "string" ? [name] : Object.keys(bin);
    }),
  );
}

beforeAll(async () => {
  const made = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  await recordedShell({}, made)(["init", "realtime"]);
  foldersOf.set("clone", ".").set("project", join(made, "realtime"));
  for (const name of ["ai-chat", "own-worker", "template"])
    foldersOf.set(`examples/${name}`, join("examples", name));
  for (const [place, folder] of foldersOf) {
    const content = packageIn(folder);
    scriptsOf.set(place, new Set(Object.keys(content.scripts ?? {})));
    binsOf.set(place, binsOfPackage(content));
  }
  const program = programOf(shellOf(made).shell);
  commandNames = new Set(program.commands.map((command) => command.name()));
  return () => rmSync(made, { recursive: true });
});

/** A command line of a page, at the place where it is typed. */
interface Typed {
  readonly at: string;
  readonly text: string;
  readonly places: readonly Place[];
}

const pages = ["README.md", "CONTRIBUTING.md", ...globSync(["docs/*.md", "examples/*/README.md"])];
const shells = ["", "sh", "bash", "shell", "console"];

/** The commands of blocks, each where the ones before it have led, and those in sentences. */
function typedCommands(): readonly Typed[] {
  const { commands } = documentedCommands(pages.toSorted(), shells);
  const typed: Typed[] = [];
  let [page, here, made]: [string, readonly Place[], string | undefined] = ["", [], undefined];
  for (const { page: of, line, text } of commands) {
    if (of !== page) [page, here, made] = [of, places[of] ?? [], undefined];
    for (const part of partsOf(text)) {
      const folder = /^cd (?:\.\.\/)?(\S+)$/.exec(part)?.[1];
      if (folder !== undefined && folder === made) here = ["project"];
      if (part === "npm ci") here = ["clone"];
      typed.push({ at: `${of}:${line}`, text: part, places: here });
      made =
        /\b(?:dormouse|dormouse-realtime|dormouse --) init (?:\.\.\/)?(\w+)$/.exec(part)?.[1] ??
        made;
    }
  }
  return [...typed, ...pages.flatMap(spokenCommands)];
}

function spokenCommands(page: string): readonly Typed[] {
  const lines = readFileSync(page, "utf8").split("\n");
  return lines.flatMap((line, at) =>
    // What a page says of itself is for those who change it.
    line.startsWith("<!--")
      ? []
      : Array.from(line.matchAll(/`((?:npm (?:run|start|test)|npx )[^`]*)`/g), ([, text = ""]) => ({
          at: `${page}:${at + 1}`,
          text: text.trim(),
          places: places[page] ?? [],
        })),
  );
}

/** The single commands of a line, without variables before them and what they are redirected to. */
function partsOf(text: string): readonly string[] {
  return text
    .replaceAll(/"\$\((.*?)\)"/g, "VALUE")
    .split(/ && | \| |; /)
    .map((part) => part.replace(/^(?:[A-Z_]+=\S+ )+/, "").replace(/ >>? \S+$/, ""));
}

/** What is wrong with a command at its place; undefined if nothing is. */
function faultOf({ at, text, places: typedAt }: Typed): string | undefined {
  if (typedAt.length === 0) return "no row of this test says where it is typed";
  if (saidThere[`${at.replace(/:\d+$/, "")} ${text}`] !== undefined) return undefined;
  const words = text.split(/\s+/);
  const [program = "", ...rest] = words;
  const faults = typedAt.map((place) => programFault(place, program, rest));
  return faults.find((fault) => fault !== undefined) ?? fileFault(words, typedAt);
}

function programFault(place: Place, program: string, rest: readonly string[]): string | undefined {
  switch (program) {
    case "npm":
      return npmFault(place, rest);
    case "npx":
      return npxFault(place, rest);
    case "dormouse":
      return commandFault(rest);
    case "cd":
      return undefined;
    case "node":
    case ".":
      return undefined; // Their files are looked at.
    default: {
      const isKnown = anywhere.has(program) || program.includes("/.venv/bin/");
      return isKnown ? undefined : `nobody says what ${program} is`;
    }
  }
}

function npmFault(place: Place, rest: readonly string[]): string | undefined {
  const [verb = "", ...more] = rest;
  if (["ci", "install"].includes(verb)) return undefined;
  const named = more.filter((word) => !word.startsWith("--"));
  const script = verb === "run" ? (named[0] ?? "") : verb;
  const workspace = /--workspace (\S+)/.exec(rest.join(" "))?.[1];
  const has =
    workspace === undefined
      ? scriptsOf.get(place)?.has(script)
      : packageIn(join("examples", workspace)).scripts?.[script] !== undefined;
  if (has === true) return script === "dormouse" ? commandFault(named.slice(1)) : undefined;
  if (cloneOnly[script] !== undefined && scriptsOf.get("clone")?.has(script) === true)
    return undefined;
  return `the package.json of the ${place} has no script ${script}`;
}

function npxFault(place: Place, [program = "", ...rest]: readonly string[]): string | undefined {
  // npx downloads a package of this name, and runs its only program.
  if (program === packageName) return commandFault(rest);
  if (binsOf.get(place)?.has(program) !== true) return `npx finds no ${program} in the ${place}`;
  return program === "dormouse" ? commandFault(rest) : undefined;
}

/** Whether `dormouse` has the command; a sentence may name the program alone. */
function commandFault([name]: readonly string[]): string | undefined {
  const isOne = name === undefined || name === "COMMAND" || name.startsWith("-");
  return isOne || commandNames.has(name) ? undefined : `dormouse has no command ${name}`;
}

/** The first file that a command names and that isn't there. */
function fileFault(words: readonly string[], typedAt: readonly Place[]): string | undefined {
  const named = words.filter((word, at) => {
    const before = words[at - 1] ?? "";
    const isOption = /^(?:-c|-r|-f|--(?:config|file|secrets-file|env-file|path|key))$/.test(before);
    const isMade = words[0] === "cp" && at === words.length - 1;
    const isArgument = /^(?:cp|cat|node|\.)$/.test(words[0] ?? "") && at > 0;
    const isFile = /^[\w.-]+(?:\/[\w.*-]+)+$/.test(word) && /\.\w+$/.test(word);
    return (
      !isMade && (isOption || isArgument || isFile) && /[./]/.test(word) && !word.startsWith("-")
    );
  });
  const missing = named.find(
    (word) =>
      !/^[@/$]|:\/\//.test(word) &&
      !readersFiles.some((own) => own.test(word)) &&
      !typedAt.every((place) => isThere(join(foldersOf.get(place) ?? "", word))),
  );
  return missing === undefined ? undefined : `there is no file ${missing}`;
}

function isThere(path: string): boolean {
  return path.includes("*") ? globSync(path).length > 0 : existsSync(path);
}

describe("[A10] a command of a page works where the page's reader is", () => {
  const typed = typedCommands();

  it("is each command of blocks, and of sentences", () => {
    expect(typed.length).toBeGreaterThan(300);
    for (const [command, words] of Object.entries(saidThere)) {
      const [page = ""] = command.split(" ");
      expect(readFileSync(page, "utf8").replaceAll("\n", " ")).toContain(words);
    }
    const named = new Set(typed.map(({ at }) => at.replace(/:\d+$/, "")));
    expect(Object.keys(places).filter((page) => !named.has(page))).toEqual([]);
  });

  it("has its script, its program and its files there", () => {
    const faults = typed.flatMap((one) => {
      const fault = faultOf(one);
      return fault === undefined ? [] : [`${one.at} ${one.text}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  it("is run by the test that the reason for not running it names", () => {
    const text = readFileSync("test/clients/programs/documented-commands.test.ts", "utf8");
    const reasons = Array.from(text.matchAll(/reason: "([^"]+)"/g), ([, reason = ""]) => reason);
    const named = reasons.flatMap((reason) => reason.match(/[\w-]+\.test\.ts/g) ?? []);
    expect(named.length).toBeGreaterThan(5);
    const there = new Set(globSync("test/**/*.test.ts").map((file) => basename(file)));
    expect(named.filter((name) => !there.has(name))).toEqual([]);
  });
});
