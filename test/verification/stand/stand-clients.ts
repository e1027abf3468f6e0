import type { Random } from "../../support/random.ts";
import { clientMs } from "./places.ts";
import type { StandObject } from "./stand-object.ts";
import type { ClientEnd, StandSocket } from "./stand-sockets.ts";
import type { StandWorld } from "./stand-world.ts";

/** A publication, and how many clients have got it. */
interface SeenPublication {
  readonly atMs: number;
  clients: number;
  /** When the last client got it, ms since 1970. */
  lastAtMs: number;
  /** The same of clients whose connection was never cut. */
  lastUncutAtMs: number;
  isRefused: boolean;
}

/** What the clients of a world have seen together. */
export class Seen {
  readonly #publications: SeenPublication[] = [];
  /** Clients by the time until they had a publication, in steps of {@link stepMs}. */
  readonly #delays: number[] = [];
  connects = 0;
  timeouts = 0;
  /** Clients that subscribed again and were told that they had missed nothing, and others. */
  recovered = 0;
  unrecovered = 0;
  /** When clients were back, ms since 1970, each with how many they are. */
  readonly back: { atMs: number; clients: number }[] = [];
  readonly #frames = new Map<string, ParsedFrame>();

  /** The publications that weren't refused. */
  get publications(): readonly SeenPublication[] {
    return this.#publications.filter(({ isRefused }) => !isRefused);
  }

  /** @returns the publication's number */
  published(atMs: number): number {
    return (
      this.#publications.push({
        atMs,
        clients: 0,
        lastAtMs: atMs,
        lastUncutAtMs: atMs,
        isRefused: false,
      }) - 1
    );
  }

  refused(number: number): void {
    const publication = this.#publications[number];
    if (publication !== undefined) publication.isRefused = true;
  }

  /** Frames to many sockets are the same text. */
  parsed(frame: string): ParsedFrame {
    const known = this.#frames.get(frame);
    if (known !== undefined) return known;
    if (this.#frames.size > framesKeptMax) this.#frames.clear();
    const made = parsed(frame);
    this.#frames.set(frame, made);
    return made;
  }

  take(numbers: readonly number[], clients: number, atMs: number, wasCut: boolean): void {
    for (const number of numbers) {
      const publication = this.#publications[number];
      if (publication === undefined) continue;
      publication.clients += clients;
      if (atMs > publication.lastAtMs) publication.lastAtMs = atMs;
      if (!wasCut && atMs > publication.lastUncutAtMs) publication.lastUncutAtMs = atMs;
      const step = Math.floor((atMs - publication.atMs) / stepMs);
      this.#delays[step] = (this.#delays[step] ?? 0) + clients;
    }
  }

  /** The time by which so large a share of the deliveries had arrived, ms. */
  delayMs(share: number): number {
    let all = 0;
    for (const clients of this.#delays) all += clients ?? 0;
    let sum = 0;
    for (const [step, clients] of this.#delays.entries()) {
      sum += clients ?? 0;
      if (sum >= all * share) return (step + 1) * stepMs;
    }
    return 0;
  }
}

/** Clients that act as one: each connects to the gateway of its number, subscribes to a channel, and comes back. */
export class StandClient implements ClientEnd {
  readonly weight: number;
  readonly latencyMs: number;
  readonly #world: StandWorld;
  readonly #seen: Seen;
  readonly #random: Random;
  readonly #gateway: StandObject;
  readonly #channel: string;
  #socket: StandSocket | undefined;
  #tries = 0;
  #ids = 0;
  /** The position after what it got last; undefined before its first subscribe. */
  #epoch: string | undefined;
  #offset = 0;
  #isSubscribed = false;
  #attempt = 0;
  #wasCut = false;

  constructor(world: StandWorld, seen: Seen, gateway: StandObject, channel: string) {
    this.weight = world.weight;
    this.#world = world;
    this.#seen = seen;
    this.#random = world.random;
    this.#gateway = gateway;
    this.#channel = channel;
    this.latencyMs = this.#random.between(clientMs.least, clientMs.most);
  }

  get isSubscribed(): boolean {
    return this.#isSubscribed;
  }

  connect(): void {
    const attempt = ++this.#attempt;
    this.#isSubscribed = false;
    this.#ids = 0;
    this.#seen.connects += this.weight;
    const { moments } = this.#world;
    // TCP, TLS and the upgrade's request: two round trips and a half.
    moments.at(moments.nowMs + 5 * this.latencyMs, () => {
      if (attempt !== this.#attempt || !this.#gateway.isReachable) return;
      this.#socket = this.#gateway.sockets.open(this);
      this.#send({ connect: {} });
    });
    moments.at(moments.nowMs + timeoutMs, () => {
      if (attempt !== this.#attempt || this.#isSubscribed) return;
      this.#seen.timeouts += this.weight;
      if (this.#socket !== undefined) this.#gateway.sockets.left(this.#socket);
      this.#comeBack();
    });
  }

  receive(frame: string, atMs: number): void {
    const { replies, publications } = this.#seen.parsed(frame);
    this.#take(publications, atMs);
    if (replies.length === 0) return;
    const attempt = this.#attempt;
    this.#world.moments.at(atMs, () => {
      if (attempt !== this.#attempt) return;
      for (const reply of replies) this.#reply(reply, atMs);
    });
  }

  closed(): void {
    this.#wasCut = true;
    this.#comeBack();
  }

  #comeBack(): void {
    const { moments } = this.#world;
    this.#socket = undefined;
    this.#isSubscribed = false;
    const attempt = ++this.#attempt;
    // The backoff of centrifuge-js: full jitter, from half a second to 20 s.
    const mostMs = Math.min(backoffMostMs, backoffLeastMs * 2 ** this.#tries++);
    const waitMs = Math.min(backoffMostMs, backoffLeastMs + this.#random.next() * mostMs);
    moments.at(moments.nowMs + waitMs, () => {
      if (attempt === this.#attempt) this.connect();
    });
  }

  #reply(reply: ParsedReply, atMs: number): void {
    if (reply.connect !== undefined) {
      const position = { epoch: this.#epoch, offset: this.#offset };
      const recovers = this.#epoch === undefined ? {} : { recover: true, ...position };
      this.#send({ subscribe: { channel: this.#channel, ...recovers } });
    } else if (reply.subscribe !== undefined) {
      const { recovered = false, epoch = "", offset = 0, publications = [] } = reply.subscribe;
      if (this.#epoch !== undefined) {
        if (recovered) this.#seen.recovered += this.weight;
        else this.#seen.unrecovered += this.weight;
      }
      this.#epoch = epoch;
      this.#offset = Math.max(this.#offset, offset);
      this.#isSubscribed = true;
      this.#tries = 0;
      this.#seen.back.push({ atMs, clients: this.weight });
      this.#take(shown(publications), atMs);
    } else if (reply.error !== undefined) {
      if (this.#socket !== undefined) this.#gateway.sockets.left(this.#socket);
      this.#comeBack();
    }
  }

  #take({ numbers, offset }: ParsedPublications, atMs: number): void {
    if (numbers.length === 0) return;
    this.#seen.take(numbers, this.weight, atMs, this.#wasCut);
    this.#offset = Math.max(this.#offset, offset);
  }

  #send(command: object): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    const frame = JSON.stringify({ id: ++this.#ids, ...command });
    const { moments } = this.#world;
    const attempt = this.#attempt;
    moments.at(moments.nowMs + this.latencyMs, () => {
      if (attempt === this.#attempt && this.#gateway.isReachable)
        this.#gateway.sockets.message(socket, frame);
    });
  }
}

/** Publications by their numbers, and the offset of the last one. */
interface ParsedPublications {
  readonly numbers: readonly number[];
  readonly offset: number;
}

interface ParsedFrame {
  readonly replies: readonly ParsedReply[];
  readonly publications: ParsedPublications;
}

interface WirePublication {
  readonly data: string;
  readonly offset?: number;
}

interface ParsedReply {
  readonly id?: number;
  readonly connect?: object;
  readonly subscribe?: {
    readonly recovered?: boolean;
    readonly epoch?: string;
    readonly offset?: number;
    readonly publications?: readonly WirePublication[];
  };
  readonly error?: object;
  readonly push?: { readonly pub?: WirePublication };
}

function parsed(frame: string): ParsedFrame {
  const lines = frame.split("\n").map((line): ParsedReply => JSON.parse(line));
  return {
    replies: lines.filter(({ id }) => id !== undefined),
    publications: shown(lines.flatMap(({ push }) => (push?.pub === undefined ? [] : [push.pub]))),
  };
}

function shown(publications: readonly WirePublication[]): ParsedPublications {
  return {
    numbers: publications.map(({ data }) => Number.parseInt(data, 10)),
    offset: publications.at(-1)?.offset ?? 0,
  };
}

/** How exactly times until a delivery are counted, ms. */
const stepMs = 5;
/** Frames whose parsed form is kept: those of all gateways of a moment. */
const framesKeptMax = 2_000;
const backoffLeastMs = 500;
const backoffMostMs = 20_000;
/** How long centrifuge-js waits for a reply. */
const timeoutMs = 5_000;
