import { describe, expect, it } from "vitest";
import { parseBatch } from "../../../src/api/batch.ts";
import { entriesOf } from "../../../src/api/command.ts";
import { parseLegacy } from "../../../src/api/legacy.ts";
import { parseEntry } from "../../../src/api/methods.ts";
import { parseBroadcast } from "../../../src/api/publish.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { caller } from "./channel-config.ts";

const backend = caller({ methods: ["publish", "presence"], channels: ["objects:*", "news"] });

/** The refusal of a request by its key. */
function refused(what: string, channel?: string) {
  return {
    outcome: "refused",
    error: errorCodes.permissionDenied,
    detail: `the API key "billing" of http_api.keys doesn't admit ${what}`,
    ...(channel === undefined ? {} : { channel }),
  };
}

describe("a key that doesn't admit everything", () => {
  it("[A14] admits the methods and channels that it names", () => {
    expect(parseEntry("publish", `{"channel":"news","data":1}`, backend)).toMatchObject({
      outcome: "call",
    });
    expect(parseEntry("presence", `{"channel":"objects:1"}`, backend)).toMatchObject({
      outcome: "call",
    });
  });

  it("[A14] refuses another channel with 103, whether it exists or not", () => {
    for (const channel of ["room", "nosuch:1", "json:1"]) {
      const request = JSON.stringify({ channel, data: 1 });
      expect(parseEntry("publish", request, backend)).toStrictEqual(
        refused("the channel", channel),
      );
      expect(parseEntry("presence", request, backend)).toStrictEqual(
        refused("the channel", channel),
      );
    }
  });

  it.each(["history", "history_remove", "presence_stats"] as const)(
    "[A14] refuses the method %s with 103",
    (method) => {
      expect(parseEntry(method, `{"channel":"news"}`, backend)).toStrictEqual(
        refused(`the method ${method}`, "news"),
      );
      expect(parseEntry(method, "{}", backend)).toStrictEqual(refused(`the method ${method}`));
    },
  );

  it("[A32] has to admit all channels to disconnect, and the channel to unsubscribe", () => {
    const order = `{"user":"ada","channel":"news"}`;
    const some = caller({ methods: ["*"], channels: ["news"] });
    expect(parseEntry("disconnect", order, some)).toStrictEqual(
      refused("all channels, as disconnect requires"),
    );
    for (const method of ["refresh", "block_user", "unblock_user", "revoke_token"] as const) {
      expect(parseEntry(method, order, some)).toStrictEqual(
        refused(`all channels, as ${method} requires`),
      );
    }
    for (const method of ["unsubscribe", "subscribe", "invalidate_user_tokens"] as const)
      expect(parseEntry(method, order, some)).toMatchObject({ outcome: "order" });
    const other = `{"user":"ada","channel":"room"}`;
    expect(parseEntry("unsubscribe", other, some)).toStrictEqual(refused("the channel", "room"));
    const all = caller({ methods: ["disconnect"], channels: ["*"] });
    expect(parseEntry("disconnect", order, all)).toMatchObject({ outcome: "order" });
    expect(parseEntry("disconnect", order, backend)).toStrictEqual(
      refused("the method disconnect"),
    );
  });

  it("[A14] refuses a broadcast as a whole if it doesn't admit the method", () => {
    const request = `{"channels":["news"],"data":1}`;
    const parsed = parseBroadcast(request, backend);
    expect(parsed).toMatchObject({
      outcome: "command",
      command: { form: "single", entry: refused("the method broadcast") },
    });
    // Even if there is more that is wrong with it.
    expect(parseBroadcast(`{"channels":[]}`, backend)).toStrictEqual(parsed);
  });

  it("[A14] refuses the channels of a broadcast that it doesn't admit, and only those", () => {
    const broadcaster = caller({ methods: ["broadcast"], channels: ["news"] });
    const parsed = parseBroadcast(`{"channels":["news","room"],"data":1}`, broadcaster);
    if (parsed.outcome !== "command") throw new Error("malformed");
    expect(entriesOf(parsed.command)).toMatchObject([
      { outcome: "call", channel: "news" },
      refused("the channel", "room"),
    ]);
  });

  it("[A14] refuses commands of a batch and of the legacy form, each by itself", () => {
    const commands = [
      { publish: { channel: "news", data: 1 } },
      { publish: { channel: "room", data: 1 } },
      { history: { channel: "news" } },
      { broadcast: { channels: ["news"], data: 1 } },
    ];
    const answers = [
      { outcome: "call", channel: "news" },
      refused("the channel", "room"),
      refused("the method history", "news"),
      refused("the method broadcast"),
    ];
    const batch = parseBatch(JSON.stringify({ commands }), backend);
    if (batch.outcome !== "batch") throw new Error(batch.outcome);
    expect(batch.commands.flatMap(entriesOf)).toMatchObject(answers);
    const lines = commands.flatMap(Object.entries).map(([method, params]) => ({ method, params }));
    const body = lines.map((line) => JSON.stringify(line)).join("\n");
    const legacy = parseLegacy(body, backend);
    if (legacy.outcome !== "lines") throw new Error(legacy.outcome);
    expect(legacy.lines.flatMap(({ command }) => entriesOf(command))).toMatchObject(answers);
  });

  it("[A14] [W4] doesn't hide that a request can't be read", () => {
    expect(parseEntry("publish", `{"channel":5}`, backend)).toMatchObject({ outcome: "malformed" });
  });
});
