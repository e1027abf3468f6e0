import type { Protection } from "./protection.ts";

/** What keeps receipts right: maps of what the users of another channel have read (rules CU36 to CU39, and Z22 to Z37 for them). */
export const receiptsProtections: readonly Protection[] = [
  {
    name: "renewed-receipts",
    meaning:
      "the object of a channel that has lost its memory has its receipts ask for everything anew",
    rule: "CU39",
    noticedBy: ["prove"],
    file: "src/features/cursors/receipts/receipts-source.ts",
    code: "if (this.#count?.epoch !== epoch || this.edition !== edition) this.line.renew();",
    weakened: "if (this.#count?.epoch !== epoch || this.edition !== edition) return;",
    faults: "evict=10",
  },
  {
    name: "repeated-renewals",
    meaning: "the call that has receipts ask for everything anew is repeated if it fails",
    rule: "Z37",
    noticedBy: ["prove"],
    file: "src/features/maps/mirror/mirror-line.ts",
    code: "else if (isRenewal) this.#isRenewed = true;",
    weakened: "else if (isRenewal) void isRenewal;",
    faults: "evict=10",
  },
  {
    name: "other-editions",
    meaning: "receipts that are told of another list than they have ask for that list",
    rule: "CU39",
    noticedBy: ["prove"],
    file: "src/features/maps/mirror/mirror-map.ts",
    code: "this.#isOutdated = true;",
    weakened: "this.#isOutdated = false;",
    faults: "evict=10",
  },
];
