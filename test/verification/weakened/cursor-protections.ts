import type { Protection } from "./protection.ts";

/** What keeps marks and counts of unread publications right (rules CU). */
export const cursorProtections: readonly Protection[] = [
  {
    name: "forward-marks",
    meaning: "a mark that comes late doesn't take a user back",
    rule: "CU1",
    noticedBy: ["simulate"],
    file: "src/features/cursors/channel-cursors.ts",
    code: "const read = Math.max(before?.read ?? 0, offset);",
    weakened: "const read = offset;",
  },
  {
    name: "own-publications",
    meaning: "what a user's own clients have published isn't unread",
    rule: "CU4",
    noticedBy: ["simulate"],
    file: "src/features/cursors/channel-cursors.ts",
    code: "if (publisher !== user && this.#filter?.matches(tags) !== false) count++;",
    weakened: "if (this.#filter?.matches(tags) !== false) count++;",
  },
  {
    name: "marks-of-an-epoch",
    meaning: "a mark of an epoch that is gone says nothing about the next one",
    rule: "CU5",
    noticedBy: ["simulate"],
    file: "src/features/cursors/user-mark.ts",
    code: "if (mark.epoch === epoch) return mark;",
    weakened: "if (mark.epoch !== undefined) return mark;",
  },
  {
    name: "answered-pings",
    meaning: "a client has got what was sent before a ping only once it has answered the ping",
    rule: "CU12",
    noticedBy: ["prove", "simulate"],
    file: "src/session/liveness.ts",
    code: "return answeredAtMs >= pingedAtMs && answeredAtMs <= nowMs ? answeredAtMs : undefined;",
    weakened: "return answeredAtMs >= 0 ? nowMs : undefined;",
    faults: "stall=60,vanish=30,reset=30",
  },
  {
    name: "judged-row",
    meaning:
      "an object that crashes still knows which publications it has to judge for its members",
    rule: "CU24",
    noticedBy: ["simulate"],
    file: "src/features/cursors/audience/judged-progress.ts",
    code: "this.#judged = stored ?? (hasMembers() ? fromTop(channel.top) : undefined);",
    weakened: "this.#judged = hasMembers() ? fromTop(channel.top) : undefined;",
  },
];
