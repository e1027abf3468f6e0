import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { bashScript, zshScript } from "../../../cli/commands/completion.ts";
import { programOf } from "../../../cli/program.ts";
import { table } from "../../../cli/text/table.ts";
import { listen } from "../../support/servers/listen.ts";
import { recordedShell } from "./recorded-shell.ts";

const program = programOf({
  environment: {},
  folder: ".",
  isTerminal: false,
  print: () => undefined,
  progress: () => undefined,
  note: () => undefined,
  input: () => Promise.resolve(""),
  inputPieces: async function* none() {
    // Nobody reads it.
  },
  ask: () => Promise.resolve(undefined),
  nowMs: () => 0,
});
const documentation = readFileSync("docs/command-line.md", "utf8");
const names = program.commands.map((command) => command.name());
const actions = program.commands
  .filter((command) => command.name() === "map")
  .flatMap(({ commands }) => commands.map((command) => command.name()));

describe("dormouse", () => {
  it.each(names)("shows examples of %s", async (name) => {
    const { code, printed } = await recordedShell()([name, "--help"]);
    expect(code).toBe(0);
    expect(printed).toMatch(new RegExp(`^Examples:\n  dormouse ${name}`, "m"));
  });

  it.each(names)("has %s in docs/command-line.md", (name) => {
    expect(documentation).toMatch(new RegExp(`^## (?:.+ and )?${name}(?: and .+)?$`, "m"));
    expect(documentation).toContain(`\`${name}\``);
  });

  it.each(actions)(
    "shows examples of map %s, and tells of it in docs/command-line.md",
    async (name) => {
      const { code, printed } = await recordedShell()(["map", name, "--help"]);
      expect(code).toBe(0);
      expect(printed).toMatch(new RegExp(`^Examples:\n  dormouse map ${name}`, "m"));
      expect(documentation).toContain(`dormouse map ${name} `);
    },
  );

  it("exits with 2 for a wrong command line, and names the nearest command", async () => {
    const run = recordedShell();
    expect((await run([])).code).toBe(2);
    const { code, noted } = await run(["histroy", "news"]);
    expect(code).toBe(2);
    expect(noted).toContain("Did you mean history?");
    expect((await run(["history"])).code).toBe(2);
    expect((await run(["--version"])).code).toBe(0);
  });

  it("exits with 3 if the server can't be reached", async () => {
    const environment = { API_KEY: "a-key" };
    const args = ["history", "news", "--url", "http://127.0.0.1:9", "--json"];
    const { code, noted } = await recordedShell()(args, { environment });
    expect(code).toBe(3);
    expect(JSON.parse(noted).error).toMatch(/^http:\/\/127\.0\.0\.1:9 can't be reached: /);
  });

  it.each([
    ["http://dormouse.example.com", "without TLS"],
    ["https://user:hunter2@dormouse.example.com", "without a user or a password"],
    ["dormouse.example.com", "takes an address"],
  ])("[A7] doesn't send its key to %s", async (url, reason) => {
    const environment = { API_KEY: "a-key", DORMOUSE_URL: url };
    const { code, noted } = await recordedShell()(["presence", "news"], { environment });
    expect(code).toBe(2);
    expect(noted).toContain(reason);
    expect(noted).not.toContain("hunter2");
  });

  it("[A7] follows no redirect with its key", async (test) => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(307, { Location: "/elsewhere" }).end();
    });
    test.onTestFinished(() => void server.close());
    const DORMOUSE_URL = `http://127.0.0.1:${await listen(server)}`;
    const environment = { API_KEY: "a-key", DORMOUSE_URL };
    const { code, noted } = await recordedShell()(["presence", "news"], { environment });
    expect([code, noted]).toEqual([1, "the server answers with status 307"]);
    expect(asked).toEqual(["/api/presence"]);
  });

  it("[A7] lets no text of a client control the terminal", async (test) => {
    const presence = { c1: { client: "c1", user: "\u001B[2Jada\u009B1m", conn_info: "\u009B" } };
    const server = createServer((_, response) => {
      response.end(JSON.stringify({ result: { presence } }));
    });
    test.onTestFinished(() => void server.close());
    const DORMOUSE_URL = `http://127.0.0.1:${await listen(server)}`;
    const environment = { API_KEY: "a-key", DORMOUSE_URL };
    const run = recordedShell();
    const { printed } = await run(["presence", "news"], { environment });
    expect(printed).toContain(String.raw`\u001b[2Jada\u009b1m`);
    expect(printed).not.toMatch(/[^\P{Cc}\n]/u);
    const json = await run(["presence", "news", "--json"], { environment });
    expect(json.printed).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(json.printed)).toEqual({ presence });
  });

  it("takes a secret from the environment rather than from .dev.vars", async () => {
    const run = recordedShell({ ".dev.vars": "TOKEN_HMAC_SECRET_KEY=of-the-file\n" });
    const environment = { TOKEN_HMAC_SECRET_KEY: "of-the-environment" };
    const { printed: input } = await run(["token", "ada"], { environment });
    expect((await run(["token", "--check", "-"], { environment, input })).code).toBe(0);
    expect((await run(["token", "--check", "-"], { input })).code).toBe(1);
  });

  it("knows what to refuse before it calls the server", async () => {
    const run = recordedShell({ ".dev.vars": "API_KEY=a-key\n" });
    const refused = async (...args: readonly string[]) => (await run(args)).noted;
    expect(await refused("publish", "news", "{a")).toContain("isn't JSON");
    expect(await refused("publish", "news")).toContain("payload is missing");
    expect(await refused("publish", "news", "--file", "none")).toMatch(
      /none can't be used: it doesn't/,
    );
    expect(await refused("token", "ada", "--claim", "plan=gold")).toContain(
      "--claim takes NAME=JSON",
    );
    expect(await refused("publish", "news", "--lines", "--key", "k")).toContain("--key");
    expect(await refused("disconnect")).toContain("name the user");
    expect(await refused("disconnect", "ada", "--block", "--code", "4000")).toContain("--block");
    expect(await refused("disconnect", "ada", "--for", "1h")).toContain("--for needs --block");
    expect(await refused("history", "news", "--since", "x")).toContain("OFFSET:EPOCH");
    expect(await refused("map", "set", "board:7", "a", "{x")).toContain("isn't JSON");
    expect(await refused("map", "set", "board:7", "a", "1", "--if-new", "--if-exists")).toContain(
      "exclude each other",
    );
    expect(await refused("map", "put", "board:7")).toContain("unknown command 'put'");
  });
});

/** The words that bash offers for the last word of a command line. */
function complete(...words: readonly string[]): string {
  const script = `${bashScript(program)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dormouse; echo "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8" }).trim();
}

describe("the completion", () => {
  it("of bash completes commands, options and choices", () => {
    expect(complete("dormouse", "pr")).toBe("presence prove");
    expect(complete("dormouse", "history", "--re")).toBe("--reverse --remove");
    expect(complete("dormouse", "wh")).toBe("why");
    expect(complete("dormouse", "inspect", "--re")).toBe("--refusals");
    expect(complete("dormouse", "events", "--si")).toBe("--since");
    expect(complete("dormouse", "cost", "--sockets", "g")).toBe("gateway");
    expect(complete("dormouse", "completion", "")).toBe("bash zsh");
    expect(complete("dormouse", "map", "re")).toBe("read remove");
    expect(complete("dormouse", "map", "set", "--if")).toBe("--if-new --if-exists --if-offset");
    expect(complete("dormouse", "map", "clear", "--y")).toBe("--yes");
  });

  it("of zsh has each command with its options and choices", () => {
    const script = zshScript(program);
    for (const name of names) expect(script).toContain(`\n      ${name})\n`);
    expect(script).toContain("'history:print the publications that a channel keeps'");
    expect(script).toContain("'clear:remove all keys of a map at once'");
    expect(script).toMatch(/\n {10}remove\)\n {10}_arguments \\\n {12}'\*--if-offset\[/);
    expect(script).toContain("]:value:(gateway channel)'");
    expect(script).toContain("the user'\\''s");
  });
});

it("a table aligns numbers at the right, and ignores colours", () => {
  expect(
    table(
      [
        ["a", "bb"],
        ["\u001B[1mccc\u001B[0m", "1"],
      ],
      [1],
    ),
  ).toBe("a    bb\n\u001B[1mccc\u001B[0m   1");
});
