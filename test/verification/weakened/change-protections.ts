import type { Protection } from "./protection.ts";

/** Protections of publications that are edited, deleted and erased. */
export const changeProtections: readonly Protection[] = [
  {
    name: "changed-from-memory",
    meaning: "who reads after a change gets nothing that was read before it",
    rule: "ED11",
    noticedBy: ["prove", "simulate"],
    file: "src/channel/history.ts",
    code: "    this.#recent.clear();\n    this.#table.amend(offset, contents);",
    weakened: "    this.#table.amend(offset, contents);",
  },
  {
    name: "erased-everywhere",
    meaning: "an erasure is acknowledged once each gateway has answered for it",
    rule: "ED16",
    noticedBy: ["simulate"],
    file: "src/features/changes/erasure-end.ts",
    code: "sequence !== undefined && relay.isTaken(sequence)",
    weakened: "sequence !== undefined && relay.isTaken(0)",
  },
];
