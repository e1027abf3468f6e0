import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../../support/random.ts";
import type { FaultyNetwork } from "../network/faulty-network.ts";
import type { LocalServer, ObjectKind, CallFault } from "../server/local-server.ts";
import type { EventReceiver } from "../backends/event-receiver.ts";
import type { HookBackend } from "../backends/hook-backend.ts";
import type { FaultKind } from "./fault-kind.ts";

/** The parts that faults can be injected into. */
export interface Breakables {
  /** The network between subscribers and the server. */
  readonly subscribers: FaultyNetwork;
  /** The network between publishers and the server. */
  readonly publishers: FaultyNetwork;
  /** Absent for a deployed server, like the backends that it asks and tells. */
  readonly server?: LocalServer;
  readonly hooks?: HookBackend;
  readonly events?: EventReceiver;
  /** Channels that have an object, and gateways. Not all of them need to be awake. */
  readonly channels: readonly string[];
  readonly gateways: readonly string[];
  /** Homes of the users for whom orders are given. */
  readonly homes: readonly string[];
  /** Publishes many times at once to a quiet channel; resolves when all publishes are answered. */
  readonly burst: (channel: string) => Promise<void>;
  /** Channels for such bursts. */
  readonly quiet: readonly string[];
  /** Changes a map so that its object has something that isn't written down; resolves when the changes are answered. */
  readonly stir: (channel: string) => Promise<void>;
  /** Maps for that. */
  readonly still: readonly string[];
  /** Maps with texts that grow all the time. */
  readonly growing: readonly string[];
  /** Resolves when text of such a map was acknowledged and isn't stored yet, or after some time without. */
  readonly untilGrown: (channel: string) => Promise<void>;
  /** Lets many clients arrive at once; resolves with how many of them were let in, when all are gone. */
  readonly wave: (random: Random) => Promise<number>;
  /** Called for a channel object that is about to crash. */
  readonly crashing: (channel: string) => void;
}

/** The outcome of a fault. */
export type FaultOutcome =
  | { readonly outcome: "made"; readonly target: string }
  /** There was nothing to break. */
  | { readonly outcome: "missed" };

/** Injects one fault after the other, or several at once where they don't concern the server's process. */
export class FaultMaker {
  readonly #breakables: Breakables;
  /** The maps that are about to crash. */
  readonly #stirred = new Set<string>();
  /** Faults of the server's process wait for the earlier ones. */
  #serverFree: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(breakables: Breakables) {
    this.#breakables = breakables;
  }

  /** @returns when the fault is over, if it is one that ends */
  async make(kind: FaultKind, random: Random): Promise<FaultOutcome> {
    const { subscribers, publishers } = this.#breakables;
    // Publishers' connections break too, in ways that publishers notice.
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
      case "wave":
        return hit(await this.#breakables.wave(random));
      case "crash-map":
        return this.#crashMap(random);
      case "late-calls":
      case "lost-calls":
      case "doubled-calls":
        return this.#failCalls(kind, random);
      case "break-backend":
        return breakBackend(this.#breakables.hooks, random);
      case "break-receiver":
        return breakBackend(this.#breakables.events, random);
      case "evict":
      case "evict-close":
      case "crash-channel":
      case "crash-growing":
      case "crash-gateway":
      case "crash-home":
      case "kill":
      case "deploy":
        return this.#breakInTurn(() => this.#breakServer(kind, random));
    }
  }

  /** Faults of the server's process that still wait aren't made: a busy machine would make them long after the run. */
  stop(): void {
    this.#isStopped = true;
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

  async #failCalls(kind: CallFaultKind, random: Random): Promise<FaultOutcome> {
    const { server } = this.#breakables;
    if (server === undefined) return { outcome: "missed" };
    const forMs = random.between(800, 2_500);
    const objects = this.#calledObjects(kind, random);
    const fault = random.pick(callFaults[kind]);
    const name = random.pick(this.#namesOf(objects));
    // A fault doesn't begin during a restart, but what follows may happen during one.
    const isMade = await this.#inTurn(() => server.failCalls(objects, name, fault, forMs));
    if (!isMade) return { outcome: "missed" };
    await pause(forMs);
    const calls = await this.#inTurn(() => server.failedCalls(objects, name));
    return calls === 0
      ? { outcome: "missed" }
      : { outcome: "made", target: `${calls} ${fault} to ${name}` };
  }

  /** The kind of objects whose calls get a fault. */
  #calledObjects(kind: CallFaultKind, random: Random): ObjectKind {
    // The platform never repeats a gateway's request to a channel object, nor an object's to a home.
    if (kind === "doubled-calls") return "GATEWAYS";
    const roll = random.next();
    if (roll < 0.3) return "CHANNELS";
    return roll < 0.5 && this.#breakables.homes.length > 0 ? "USERS" : "GATEWAYS";
  }

  #namesOf(objects: ObjectKind): readonly string[] {
    const { channels, gateways, homes } = this.#breakables;
    switch (objects) {
      case "CHANNELS":
        return channels;
      case "GATEWAYS":
        return gateways;
      case "USERS":
        return homes;
    }
  }

  async #breakServer(kind: ServerFaultKind, random: Random): Promise<FaultOutcome> {
    const { server, channels, growing, untilGrown, gateways, homes } = this.#breakables;
    if (server === undefined) return { outcome: "missed" };
    switch (kind) {
      case "evict":
      case "evict-close": {
        const sockets = kind === "evict" ? "hibernate" : "close";
        const objects = [
          ...named("CHANNELS", channels),
          ...named("GATEWAYS", gateways),
          ...named("USERS", homes),
        ];
        return firstThat(random, objects, ({ kind: objectKind, name }) =>
          server.evict(objectKind, name, sockets),
        );
      }
      case "crash-channel":
        return this.#crashChannel(server, random);
      case "crash-growing":
        return firstThat(random, named("CHANNELS", growing), async ({ name }) => {
          await untilGrown(name);
          return server.crash("CHANNELS", name);
        });
      case "crash-gateway":
        return firstThat(random, named("GATEWAYS", gateways), ({ name }) =>
          server.crash("GATEWAYS", name),
        );
      case "crash-home":
        return firstThat(random, named("USERS", homes), ({ name }) => server.crash("USERS", name));
      case "kill":
        await server.killAndRestart();
        return { outcome: "made", target: "server" };
      case "deploy":
        await server.deploy();
        return { outcome: "made", target: "server" };
    }
  }

  /**
   * Mostly while a burst ends, when calls to gateways may be late: no later entry tells the gateways of the last commit
   * (rule L4).
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
    // After the burst, no publisher without an answer publishes there again.
    await (random.chance(0.5) ? bursting : pause(waitMs));
    crashing(name);
    const isMade = await server.crash("CHANNELS", name);
    await bursting;
    return isMade ? { outcome: "made", target: name } : { outcome: "missed" };
  }

  /** After the crash nobody changes the map, so that no change tells its subscribers of the loss (rule Z30). */
  async #crashMap(random: Random): Promise<FaultOutcome> {
    const { server, still, stir, crashing } = this.#breakables;
    const free = still.filter((name) => !this.#stirred.has(name));
    if (server === undefined || free.length === 0) return { outcome: "missed" };
    const name = random.pick(free);
    this.#stirred.add(name);
    try {
      await stir(name);
      return await this.#breakInTurn(async () => {
        crashing(name);
        const isMade = await server.crash("CHANNELS", name);
        return isMade ? { outcome: "made", target: name } : { outcome: "missed" };
      });
    } finally {
      this.#stirred.delete(name);
    }
  }

  #breakInTurn(work: () => Promise<FaultOutcome>): Promise<FaultOutcome> {
    return this.#inTurn(async () => (this.#isStopped ? { outcome: "missed" } : work()));
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#serverFree.then(work);
    this.#serverFree = done;
    return done;
  }
}

type ServerFaultKind =
  | "evict"
  | "evict-close"
  | `crash-${"channel" | "growing" | "gateway" | "home"}`
  | "kill"
  | "deploy";

type CallFaultKind = "late-calls" | "lost-calls" | "doubled-calls";

const callFaults: Readonly<Record<CallFaultKind, readonly CallFault[]>> = {
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

/** Long enough that objects give the backend up for a while (rules Q7 and E4), and sometimes not. */
async function breakBackend(
  backend: HookBackend | EventReceiver | undefined,
  random: Random,
): Promise<FaultOutcome> {
  const outage = random.pick(["failing", "hanging", "gone"] as const);
  const isMade = await backend?.breakUntil(outage, pause(random.between(200, 3_000)));
  return isMade === true ? { outcome: "made", target: outage } : { outcome: "missed" };
}

/** Tries objects in random order until one could be broken. */
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

/** How many objects are tried before a fault is given up. */
const triesMax = 4;
/** How long no connection is accepted. */
const dropMs = 2_000;
/** A burst takes some tens of ms. */
const lateDuringBurstMs = 1_000;
/** A publish happens within this time. */
const answerMs = 5_000;
