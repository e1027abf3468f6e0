import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { exampleAddress, type MethodSamples } from "../../../cli/openapi/http-api-page.ts";
import { operationNames } from "../../../src/api/operations.ts";
import { LaravelEnvironment } from "../../support/environments/laravel-environment.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { hasCurl } from "../../support/sockets/curl.ts";

const execute = promisify(execFile);
const page = readFileSync("docs/http-api.md", "utf8");
const php = await LaravelEnvironment.open();
const history = { history_size: 10, history_ttl: "5m" };

/** Everything that a method needs. */
const config = {
  client: { users: { status: { enabled: true } } },
  channel: {
    proxy: { shared_poll_refresh: { endpoint: "https://example.com/refresh" } },
    without_namespace: { ...history, presence: true },
    namespaces: [
      {
        name: "room",
        ...history,
        cursors: { enabled: true, audience: "named" },
        allow_change: true,
        erasable_by_user: true,
      },
      { name: "scores", subscription_type: "map", map: { mode: "persistent" } },
      {
        name: "votes",
        subscription_type: "shared_poll",
        shared_poll: { mode: "versioned", publish_enabled: true },
      },
    ],
  },
};

/** What the program prints for each method. This server has no code to call: examples/auction has. */
const all = operationNames().flatMap((name) => (name === "call" ? [] : ["done"]));

let rt: TestDormouse;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  const SHARED_POLL_HMAC_SECRET_KEY = "a-secret-for-keys-of-shared-polls";
  rt = await startDormouse({ config, secrets: { SHARED_POLL_HMAC_SECRET_KEY } });
  await rt.publish("room:7", 1);
});
afterAll(async () => {
  await rt.stop();
  rmSync(folder, { recursive: true });
});

/** The blocks of the page in a language: first what stands before all of them, then one for each method. */
function blocksIn(language: keyof MethodSamples): readonly string[] {
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"));
  const texts = Array.from(blocks, ([, text = ""]) => text.replaceAll(exampleAddress, rt.url));
  return texts.filter((text) => !text.includes("auction:7"));
}

/** Runs a program of all blocks, each of which prints a line when it is done; gives the lines. */
async function linesOf(
  name: string,
  text: string,
  command: readonly string[],
): Promise<readonly string[]> {
  const file = join(folder, name);
  writeFileSync(file, text);
  const [program = "", ...words] = command;
  const env = { ...process.env, API_KEY: rt.apiKey };
  const { stdout } = await execute(program, [...words, ...(name === "php" ? [] : [file])], { env });
  return stdout.trim().split("\n");
}

it.runIf(hasCurl())("[W1] each method's line of curl has a result", async () => {
  const lines = blocksIn("bash").map((line) => `${line.trim()} --silent --show-error\necho\n`);
  const answers = await linesOf("bash", lines.join(""), ["bash", "-e"]);
  expect(answers).toHaveLength(all.length);
  expect(answers.filter((answer) => !/^\{"result":.*\}$/.test(answer))).toEqual([]);
});

it("[W1] each method's line of Python is carried out", async () => {
  const { interpreter } = await PythonEnvironment.open();
  const [before = "", ...lines] = blocksIn("python");
  expect(
    await linesOf("python", `${before}${lines.join('print("done")\n')}print("done")\n`, [
      interpreter,
    ]),
  ).toEqual(all);
});

it.runIf(php !== undefined)("[W1] each method's line of PHP is carried out", async () => {
  const [before = "", ...lines] = blocksIn("php");
  const text = `<?php\n${before}${lines.map((line) => `${line}echo "done\\n";\n`).join("")}`;
  expect(await linesOf("php", text, php?.run(join(folder, "php")) ?? [])).toEqual(all);
});

it("[W1] each method's line of JavaScript is carried out", async () => {
  const [before = "", ...lines] = blocksIn("js");
  const text = `${before}${lines.map((line) => `${line}console.log("done");\n`).join("")}`;
  expect(await linesOf("samples.mjs", text, [process.execPath])).toEqual(all);
});
