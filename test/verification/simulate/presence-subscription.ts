import { errorCodes } from "../../../src/protocol/codes.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import { ClientSubscription, type ReceivedPublication } from "./client-subscription.ts";
import type { MapResult } from "./map-subscription.ts";
import { presenceKindOf } from "./presence-kinds.ts";
import type { EventLog } from "./event-log.ts";
import type { PublicationLog } from "./publication-log.ts";

/**
 * One client's subscriptions to a presence map: it reads pages of the keys, then what has changed since, and then it is told
 * of each change. It has its keys from the server alone.
 */
export class PresenceSubscription extends ClientSubscription {
  /** The keys as the client has them; those of the last subscription once it has ended. */
  readonly keys = new Set<string>();
  /** When the subscription became live, ms since 1970. */
  beganAtMs = Number.POSITIVE_INFINITY;
  readonly #fail: (what: string) => void;
  readonly #now: () => number;
  readonly #pageSize: number;
  readonly #isOfClients: boolean;
  #phase: number = phases.state;
  #since: StreamPosition | undefined;
  #cursor = "";

  constructor(
    channel: string,
    who: string,
    logs: { readonly publicationLog: PublicationLog; readonly eventLog: EventLog },
    now: () => number,
    pageSize: number,
  ) {
    super(channel, false, who, logs.publicationLog, logs.eventLog);
    this.#fail = (what) => logs.publicationLog.complain(`${who} on ${channel} ${what}`);
    this.#now = now;
    this.#pageSize = pageSize;
    this.#isOfClients = presenceKindOf(channel) === "clients";
  }

  override startFlow(): void {
    this.keys.clear();
    this.#phase = phases.state;
    this.#since = undefined;
    this.#cursor = "";
  }

  override get request(): object {
    return {
      channel: this.channel,
      type: this.#isOfClients ? 2 : 3,
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
      if (this.keys.has(entry.key ?? "")) this.#fail(`was sent ${entry.key} twice`);
      this.#change(entry);
    }
    for (const change of publications) this.#change(change);
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
    if (this.state === "on") this.#change(publication);
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

  override checkAt(): void {
    // The keys are compared with the clients that are there.
  }

  #change({ key = "", removed, info }: ReceivedPublication): void {
    if (removed === true) {
      this.keys.delete(key);
      return;
    }
    this.keys.add(key);
    const client = info?.client ?? "";
    if (client !== (this.#isOfClients ? key : "")) this.#fail(`has ${client} for ${key}`);
  }
}

const phases = { live: 0, stream: 1, state: 2 } as const;
