import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../../test/support/random.ts";
import type { FaultyNetwork } from "../network/faulty-network.ts";
import type { LocalServer, ObjectKind, CallFault } from "../server/local-server.ts";
import type { FaultKind } from "./fault-kind.ts";

/** What can be broken. */
export interface Breakables {
  /** Between subscribers and the server. */
  readonly subscribers: FaultyNetwork;
  /** Between publishers and the server. */
  readonly publishers: FaultyNetwork;
  /** Absent when it isn't ours. */
  readonly server?: LocalServer;
  /** Channels that have an object, and gateways. Not all of them need to be awake. */
  readonly channels: readonly string[];
  readonly gateways: readonly string[];
  /** Publishes many at once to a channel that is quiet otherwise; resolves when all are answered. */
  readonly burst: (channel: string) => Promise<void>;
  /** Channels for that. */
  readonly quiet: readonly string[];
  /** Told of an object that is about to crash. */
  readonly crashing: (channel: string) => void;
}

/** What came of a fault. */
export type FaultOutcome =
  | { readonly outcome: "made"; readonly target: string }
  /** There was nothing to break. */
  | { readonly outcome: "missed" };

/** Makes one fault after the other, or several at once where they don't concern the server's process. */
export class FaultMaker {
  readonly #breakables: Breakables;
  /** What concerns the server's process waits for what was before it. */
  #serverFree: Promise<unknown> = Promise.resolve();

  constructor(breakables: Breakables) {
    this.#breakables = breakables;
  }

  /** @returns when the fault is over, as far as it is one that ends */
  async make(kind: FaultKind, random: Random): Promise<FaultOutcome> {
    const { subscribers, publishers } = this.#breakables;
    // Publishers' connections break too, in ways that they notice.
    const isPublishers = ["cut", "reset", "delay"].includes(kind) && random.chance(0.2);
    const network = isPublishers ? publishers : subscribers;
    const share = random.pick([0.02, 0.1, 0.3]);
    switch (kind) {
      case "cut":
        return hit(network.cut(share, "fin"));
      case "reset":
        return hit(network.cut(share, "reset"));
      case "vanish":
        return hit(network.vanish(share / 2));
      case "deafen":
        return hit(network.silenceDown(share / 2));
      case "mute":
        return hit(network.silenceUp(share / 2));
      case "drop":
        return this.#drop(network);
      case "stall": {
        const ms = random.between(500, 6_000);
        return lasting(network.stall(share, ms), ms);
      }
      case "delay": {
        const ms = random.between(5, 150);
        const forMs = random.between(1_000, 5_000);
        return lasting(network.delay({ ms, jitterMs: random.between(0, ms), forMs }), forMs);
      }
      case "lose-answer":
        return this.#loseAnswer(publishers);
      case "late-calls":
      case "lost-calls":
      case "doubled-calls":
        return this.#failCalls(kind, random);
      case "evict":
      case "evict-close":
      case "crash-channel":
      case "crash-gateway":
      case "kill":
      case "deploy":
        return this.#inTurn(() => this.#breakServer(kind, random));
    }
  }

  async #drop(network: FaultyNetwork): Promise<FaultOutcome> {
    const before = network.refused;
    const connections = network.drop(dropMs);
    await pause(dropMs);
    return hit(connections + network.refused - before);
  }

  async #loseAnswer(publishers: FaultyNetwork): Promise<FaultOutcome> {
    const before = publishers.repliesLost;
    publishers.loseAnswer();
    const endMs = performance.now() + answerMs;
    while (publishers.repliesLost === before && performance.now() < endMs) await pause(10);
    return hit(publishers.repliesLost - before);
  }

  async #failCalls(
    kind: "late-calls" | "lost-calls" | "doubled-calls",
    random: Random,
  ): Promise<FaultOutcome> {
    const { server, channels, gateways } = this.#breakables;
    if (server === undefined) return { outcome: "missed" };
    const forMs = random.between(800, 2_500);
    // What a gateway asks a channel is never asked twice.
    const toChannel = kind !== "doubled-calls" && random.chance(0.3);
    const fault = random.pick(callFaults[kind]);
    const name = random.pick(toChannel ? channels : gateways);
    // Not in the middle of a restart; but what follows may happen meanwhile.
    const isMade = await this.#inTurn(() =>
      server.failCalls(toChannel ? "CHANNELS" : "GATEWAYS", name, fault, forMs),
    );
    if (!isMade) return { outcome: "missed" };
    await pause(forMs);
    const objects = toChannel ? "CHANNELS" : "GATEWAYS";
    const calls = await this.#inTurn(() => server.failedCalls(objects, name));
    return calls === 0
      ? { outcome: "missed" }
      : { outcome: "made", target: `${calls} ${fault} to ${name}` };
  }

  async #breakServer(
    kind: "evict" | "evict-close" | "crash-channel" | "crash-gateway" | "kill" | "deploy",
    random: Random,
  ): Promise<FaultOutcome> {
    const { server, channels, gateways } = this.#breakables;
    if (server === undefined) return { outcome: "missed" };
    switch (kind) {
      case "evict":
      case "evict-close": {
        const sockets = kind === "evict" ? "hibernate" : "close";
        const objects = [...named("CHANNELS", channels), ...named("GATEWAYS", gateways)];
        return firstThat(random, objects, ({ kind: objectKind, name }) =>
          server.evict(objectKind, name, sockets),
        );
      }
      case "crash-channel":
        return this.#crashChannel(server, random);
      case "crash-gateway":
        return firstThat(random, named("GATEWAYS", gateways), ({ name }) =>
          server.crash("GATEWAYS", name),
        );
      case "kill":
        await server.killAndRestart();
        return { outcome: "made", target: "server" };
      case "deploy":
        await server.deploy();
        return { outcome: "made", target: "server" };
    }
  }

  /**
   * Mostly while a burst ends, and calls to gateways may be late just then: what was committed last is told to them by nothing
   * that comes after it (rule L4).
   */
  async #crashChannel(server: LocalServer, random: Random): Promise<FaultOutcome> {
    const { channels, gateways, quiet, burst, crashing } = this.#breakables;
    const isQuiet = quiet.length > 0 && random.chance(0.7);
    const name = random.pick(isQuiet ? quiet : channels);
    const waitMs = random.between(0, 60);
    if (isQuiet && random.chance(0.5)) {
      for (const gateway of gateways) {
        await server.failCalls("GATEWAYS", gateway, "late", lateDuringBurstMs);
      }
    }
    const bursting = isQuiet ? burst(name) : Promise.resolve();
    // After its end nothing is published again there by somebody who wasn't answered.
    await (random.chance(0.5) ? bursting : pause(waitMs));
    crashing(name);
    const isMade = await server.crash("CHANNELS", name);
    await bursting;
    return isMade ? { outcome: "made", target: name } : { outcome: "missed" };
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#serverFree.then(work);
    this.#serverFree = done;
    return done;
  }
}

const callFaults: Readonly<
  Record<"late-calls" | "lost-calls" | "doubled-calls", readonly CallFault[]>
> = {
  "late-calls": ["late"],
  "lost-calls": ["lost", "unanswered"],
  "doubled-calls": ["doubled"],
};

interface NamedObject {
  readonly kind: ObjectKind;
  readonly name: string;
}

function named(kind: ObjectKind, names: readonly string[]): readonly NamedObject[] {
  return names.map((name) => ({ kind, name }));
}

/** Tries objects in the order of chance, until one was there to be broken. */
async function firstThat(
  random: Random,
  objects: readonly NamedObject[],
  breakOne: (object: NamedObject) => Promise<boolean>,
): Promise<FaultOutcome> {
  const left = [...objects];
  for (let tries = 0; tries < triesMax && left.length > 0; tries++) {
    const [object] = left.splice(random.between(0, left.length - 1), 1);
    if (object !== undefined && (await breakOne(object))) {
      return { outcome: "made", target: object.name };
    }
  }
  return { outcome: "missed" };
}

function hit(connections: number): FaultOutcome {
  return connections === 0
    ? { outcome: "missed" }
    : { outcome: "made", target: `${connections} connections` };
}

async function lasting(connections: number, ms: number): Promise<FaultOutcome> {
  await pause(ms);
  return hit(connections);
}

/** Objects that are tried before a fault is given up. */
const triesMax = 4;
/** How long nobody is let in. */
const dropMs = 2_000;
/** A burst takes some tens of ms. */
const lateDuringBurstMs = 1_000;
/** Within this time somebody publishes. */
const answerMs = 5_000;
