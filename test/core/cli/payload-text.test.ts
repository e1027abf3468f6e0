import { createServer } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { listen } from "../../support/servers/listen.ts";
import { recordedShell } from "./recorded-shell.ts";

/** Runs a command line against a server that answers every call with a text. */
async function runWith(answer: string, args: readonly string[], input = "") {
  const bodies: Promise<string>[] = [];
  const server = createServer((request, response) => {
    bodies.push(textOf(request));
    response.end(answer);
  });
  onTestFinished(() => void server.close());
  const environment = {
    API_KEY: "a-key",
    DORMOUSE_URL: `http://127.0.0.1:${await listen(server)}`,
  };
  const ran = await recordedShell()(args, { environment, input });
  return { ...ran, bodies: await Promise.all(bodies) };
}

const numbers = '{"n":[9007199254740993,1.50,1e400,-0,0.1e1]}';

describe("[N12] the command line", () => {
  it("publishes a payload as it was typed", async () => {
    const answer = '{"result":{"offset":1,"epoch":"e"}}';
    const one = await runWith(answer, ["publish", "news", numbers, "--delta"]);
    expect(one.bodies).toEqual([`{"channel":"news","data":${numbers},"delta":true}`]);
    const spread = await runWith(answer, ["publish", "a", "1.50", "--also-to", "b"]);
    expect(spread.bodies).toEqual(['{"channels":["a","b"],"data":1.50}']);
    const key = await runWith(answer, ["map", "set", "board", "k", "1e400"]);
    expect(key.bodies).toEqual(['{"channel":"board","key":"k","data":1e400}']);
    const lines = await runWith(
      '{"replies":[{"publish":{}},{"publish":{}}]}',
      ["publish", "news", "--lines"],
      `1.50\n${numbers}\n`,
    );
    expect(lines.bodies[0]).toContain(`"data":1.50}}`);
    expect(lines.bodies[0]).toContain(`"data":${numbers}}}`);
  });

  it("shows a payload as it came", async () => {
    const answer = `{"result":{"publications":[{"offset":7,"data":${numbers}}],"offset":7,"epoch":"e"}}`;
    expect((await runWith(answer, ["history", "news"])).printed).toContain(`7 ${numbers}`);
    const asJson = await runWith(answer, ["history", "news", "--json"]);
    expect(asJson.printed).toContain(numbers);
    const state = `{"result":{"entries":[{"offset":7,"key":"k","data":${numbers}}]}}`;
    expect((await runWith(state, ["map", "read", "board"])).printed).toContain(`7 k ${numbers}`);
  });

  it("prints no control character of its arguments", async () => {
    const name = "ada\u001B[2J\u0007\u009B1m\nroot";
    const shown = String.raw`ada\u001b[2J\u0007\u009b1m\u000aroot`;
    const user = await runWith('{"result":{"connections":{}}}', ["users", name]);
    expect(user.printed).toBe(`${shown}: 0 connections`);
    for (const args of [
      ["disconnect", name],
      ["disconnect", name, "--block"],
      ["publish", name, "1"],
      ["map", "clear", name, "--yes"],
      ["map", "set", name, "k", "1"],
    ]) {
      const { code, printed } = await runWith('{"result":{}}', args);
      expect([code, printed.startsWith(shown), printed]).toEqual([0, true, printed]);
    }
    for (const args of [
      ["disconnect", "--json", name],
      ["users", "--json", name],
      [name],
      ["users", `--${name}`],
      ["check", name],
    ]) {
      const { printed, noted } = await runWith('{"result":{"connections":{}}}', args);
      expect(`${printed}${noted}`).not.toMatch(/[^\P{Cc}\n]/u);
    }
  });
});
