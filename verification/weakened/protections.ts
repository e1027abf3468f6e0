/** The programs that check the guarantees. */
export type Program = "prove" | "simulate";

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
  /** The programs that have been seen to notice its absence. */
  readonly noticedBy: readonly Program[];
  /** The proof's faults that reveal its absence, as for `--faults`; absent for all faults at their usual rates. */
  readonly faults?: string;
}

/** Every protection whose absence has been seen to be noticed. A test holds the list to the source. */
export const protections: readonly Protection[] = [
  {
    name: "output-order",
    meaning: "a client's publication is sent before the reply that says that it was published",
    rule: "O4",
    noticedBy: ["prove"],
    file: "src/session/command-executor.ts",
    code: `if (command.method === "publish") this.#catchUp(command.request.channel);`,
    weakened: `if (command.method === "connect") this.#catchUp("");`,
  },
  {
    name: "catch-up-of-joiners",
    meaning: "a subscriber that comes while publications are collected isn't sent them",
    rule: "O3",
    noticedBy: ["prove"],
    file: "src/hub/hub.ts",
    code: "for (const batch of this.#batches ?? []) batch.skipSoFar(subscriber);",
    weakened: "for (const batch of this.#batches ?? []) void batch;",
  },
  {
    name: "gap-repair",
    meaning: "a gateway reads what it missed before it passes on what came after",
    rule: "L3",
    noticedBy: ["prove"],
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
    noticedBy: ["prove"],
    file: "workers/objects/channel-object.ts",
    code: "if (nowMs - newestMs < limits.crashCheckMs) this.#channel.relay.checkAfterWaking();",
    weakened: "void newestMs;",
    faults: "crash-channel=30",
  },
  {
    name: "idempotency",
    meaning: "a publish that is repeated with its key gets the first result",
    rule: "I1",
    noticedBy: ["prove"],
    file: "src/channel/channel.ts",
    code: `if (first !== undefined) return this.#suppressed("repeated", first);`,
    weakened: "void first;",
  },
  {
    name: "merge-on-subscribe",
    meaning:
      "what is told while the missed publications of a subscriber are read is merged into them",
    rule: "R2",
    noticedBy: ["prove"],
    file: "src/gateway/pending-subscribes.ts",
    code: "const missed = read && buffer.merge(read.publications);",
    weakened: "const missed = read?.publications;",
    faults: "cut=30,reset=30,late-calls=60",
  },
  {
    name: "gap-check-on-recovery",
    meaning: "who missed more than is kept is told so, instead of being given what is left",
    rule: "R2",
    noticedBy: ["prove"],
    file: "src/channel/recovery.ts",
    code: "return first.offset === since.offset + 1 && last.offset === top.offset",
    weakened: "return last.offset === top.offset",
  },
  {
    name: "held-session",
    meaning: "nothing reaches a connection before its user's home has answered",
    rule: "U4",
    noticedBy: ["prove", "simulate"],
    file: "src/session/session.ts",
    code: `    this.#connection.hold();`,
    weakened: `    void this.#connection;`,
  },
  {
    name: "refused-publish",
    meaning: "a publish for which its backend gives no usable answer is answered with an error",
    rule: "Q5",
    noticedBy: ["prove"],
    file: "src/session/channel-commands.ts",
    code: `if (answer.outcome !== "result") {`,
    weakened: `if (answer.outcome === "disconnect") {`,
  },
  {
    name: "refused-subscribe",
    meaning: "a subscribe that its backend refuses is answered with an error",
    rule: "Q2",
    noticedBy: ["prove"],
    file: "src/session/subscribe.ts",
    code: `if (answer.outcome !== "result") {`,
    weakened: `if (answer.outcome === "disconnect") {`,
  },
  {
    name: "outbox",
    meaning: "events that the receiver hasn't taken are sent again",
    rule: "E4",
    noticedBy: ["prove"],
    file: "workers/objects/event-delivery.ts",
    code: "this.outbox.answered(batch, taken, nowMs);",
    weakened: "this.outbox.answered(batch, taken || true, nowMs);",
  },
  {
    name: "died-connections",
    meaning: "an object that wakes tells of the connections that ended with the one before it",
    rule: "E9",
    noticedBy: ["prove"],
    file: "src/events/connection-events.ts",
    code: "if (sameDigest(this.#digestOf(this.#setup.sessions()), this.#digest)) return;",
    weakened: "if (sameDigest(this.#digest, this.#digest)) return;",
  },
  {
    name: "stored-orders",
    meaning: "an order that was taken survives a crash of its home",
    rule: "U3",
    noticedBy: ["simulate"],
    file: "src/users/home.ts",
    code: `this.#sql.run("INSERT INTO user_order VALUES (?, ?, ?, ?)", number, user, body, nowMs);`,
    weakened: `void [body, nowMs];`,
  },
  {
    name: "renewed-holder",
    meaning:
      "a holder that registers a user while an order is carried out there isn't forgotten after it",
    rule: "U5",
    noticedBy: ["simulate"],
    file: "src/users/home.ts",
    code: "if (!answer.left && !delivery.renewed)",
    weakened: "if (!answer.left)",
  },
  {
    name: "order-numbers",
    meaning:
      "an order that is repeated isn't carried out again, nor on a connection that came after it",
    rule: "U3",
    noticedBy: ["simulate"],
    file: "src/users/local-users.ts",
    code: "orders.filter(({ number }) => number > seen)",
    weakened: "orders.filter(({ number }) => number > -1)",
  },
  {
    name: "order-of-orders",
    meaning: "an object carries out the orders of a user one call after the other",
    rule: "U3",
    noticedBy: ["simulate"],
    file: "src/users/local-users.ts",
    code: "if (waiting === undefined) {",
    weakened: 'if (waiting === undefined || user !== "") {',
  },
  {
    name: "orders-wait-for-home",
    meaning: "an order waits for the connections whose home is being asked",
    rule: "U4",
    noticedBy: ["simulate"],
    file: "src/users/local-users.ts",
    code: `    const pending = this.#pending.get(user);
    if (pending !== undefined) {
      pending.answered.push(`,
    weakened: `    const pending = this.#pending.get("");
    if (pending !== undefined) {
      pending.answered.push(`,
  },
  {
    name: "blocked-users",
    meaning: "a home registers no connection of a blocked user",
    rule: "U9",
    noticedBy: ["prove", "simulate"],
    file: "src/users/home.ts",
    code: "if (this.#standing.isBarred(user, nowMs)) {",
    weakened: 'if (user === "" && this.#standing.isBarred(user, nowMs)) {',
  },
  {
    name: "cancelled-subscribe",
    meaning: "an order ends a subscription that is about to begin",
    rule: "U2",
    noticedBy: ["simulate"],
    file: "src/session/session.ts",
    code: "this.#wait().cancelled.add(channel);",
    weakened: "this.#wait();",
  },
  {
    name: "revoked-tokens",
    meaning: "a revocation ends the connections that were made with the token",
    rule: "U10",
    noticedBy: ["prove", "simulate"],
    file: "src/users/local-tokens.ts",
    code: "for (const session of all) session.revoke(uid);",
    weakened: "for (const session of all) session.usesToken(uid);",
  },
  {
    name: "invalidated-tokens",
    meaning: "a home tells of invalid tokens when a user is registered",
    rule: "U11",
    noticedBy: ["simulate"],
    file: "src/users/home.ts",
    code: "invalidations.push(...this.#standing.invalidations(user, nowMs));",
    weakened: "this.#standing.invalidations(user, nowMs);",
  },
  {
    name: "frozen-pages",
    meaning: "the later pages of a map's state leave out what was changed since the first one",
    rule: "Z3",
    noticedBy: ["prove", "simulate"],
    file: "src/channel/channel-map.ts",
    code: "offsetMax: since?.offset ?? position.offset,",
    weakened: "offsetMax: position.offset,",
    faults: "drop=20",
  },
  {
    name: "changes-since-first-page",
    meaning: "a client that has read a map's pages gets what was changed since the first one",
    rule: "Z2",
    noticedBy: ["prove", "simulate"],
    file: "src/session/map-subscribe.ts",
    code: "...(since === undefined ? {} : { since }),\n      ...(readOffset",
    weakened: "...(since?.offset === -1 ? { since } : {}),\n      ...(readOffset",
    faults: "drop=20",
  },
  {
    name: "top-of-last-page",
    meaning: "a client of a map begins no earlier than as of when its last page was read",
    rule: "Z2",
    noticedBy: ["simulate"],
    file: "src/session/map-subscribe.ts",
    code: "...(readOffset > (since?.offset ?? 0) ? { readOffset } : {}),",
    weakened: "...(readOffset < 0 ? { readOffset } : {}),",
  },
  {
    name: "order-of-ends",
    meaning: "keys that have ended are removed in the order in which they ended",
    rule: "Z6",
    noticedBy: ["prove", "simulate"],
    file: "src/map/map-expiry.ts",
    code: "look.found.sort((one, other) => one.dueMs - other.dueMs || one.offset - other.offset);",
    weakened: "look.found.sort((one, other) => other.offset - one.offset);",
    faults: "kill",
  },
  {
    name: "refreshed-keys",
    meaning: "a key that was set again doesn't end when its former value would have",
    rule: "Z6",
    noticedBy: ["prove", "simulate"],
    file: "src/map/map-expiry.ts",
    code: "if (known?.offset === next.offset && this.#hasEnded(known, nowMs)) ended.push(next.key);",
    weakened: "if (known !== undefined) ended.push(next.key);",
    faults: "cut",
  },
  {
    name: "key-versions",
    meaning: "a publish with a version that isn't newer than the key's does nothing",
    rule: "Z7",
    noticedBy: ["prove", "simulate"],
    file: "src/map/map-state.ts",
    code: "if (version > 0n && isOlder && versionEpoch",
    weakened: "if (version > 999n && isOlder && versionEpoch",
    faults: "cut",
  },
  {
    name: "removed-versions",
    meaning: "a publish with an older version doesn't bring back a key that was removed",
    rule: "Z8",
    noticedBy: ["prove", "simulate"],
    file: "src/channel/channel-map.ts",
    code: "if (!remembered) return this.#append(",
    weakened: "if (!remembered || remembered) return this.#append(",
    faults: "cut",
  },
  {
    name: "key-offsets",
    meaning: "a change with if_offset is made only if the key is as the backend knows it",
    rule: "Z9",
    noticedBy: ["prove", "simulate"],
    file: "src/map/map-state.ts",
    code: `return ifOffset === (isThere ? known.offset : 0) ? undefined : "position_mismatch";`,
    weakened: `return ifOffset >= 0 ? undefined : "position_mismatch";`,
    faults: "cut",
  },
  {
    name: "checkpoint-taken-out",
    meaning:
      "an ephemeral map that crashes after a change doesn't come back with what it was before",
    rule: "Z11",
    noticedBy: ["prove", "simulate"],
    file: "src/channel/map-store.ts",
    code: "this.#checkpoint.takeOut(nowMs);",
    weakened: "void nowMs;",
    faults: "crash-map=30",
  },
  {
    name: "told-loss",
    meaning: "the subscribers of an ephemeral map whose state was lost in a crash are told",
    rule: "Z11",
    noticedBy: ["prove", "simulate"],
    file: "src/channel/channel-map.ts",
    code: "this.#isLost = store.wasLost;",
    weakened: "this.#isLost = store.wasLost && store.isEmpty && !store.isEmpty;",
    faults: "crash-map=30",
  },
  {
    name: "newer-versions",
    meaning: "a connection is sent only versions above the last that it was sent",
    rule: "SP2",
    noticedBy: ["simulate"],
    file: "src/shared-poll/tracked-keys.ts",
    code: "const getting = [...all.tracks].filter(([, track]) => version > track.version);",
    weakened: "const getting = [...all.tracks].filter(() => version > 0n);",
  },
  {
    name: "expired-signatures",
    meaning: "nothing is sent of a key whose signature has expired",
    rule: "SP2",
    noticedBy: ["simulate"],
    file: "src/session/local-tracks.ts",
    code: "    this.#takesSinceMs ??= nowMs;\n    this.#expire(nowMs);",
    weakened: "    this.#takesSinceMs ??= nowMs;\n    this.#expire(0);",
  },
  {
    name: "untracked-keys",
    meaning: "what waits of a key that is untracked isn't sent any more",
    rule: "SP2",
    noticedBy: ["simulate"],
    file: "src/session/local-tracks.ts",
    code: "for (const key of keys) this.#frames.drop(subscription, key);",
    weakened: "for (const key of keys) void key;",
  },
  {
    name: "removed-keys",
    meaning: "a gateway that wakes doesn't track the keys that were removed",
    rule: "SP2",
    noticedBy: ["simulate"],
    file: "src/session/local-tracks.ts",
    code: "if (change.removed === true) this.#tracksLess(tracker);",
    weakened: "void change.removed;",
  },
  {
    name: "one-question-for-a-key",
    meaning: "a backend isn't asked for a key that it is being asked for",
    rule: "SP3",
    noticedBy: ["simulate"],
    file: "src/shared-poll/poll-cycle.ts",
    code: "if (key !== undefined && isPolled(key) && !this.#asked.has(key)) taken.push(key);",
    weakened: "if (key !== undefined && isPolled(key)) taken.push(key);",
  },
  {
    name: "questions-in-flight",
    meaning: "a backend that is slow isn't asked more and more questions",
    rule: "SP4",
    noticedBy: ["simulate"],
    file: "src/shared-poll/poll-cycle.ts",
    code: "  ): PollQuestion | undefined {\n    if (this.#inFlight >= limits.pollsInFlightMax) return undefined;",
    weakened: "  ): PollQuestion | undefined {\n    if (this.#inFlight >= 999) return undefined;",
  },
  {
    name: "failed-calls",
    meaning: "a gateway whose call failed is told again what has changed",
    rule: "SP7",
    noticedBy: ["simulate"],
    file: "src/shared-poll/watcher.ts",
    code: "if (isWanted) this.#pending.set(key, change);",
    weakened: "void isWanted;",
  },
  {
    name: "late-untracks",
    meaning: "a late request to untrack keys doesn't end what was tracked after it",
    rule: "SP7",
    noticedBy: ["simulate"],
    file: "src/shared-poll/shared-poll.ts",
    code: "if (one === undefined || (number !== undefined && number < one.newestRequest)) return;",
    weakened: "if (one === undefined || (number !== undefined && number < 0)) return;",
  },
  {
    name: "lost-tracks",
    meaning: "clients track their keys again when the channel's object has lost its memory",
    rule: "SP8",
    noticedBy: ["simulate"],
    file: "src/session/local-tracks.ts",
    code: "else this.#endAll();",
    weakened: "else this.#instance = instance;",
  },
  {
    name: "epochs-of-subscriptions",
    meaning: "a subscription that began in another epoch is sent no value",
    rule: "SP8",
    noticedBy: ["simulate"],
    file: "src/session/local-tracks.ts",
    code: "if (!this.#live.has(subscription)) this.#epoch = undefined;",
    weakened: "void this.#epoch;",
  },
  {
    name: "bases-of-deltas",
    meaning: "a delta is made of what the connection was sent, and not of what replaced it unsent",
    rule: "SP13",
    noticedBy: ["simulate"],
    file: "src/shared-poll/key-frames.ts",
    code: "const held = before === undefined ? base : before.base;",
    weakened: "const held = before === undefined ? base : base;",
  },
];

/** @throws if the program notices the absence of none of that name, listing all names */
export function protectionNamed(name: string, program: Program): Protection {
  const all = protections.filter(({ noticedBy }) => noticedBy.includes(program));
  const found = all.find((protection) => protection.name === name);
  if (found !== undefined) return found;
  const names = all.map((protection) => protection.name).join(", ");
  throw new Error(`--without doesn't know "${name}"; there are ${names}`);
}
