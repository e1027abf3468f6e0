import { describe, expect, it } from "vitest";
import { outboxLimits } from "../../../../cli/outbox/limits.ts";
import {
  keyedMethods,
  type OutboxRow,
  parseRow,
  requestsOf,
  type RowCommand,
} from "../../../../cli/outbox/row-command.ts";
import { limits } from "../../../../src/limits.ts";

const table = "app.centrifugo_outbox";
const key = "outbox:e8b3d5a1b9a1:7:1795348800000000";

function row(changes: Partial<OutboxRow> = {}): OutboxRow {
  const payload = `{"channel":"news","data":1.50}`;
  const made = { id: "7", method: "publish", payload, createdAt: "1795348800000000" };
  return { bytes: 30, ...made, ...changes };
}

/** The request of a row. */
function bodyOf(changes: Partial<OutboxRow>, place = table): string {
  const parsed = parseRow(row(changes), place);
  if (parsed.outcome === "refused") throw new Error(parsed.reason);
  return parsed.command.body;
}

/** The key that a row gets. */
function keyOf(changes: Partial<OutboxRow>, place?: string): unknown {
  const body: { readonly idempotency_key?: string } = JSON.parse(bodyOf(changes, place));
  return body.idempotency_key;
}

describe("[I1] a row of the outbox", () => {
  it("keeps its payload digit by digit, and has a key behind it", () => {
    expect(bodyOf({})).toBe(
      `{"channel":"news","data":1.50,"idempotency_key":"${String(keyOf({}))}"}`,
    );
    expect(keyOf({})).toMatch(/^outbox:[0-9a-f]{12}:7:1795348800000000$/);
  });

  it("has the same key whenever it is sent, and no other row has it", () => {
    expect(keyOf({})).toBe(keyOf({ payload: `{"channel":"other"}` }));
    const others = [
      keyOf({ id: "8" }),
      keyOf({ createdAt: "1795348800000001" }),
      keyOf({}, "app.other_outbox"),
      keyOf({}, "other.centrifugo_outbox"),
    ];
    expect(new Set([keyOf({}), ...others]).size).toBe(5);
    const longest = keyOf({ id: "-9223372036854775808", createdAt: "9223372036854775807" });
    expect(String(longest).length).toBeLessThanOrEqual(limits.idempotencyKeyBytesMax);
  });

  it.each([
    ["its own key", `{"channel":"a","idempotency_key":"mine"}`, "mine"],
    ["an empty key", `{"idempotency_key":"","channel":"a"}`, key],
    ["no key", `{"idempotency_key":null,"channel":"a"}`, key],
  ])("with %s", (_, payload, expected) => {
    const found = String(keyOf({ payload }));
    expect(found.replace(/^outbox:\w+:/, "outbox:e8b3d5a1b9a1:")).toBe(expected);
  });

  it("has a key where the method takes one, and a text that names its place has none", () => {
    expect([...keyedMethods].toSorted()).toEqual([
      "broadcast",
      "call",
      "delete_publication",
      "map_append",
      "map_publish",
      "map_remove",
      "publish",
      "update_publication",
    ]);
    expect(bodyOf({ method: "disconnect", payload: `{"user":"a"}` })).toBe(`{"user":"a"}`);
    const placed = `{"channel":"a","key":"k","text":"b","at":4}`;
    expect(bodyOf({ method: "map_append", payload: placed })).toBe(placed);
    expect(keyOf({ method: "map_append", payload: placed.replace(`,"at":4`, "") })).toBeDefined();
  });

  it("may hold its payload in a text, and none at all, as in Centrifugo", () => {
    expect(keyOf({ payload: JSON.stringify(`{"channel":"a"}`) })).toBeDefined();
    expect(bodyOf({ method: "history_remove", payload: "null" })).toBe("{}");
    expect(Object.keys(JSON.parse(bodyOf({ payload: "{}" })))).toEqual(["idempotency_key"]);
  });

  it.each<[Partial<OutboxRow>, string]>([
    [{ method: "nope" }, "there is no method nope"],
    [{ method: "rpc" }, "there is no method rpc"],
    [{ method: "batch" }, "there is no method batch"],
    [{ method: "toString" }, "there is no method toString"],
    [{ method: "" }, "there is no method "],
    [{ method: "\u001B[2J" }, String.raw`there is no method \u001b[2J`],
    [{ method: "history" }, "history only reads, and nobody gets the answer to a row"],
    [{ method: "events" }, "there is no method events"],
    [{ payload: "[]" }, "the payload is not a JSON object"],
    [{ payload: "7" }, "the payload is not a JSON object"],
    [{ payload: `"text"` }, "the payload is not a JSON object"],
    [{ payload: `"[1]"` }, "the payload is not a JSON object"],
    [
      { payload: undefined, bytes: 10_485_790 },
      `the payload has 10485790 bytes, and at most ${outboxLimits.rowBytesMax} can be sent`,
    ],
  ])("%j is refused before it is sent", (changes, reason) => {
    expect(parseRow(row(changes), table)).toEqual({ outcome: "refused", id: "7", reason });
  });
});

/** The command of a row that is fine. */
function command(id: string, method: string): RowCommand {
  const parsed = parseRow(row({ id, method, payload: `{"channel":"a","user":"b"}` }), table);
  if (parsed.outcome === "refused") throw new Error(parsed.reason);
  return parsed.command;
}

describe("[W3] rows that are sent together", () => {
  it("are neighbours between which the server keeps the order", () => {
    const commands = [
      command("1", "publish"),
      command("2", "broadcast"),
      command("3", "map_publish"),
      command("4", "subscribe"),
      command("5", "disconnect"),
      command("6", "publish"),
      command("7", "update_user_status"),
      command("8", "publish"),
    ];
    const ids = requestsOf(commands).map((request) => request.map(({ id }) => id).join(" "));
    expect(ids).toEqual(["1 2 3", "4 5", "6", "7", "8"]);
    expect(requestsOf([])).toEqual([]);
  });
});
