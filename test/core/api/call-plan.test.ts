import { describe, expect, it } from "vitest";
import type { Call, Entry } from "../../../src/api/api-command.ts";
import { type ChannelCall, planCalls, planWaves } from "../../../src/api/call-plan.ts";
import type { ChannelCommand } from "../../../src/api/channel-command.ts";
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

function callTo(channel: string, command: ChannelCommand): ChannelCall {
  return { channel, commands: [command], places: [0] };
}

/** The channels of each wave, written together. */
function wavesOf(calls: readonly ChannelCall[]): readonly string[] {
  return planWaves(calls).map((wave) => wave.map(({ channel }) => channel).join(""));
}

function publication(characters: number): ChannelCommand {
  const data = json(JSON.stringify("x".repeat(characters - 2)));
  const rest = { idempotencyKey: "", version: 0n, versionEpoch: "" };
  return { method: "publish", request: { data, skipHistory: false, delta: false, ...rest } };
}

describe("planning a request's calls", () => {
  it("makes one call per channel, in the order of the request, and remembers where answers go", () => {
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
          places: [0, 3, 4],
        },
        { channel: "a", commands: [{ method: "presence_stats" }], places: [1] },
      ],
    });
  });

  it("makes no call for entries that are already refused", () => {
    expect(planCalls([refused, refused])).toStrictEqual({ outcome: "plan", calls: [] });
  });

  it("takes as many channels as the limit says and no more", () => {
    expect(planCalls(askEach(limits.requestChannelsMax)).outcome).toBe("plan");
    expect(planCalls(askEach(limits.requestChannelsMax + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
    });
  });

  it("counts every channel of a broadcast as a command", () => {
    expect(planCalls(askOne(limits.requestCommandsMax)).outcome).toBe("plan");
    expect(planCalls(askOne(limits.requestCommandsMax + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
    });
  });

  it("refuses data for one channel that would not fit in one call", () => {
    const command = publication(limits.publicationBytesMax);
    const entries = (count: number): readonly Entry[] =>
      Array.from({ length: count }, () => ({ outcome: "call", channel: "a", command }));
    const most = limits.requestBytesMax / limits.publicationBytesMax;
    expect(planCalls(entries(most)).outcome).toBe("plan");
    expect(planCalls(entries(most + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
    });
  });
});

describe("dividing calls into waves", () => {
  it("makes one wave of small calls", () => {
    const small = publication(1_000);
    expect(wavesOf([callTo("a", small), callTo("b", small), callTo("c", small)])).toStrictEqual([
      "abc",
    ]);
  });

  it("puts no more into a wave than a request may carry", () => {
    const large = publication(limits.requestBytesMax / 2);
    expect(wavesOf(Array.from("abcde", (name) => callTo(name, large)))).toStrictEqual([
      "ab",
      "cd",
      "e",
    ]);
  });

  it("counts tags as well", () => {
    const command = publication(limits.requestBytesMax / 2);
    if (command.method !== "publish") throw new Error("not a publication");
    const tagged: ChannelCommand = {
      ...command,
      request: { ...command.request, tags: { t: "" } },
    };
    expect(wavesOf([callTo("a", tagged), callTo("b", command)])).toStrictEqual(["a", "b"]);
  });

  it("asks for eight large answers at a time", () => {
    const calls = Array.from("abcdefghi", (name) => callTo(name, { method: "presence" }));
    expect(wavesOf(calls)).toStrictEqual(["abcdefgh", "i"]);
  });

  it("makes a wave of its own for a call that is too large for any", () => {
    const huge = publication(limits.requestBytesMax + 1);
    const small = publication(10);
    expect(wavesOf([callTo("a", small), callTo("b", huge), callTo("c", small)])).toStrictEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it("makes no wave of no calls", () => {
    expect(planWaves([])).toStrictEqual([]);
  });
});
