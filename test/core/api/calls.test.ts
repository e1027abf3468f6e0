import { describe, expect, it } from "vitest";
import type { Call, Entry } from "../../../src/api/command.ts";
import { planCalls } from "../../../src/api/calls.ts";
import { type ChannelOperation, operationBytes } from "../../../src/contract/channel-call.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { json } from "./channel-config.ts";

const refused: Entry = { outcome: "refused", error: errorCodes.badRequest, detail: "" };

function ask(channel: string, method: "presence" | "presence_stats" | "history_remove"): Call {
  return { outcome: "call", channel, command: { method } };
}

/** One command for each of so many channels. */
function askEach(count: number): readonly Entry[] {
  return Array.from({ length: count }, (_, n) => ask(`c${n}`, "presence"));
}

/** So many commands for one channel. */
function askOne(count: number): readonly Entry[] {
  return Array.from({ length: count }, () => ask("a", "presence"));
}

function publication(characters: number): ChannelOperation {
  const data = json(JSON.stringify("x".repeat(characters - 2)));
  const rest = { idempotencyKey: "", version: 0n, versionEpoch: "" };
  return { method: "publish", request: { data, skipHistory: false, delta: false, ...rest } };
}

describe("planning a request's calls", () => {
  it("[W3] makes one call per channel, in the order of the request, and remembers where answers go", () => {
    const entries = [
      ask("b", "presence"),
      ask("a", "presence_stats"),
      refused,
      ask("b", "history_remove"),
      ask("b", "presence"),
    ];
    expect(planCalls(entries)).toStrictEqual({
      outcome: "plan",
      calls: [
        {
          channel: "b",
          commands: [{ method: "presence" }, { method: "history_remove" }, { method: "presence" }],
          entryIndexes: [0, 3, 4],
        },
        { channel: "a", commands: [{ method: "presence_stats" }], entryIndexes: [1] },
      ],
    });
  });

  it("[W3] makes no call for entries that are already refused", () => {
    expect(planCalls([refused, refused])).toStrictEqual({ outcome: "plan", calls: [] });
  });

  it("[B1] takes as many channels as the limit says and no more", () => {
    expect(planCalls(askEach(limits.requestChannelsMax)).outcome).toBe("plan");
    expect(planCalls(askEach(limits.requestChannelsMax + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
    });
  });

  it("[B1] counts every channel of a broadcast as a command", () => {
    expect(planCalls(askOne(limits.requestCommandsMax)).outcome).toBe("plan");
    expect(planCalls(askOne(limits.requestCommandsMax + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
    });
  });

  it("[B1] refuses data for one channel that would not fit in one call", () => {
    const command = publication(limits.publicationBytesMax);
    const entries = (count: number): readonly Entry[] =>
      Array.from({ length: count }, () => ({ outcome: "call", channel: "a", command }));
    const most = Math.floor(limits.requestBytesMax / operationBytes(command));
    expect(planCalls(entries(most)).outcome).toBe("plan");
    expect(planCalls(entries(most + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
    });
  });
});
