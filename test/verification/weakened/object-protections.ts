import type { Protection } from "./protection.ts";

/** What the objects themselves do: they carry out frames in turns, set alarms, ping, and forget what was removed. */
export const objectProtections: readonly Protection[] = [
  {
    name: "own-tokens",
    meaning: "the commands after the first 64 of a frame are carried out with their own tokens",
    rule: "B17",
    noticedBy: ["simulate"],
    file: "src/object/client.ts",
    code: "tokens[from + index]",
    weakened: "tokens[index]",
  },
  {
    name: "turns-of-frames",
    meaning: "others have a turn between the parts of a frame",
    rule: "B17",
    noticedBy: ["simulate"],
    file: "src/object/client.ts",
    code: "else later(0, () => attempt(() => this.#carryOutParts(frame, tokens, to, turn)));",
    weakened: "else attempt(() => this.#carryOutParts(frame, tokens, to, turn));",
  },
  {
    name: "failed-alarms",
    meaning: "an alarm that couldn't be set isn't taken for set, and is asked for again",
    rule: "S6",
    noticedBy: ["simulate"],
    file: "src/object/alarm-schedule.ts",
    code: `      this.#setForMs = undefined;
      this.#platform.after(limits.alarmRetryMs, () => this.atMost(setForMs));`,
    weakened: "      void limits.alarmRetryMs;",
  },
  {
    name: "earlier-alarm",
    meaning: "an alarm that was set meanwhile isn't replaced by a later one",
    rule: "H14",
    noticedBy: ["simulate"],
    file: "src/object/alarm-schedule.ts",
    code: "this.#setForMs ??= setForMs;",
    weakened: "this.#setForMs = setForMs;",
  },
  {
    name: "pings-beside-frames",
    meaning: "clients are pinged also while a frame is on its way",
    rule: "K1",
    noticedBy: ["simulate"],
    file: "src/object/object-host.ts",
    code: "    this.sockets.tick(nowMs);",
    weakened: "    if (!this.#awaitsTurn) this.sockets.tick(nowMs);",
  },
  {
    name: "removed-from-memory",
    meaning: "a gateway gives no client what was removed from the history",
    rule: "L6",
    noticedBy: ["simulate"],
    file: "src/gateway/follower.ts",
    code: `if (entry.type === "removed") this.#clearReplayBuffer();`,
    weakened: `if (entry.type === "removed") void this.#reading;`,
  },
  {
    name: "removed-during-read",
    meaning: "a gateway doesn't keep what it reads while the history is removed",
    rule: "L6",
    noticedBy: ["simulate"],
    file: "src/gateway/replay-buffer.ts",
    code: "if (this.#mayReadRemoved || this.#amends) return merged;",
    weakened: "if (this.#amends) return merged;",
  },
];
