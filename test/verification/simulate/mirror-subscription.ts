import { errorCodes } from "../../../src/protocol/codes.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import { ClientSubscription, type ReceivedPublication } from "./client-subscription.ts";
import type { MapResult } from "./map-subscription.ts";
import type { EventLog } from "./event-log.ts";
import type { PublicationLog } from "./publication-log.ts";

/**
 * One client's subscriptions to a map whose keys come from the server alone: it reads pages of the keys, then what has
 * changed since, and then it is told of each change.
 */
export abstract class MirrorSubscription extends ClientSubscription {
  /** When the subscription became live, ms since 1970. */
  beganAtMs = Number.POSITIVE_INFINITY;
  readonly #fail: (what: string) => void;
  readonly #now: () => number;
  readonly #pageSize: number;
  readonly #type: number;
  #phase: number = phases.state;
  #since: StreamPosition | undefined;
  #cursor = "";

  /** @param type the number of the type of subscription */
  constructor(channel: string, type: number, { who, logs, now, pageSize }: MirrorSubscriber) {
    super(channel, false, who, logs.publicationLog, logs.eventLog);
    this.#type = type;
    this.#fail = (what) => logs.publicationLog.complain(`${who} on ${channel} ${what}`);
    this.#now = now;
    this.#pageSize = pageSize;
  }

  /** Forgets all keys. */
  protected abstract clear(): void;

  protected abstract has(key: string): boolean;

  /** Takes a key, or its removal. */
  protected abstract change(entry: ReceivedPublication): void;

  protected fail(what: string): void {
    this.#fail(what);
  }

  override startFlow(): void {
    this.clear();
    this.#phase = phases.state;
    this.#since = undefined;
    this.#cursor = "";
  }

  override get request(): object {
    return {
      channel: this.channel,
      type: this.#type,
      phase: this.#phase,
      flag: 1,
      limit: this.#pageSize,
      ...this.#since,
      ...(this.#cursor === "" ? {} : { cursor: this.#cursor }),
    };
  }

  override startsAgain(code: number): boolean {
    return code === errorCodes.unrecoverablePosition.code;
  }

  override takeReply(result: MapResult): boolean {
    const { phase = phases.live, cursor = "", epoch = "", offset = 0 } = result;
    const { state = [], publications = [], recoverable = false } = result;
    for (const entry of state) {
      if (this.has(entry.key ?? "")) this.#fail(`was sent ${entry.key} twice`);
      this.change(entry);
    }
    for (const change of publications) this.change(change);
    const since = this.#since ?? { epoch, offset };
    if (epoch !== since.epoch) this.#fail(`was sent ${epoch} after ${since.epoch}`);
    if (phase === phases.live) {
      this.state = "on";
      this.beganAtMs = this.#now();
      if (recoverable) this.#fail("was told that it can recover");
      return true;
    }
    this.#since = phase === phases.stream ? { epoch, offset } : since;
    this.#cursor = cursor;
    this.#phase = cursor === "" ? phases.stream : phases.state;
    return false;
  }

  override take(publication: ReceivedPublication): void {
    if (this.leaving > 0) return;
    if (this.state === "on") this.change(publication);
    else this.#fail(`was told of ${publication.key} while ${this.state}`);
  }

  override lose(): void {
    if (this.state !== "on") this.#fail(`was unsubscribed while ${this.state}`);
    this.losses++;
    this.end();
  }

  override end(): void {
    this.state = "off";
    this.beganAtMs = Number.POSITIVE_INFINITY;
    this.generation++;
  }
}

/** The client whose subscription it is. */
export interface MirrorSubscriber {
  readonly who: string;
  readonly logs: { readonly publicationLog: PublicationLog; readonly eventLog: EventLog };
  readonly now: () => number;
  /** How many keys it asks for at once. */
  readonly pageSize: number;
}

const phases = { live: 0, stream: 1, state: 2 } as const;
