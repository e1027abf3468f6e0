/** One part of the server that keeps a guarantee, and how to build a server without it. */
export interface Protection {
  /** The name for `--without`. */
  readonly name: string;
  /** Its purpose. */
  readonly meaning: string;
  /** The rule of src/SPEC.md that it keeps. */
  readonly rule: string;
  /** Its file, from the repository's root. */
  readonly file: string;
  /** The code, which occurs once in the file. */
  readonly code: string;
  /** The replacement of the code. */
  readonly weakened: string;
  /** The faults that reveal its absence, as for `--faults`; absent for all faults at their usual rates. */
  readonly faults?: string;
}

/** Every protection whose absence the proof has been seen to notice. A test holds the list to the source. */
export const protections: readonly Protection[] = [
  {
    name: "output-order",
    meaning: "a client's publication is sent before the reply that says that it was published",
    rule: "O4",
    file: "src/session/command-executor.ts",
    code: `if (command.method === "publish") this.#catchUp(command.request.channel);`,
    weakened: `if (command.method === "connect") this.#catchUp("");`,
  },
  {
    name: "catch-up-of-joiners",
    meaning: "a subscriber that comes while publications are collected isn't sent them",
    rule: "O3",
    file: "src/hub/hub.ts",
    code: "for (const batch of this.#batches ?? []) batch.skipSoFar(subscriber);",
    weakened: "for (const batch of this.#batches ?? []) void batch;",
  },
  {
    name: "gap-repair",
    meaning: "a gateway reads what it missed before it passes on what came after",
    rule: "L3",
    file: "src/gateway/follower.ts",
    code: "if (sorted.rest !== undefined) this.#catchUp(sorted.rest);",
    weakened:
      "if (sorted.rest !== undefined) for (const entry of sorted.rest.entries) this.#deliver(entry);",
    faults: "crash-channel=30",
  },
  {
    name: "crash-alarm",
    meaning:
      "an object that crashed after a commit wakes and tells the gateways where the stream stands",
    rule: "L4",
    file: "workers/objects/channel-object.ts",
    code: "if (nowMs - newestMs < limits.crashCheckMs) this.#channel.relay.checkAfterWaking();",
    weakened: "void newestMs;",
    faults: "crash-channel=30",
  },
  {
    name: "idempotency",
    meaning: "a publish that is repeated with its key gets the first result",
    rule: "I1",
    file: "src/channel/channel.ts",
    code: `if (first !== undefined) return { outcome: "suppressed", ...first };`,
    weakened: "void first;",
  },
  {
    name: "merge-on-subscribe",
    meaning:
      "what is told while the missed publications of a subscriber are read is merged into them",
    rule: "R2",
    file: "src/gateway/pending-subscribes.ts",
    code: "const missed = read && buffer.merge(read.publications);",
    weakened: "const missed = read?.publications;",
    faults: "cut=30,reset=30,late-calls=60",
  },
  {
    name: "gap-check-on-recovery",
    meaning: "who missed more than is kept is told so, instead of being given what is left",
    rule: "R2",
    file: "src/channel/recovery.ts",
    code: "return first.offset === since.offset + 1 && last.offset === top.offset",
    weakened: "return last.offset === top.offset",
  },
];

/** @throws if there is none of that name, listing all names */
export function protectionNamed(name: string): Protection {
  const found = protections.find((protection) => protection.name === name);
  if (found !== undefined) return found;
  const names = protections.map((protection) => protection.name).join(", ");
  throw new Error(`--without doesn't know "${name}"; there are ${names}`);
}
