import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { type ReceivedCommand, CommandQueue } from "../../../../src/session/command-queue.ts";
import { startMs } from "../channel-fixture.ts";

function command(id: number): ReceivedCommand {
  return {
    command: { method: "rpc", id, request: { method: "" } },
    tokens: {},
    nowMs: startMs,
    busy: false,
  };
}

/** So many commands, added one after the other; gives how many were taken. */
function fill(waiting: CommandQueue, key: string, count: number): number {
  let taken = 0;
  for (let id = 1; id <= count; id++) if (waiting.enqueue(key, command(id))) taken++;
  return taken;
}

describe("waiting commands", () => {
  it("[B1] are limited in number, all keys together, and each finished one makes space", () => {
    const waiting = new CommandQueue();
    waiting.open("a");
    waiting.open("b");
    expect(fill(waiting, "a", limits.commandsWaitingMax - 1)).toBe(limits.commandsWaitingMax - 1);
    expect(fill(waiting, "b", 3)).toBe(1);
    expect(waiting.close("b")).toHaveLength(1);
    waiting.open("b");
    expect(fill(waiting, "b", 3)).toBe(1);
    expect(waiting.close("a")).toHaveLength(limits.commandsWaitingMax - 1);
    waiting.open("a");
    expect(fill(waiting, "a", limits.commandsWaitingMax)).toBe(limits.commandsWaitingMax - 1);
  });

  it("[S4] are forgotten when they will never be carried out", () => {
    const waiting = new CommandQueue();
    waiting.open("a");
    fill(waiting, "a", 10);
    waiting.clear();
    expect(waiting.isOpen("a")).toBe(false);
    expect(waiting.close("a")).toStrictEqual([]);
    waiting.open("a");
    expect(fill(waiting, "a", limits.commandsWaitingMax + 1)).toBe(limits.commandsWaitingMax);
  });
});
