import type { Protection } from "./protection.ts";

/** What keeps values that grow right (rules Z38 to Z43). */
export const growthProtections: readonly Protection[] = [
  {
    name: "length-before-append",
    meaning: "an append that is repeated, or comes late, appends nothing twice",
    rule: "Z38",
    noticedBy: ["simulate"],
    file: "src/features/maps/growth/map-growth.ts",
    code: `    const isThere = found.known !== undefined && at !== undefined && isAt(found.value, at, text);
    if (!isThere && at !== undefined && at !== length)
      return { outcome: "not-appended", reason: "length_mismatch", length };`,
    weakened: `    const isThere = text === "" && isAt(found.value, at ?? 0, text);`,
  },
  {
    name: "ended-texts",
    meaning: "nothing is appended after the final piece",
    rule: "Z38",
    noticedBy: ["simulate"],
    file: "src/features/maps/growth/map-growth.ts",
    code: `if (found.isFinal) return { outcome: "not-appended", reason: "final", length };`,
    weakened: "",
  },
  {
    name: "window-mark",
    meaning: "an object that crashes within a window knows that its subscribers were told of it",
    rule: "Z41",
    noticedBy: ["simulate"],
    file: "src/features/maps/growth/map-growth.ts",
    code: "this.#mark.open(nowMs);",
    weakened: "void this.#mark;",
  },
  {
    name: "told-window-loss",
    meaning: "the subscribers of a map that crashed within a window are told",
    rule: "Z41",
    noticedBy: ["simulate"],
    file: "src/features/maps/channel-map.ts",
    code: "this.#channel.restart(nowMs, () => this.growth.clear());",
    weakened: "this.growth.clear();",
  },
  {
    name: "late-for-a-window",
    meaning: "a subscriber that comes within a window is told none of its pieces",
    rule: "Z39",
    noticedBy: ["simulate"],
    file: "src/hub/hub.ts",
    code: "this.#windows?.joined(subscriber);",
    weakened: "void this.#windows;",
  },
  {
    name: "missing-pieces",
    meaning: "where a piece of a window is missing, nobody is told the later ones",
    rule: "Z39",
    noticedBy: ["simulate"],
    file: "src/hub/piece-windows.ts",
    code: "this.#isBroken ||= number !== this.#pieces + 1;",
    weakened: "this.#pieces = number - 1;",
  },
  {
    name: "back-within-a-window",
    meaning: "a client that comes back with pieces of a window gets the value in full at its end",
    rule: "Z39",
    noticedBy: ["simulate"],
    file: "src/hub/piece-windows.ts",
    code: `if (recoveredTo !== undefined && base <= recoveredTo) return "unknown";`,
    weakened: `if (recoveredTo !== undefined && base < 0) return "unknown";`,
  },
  {
    name: "pieces-of-read-values",
    meaning: "a piece that comes after the value that has it was read isn't told",
    rule: "Z39",
    noticedBy: ["simulate"],
    file: "src/gateway/batch-order.ts",
    code: "if (told < offset) continue;",
    weakened: "",
  },
];
