import { globSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CallFields } from "../../../package/test/call-fields.ts";
import { controlCalls } from "../../../package/test/control-calls.ts";
import { startDormouse, testChannel, type TestDormouse } from "../../../package/test/index.ts";
import type { TestClient } from "../../../package/test/test-client.ts";
import { kitConfig } from "./kit-config.ts";

let rt: TestDormouse;
let ann: TestClient;
beforeAll(async () => {
  rt = await startDormouse({ config: kitConfig, hooks: { onPublish: () => ({}) } });
  ann = await rt.client({ user: "ann", subscribe: channel });
});
afterAll(() => rt.stop());

const channel = "orders:ann";

/** Carries out a control call, as the server for other languages does. */
async function call(name: string, fields: object): Promise<unknown> {
  const server = { dormouse: rt, clients: new Map([["client-1", ann]]), stop: () => undefined };
  // JSON has no Infinity, but 1e999.
  const body = JSON.stringify(fields).replaceAll("null", "1e999");
  return controlCalls[name]?.(CallFields.parse(name, body), server)();
}

const longest = 2_147_483_647;
const days7300 = 630_720_000;

/** Each number of the kit: what takes it, the first numbers that it doesn't take, and how it says so. */
const numbers: Readonly<
  Record<string, readonly [(value: number) => unknown, readonly number[], string]>
> = {
  "startDormouse withinMs": [
    (withinMs) => startDormouse({ withinMs }),
    [longest + 1, Infinity, Number.NaN, -1],
    `startDormouse: withinMs must be a number from 0 to ${longest}`,
  ],
  "startDormouse port": [
    (port) => startDormouse({ port }),
    [65_536, Infinity, Number.NaN, -1, 80.5],
    "startDormouse: port must be a whole number from 0 to 65535",
  ],
  "token expiresInSeconds": [
    (expiresInSeconds) => rt.token("ann", { expiresInSeconds }),
    [days7300 + 1, Infinity, Number.NaN, -days7300 - 1],
    `token: expiresInSeconds must be a number from -${days7300} to ${days7300}`,
  ],
  "testChannel nowMs": [
    (nowMs) => testChannel({ procedures: { wait: () => 1 } }, { nowMs }),
    [Infinity, Number.NaN, -1, 0.5],
    "testChannel: nowMs must be a whole number from 0 to",
  ],
  "testChannel advance ms": [
    (ms) => testChannel({ procedures: { wait: () => 1 } }).advance(ms),
    [days7300 * 1_000 + 1, Infinity, Number.NaN, -1],
    `advance: ms must be a number from 0 to ${days7300 * 1_000}`,
  ],
  "received count": [
    (count) => ann.received(channel, count),
    [Infinity, Number.NaN, -1, 0.5],
    "received: the number must be a whole one, at least 0",
  ],
  "received withinMs": [
    (withinMs) => ann.received(channel, 0, withinMs),
    [longest + 1, Infinity, Number.NaN, -1],
    `received: withinMs must be a number from 0 to ${longest}`,
  ],
  "lose frames": [
    (frames) => rt.lose(frames),
    [Infinity, Number.NaN, -1, 0.5],
    "lose: the number must be a whole one, at least 0",
  ],
  "late duration": [
    (duration) => rt.late(duration),
    [longest + 1, Infinity, Number.NaN, -1],
    "late: the duration must be",
  ],
  "advance duration": [
    (duration) => rt.advance(duration),
    [days7300 * 1_000 + 1, Infinity, Number.NaN, -1],
    "advance: the duration must be",
  ],
  "call received within_ms": [
    (within) => call("received", { client: "client-1", channel, within_ms: within }),
    [longest + 1, Infinity, -1],
    `received: within_ms must be a number from 0 to ${longest}`,
  ],
  "call received count": [
    (count) => call("received", { client: "client-1", channel, count }),
    [Infinity, -1, 0.5],
    "received: the number must be a whole one, at least 0",
  ],
  "call lose frames": [
    (frames) => call("lose", { frames }),
    [Infinity, -1, 0.5],
    "lose: the number must be a whole one, at least 0",
  ],
  "call late duration": [
    (duration) => call("late", { duration }),
    [longest + 1, Infinity, -1],
    "late: the duration must be",
  ],
  "call advance duration": [
    (duration) => call("advance", { duration }),
    [days7300 * 1_000 + 1, Infinity, -1],
    "advance: the duration must be",
  ],
  ...Object.fromEntries(
    ["client", "token", "subscription_token"].map((name) => [
      `call ${name} expires_in_seconds`,
      [
        (seconds: number) => call(name, { user: "ann", channel, expires_in_seconds: seconds }),
        [days7300 + 1, Infinity, -days7300 - 1],
        `${name}: expires_in_seconds must be a number from -${days7300} to ${days7300}`,
      ] as const,
    ]),
  ),
};

describe("[TK10] a number beyond its bounds, at which a timer would ring at once,", () => {
  const cases = Object.entries(numbers).flatMap(([name, [take, values, says]]) =>
    values.map((value) => ({ name, value, take, says })),
  );

  it.each(cases)("is refused: $name $value", async ({ take, value, says }) => {
    await expect((async () => take(value))()).rejects.toThrow(says);
  });

  it("is the first one: the last before it is taken", async () => {
    await rt.publish(channel, 1);
    await expect(ann.received(channel, 1, longest)).resolves.toEqual([1]);
    expect(rt.token("ann", { expiresInSeconds: days7300 })).toContain(".");
    await expect(call("received", { client: "client-1", channel, within_ms: 0 })).resolves.toEqual({
      data: [1],
    });
  });

  it("is in this table, whatever number the kit takes", () => {
    const text = globSync("package/test/*.ts")
      .map((file) => readFileSync(file, "utf8"))
      .join("");
    const fields = Array.from(
      text.matchAll(/fields\.(?:optionalNumber|number|duration)\(\s*"(\w+)"/g),
      ([, name = ""]) => name,
    );
    const options = Array.from(
      text.matchAll(/readonly (\w+)\?: number;/g),
      ([, name = ""]) => name,
    );
    const parameters = Array.from(
      text.matchAll(
        /^ {2}(?:async )?(?:received|late|lose|advance|cut|evict|client|publish)\(([^{)]*)\)/gm,
      ),
      ([, list = ""]) =>
        Array.from(
          list.matchAll(/(\w+)(?:: number| = \d| = this\.#\w+Ms)/g),
          ([, name = ""]) => name,
        ),
    ).flat();
    expect(fields.length + options.length + parameters.length).toBeGreaterThan(12);
    const tested = new Set(Object.keys(numbers).map((name) => name.split(" ").at(-1)));
    const all = [...fields, ...options, ...parameters];
    expect(all.filter((name) => !tested.has(name))).toEqual([]);
  });
});
