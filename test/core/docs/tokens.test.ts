import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readToken } from "../../../cli/token/token-claims.ts";
import { secondsFromNow, testSecrets } from "../../support/test-tokens.ts";
import { recordedShell } from "../cli/recorded-shell.ts";

const text = readFileSync("docs/tokens.md", "utf8");

/** The recipes that are programs, and that this machine can run without further packages. */
const recipes = [
  { title: "Node.js", language: "js", command: [process.execPath, "--input-type=module", "-e"] },
  { title: "Python", language: "python", command: ["python3", "-c"] },
] as const;

/** The first block of code under a heading of docs/tokens.md. */
function blockOf(title: string, language: string): string {
  const [, section = ""] = text.split(`## ${title}\n`);
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(section)?.[1] ?? "";
}

/** Runs a recipe, and gives the two tokens that it prints. */
async function tokensOf({ title, language, command }: (typeof recipes)[number]) {
  const [program, ...options] = command;
  const environment = { PATH: process.env["PATH"], ...testSecrets };
  const { stdout } = await promisify(execFile)(program, [...options, blockOf(title, language)], {
    env: environment,
  });
  const [connection = "", subscription = "", ...others] = stdout.trim().split("\n");
  expect(others).toEqual([]);
  return { connection, subscription };
}

/** What `dormouse token --check` says of a token; the server's own code decides. */
async function check(token: string): Promise<string> {
  const ran = await recordedShell()(["token", "--check", "-"], {
    environment: testSecrets,
    input: token,
    atMs: Date.now(),
  });
  return ran.printed;
}

describe.each(recipes)("[A2] the recipe of docs/tokens.md for $title", (recipe) => {
  it("signs a connection token that is accepted", async () => {
    const { connection } = await tokensOf(recipe);
    expect(await check(connection)).toContain("The server accepts this connection token.");
    expect(readToken(connection)?.claims).toMatchObject({ sub: "42", info: { name: "Ada" } });
    expectAnHour(connection);
  });

  it("[A4] signs a subscription token that is accepted", async () => {
    const { subscription } = await tokensOf(recipe);
    expect(await check(subscription)).toContain("The server accepts this subscription token.");
    expect(readToken(subscription)?.claims).toMatchObject({ sub: "42", channel: "$team:7" });
    expectAnHour(subscription);
  });
});

/** A minute is for a busy machine. */
function expectAnHour(token: string): void {
  const exp = Number(readToken(token)?.claims["exp"]);
  expect(Math.abs(exp - secondsFromNow(3_600))).toBeLessThan(60);
}
