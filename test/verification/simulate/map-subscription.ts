import type { MapEntryTold } from "../checker/maps/map-event.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import {
  ClientSubscription,
  type ReceivedPublication,
  type ReceivedResult,
} from "./client-subscription.ts";
import type { EventLog } from "./event-log.ts";
import { mapModeOf } from "./map-kinds.ts";
import type { PublicationLog } from "./publication-log.ts";

/**
 * One client's subscriptions to a map, with the requests that the official client makes: pages of the state, then pages of
 * the stream, until the server says that the client is live. A client that comes back begins with the stream. The checker
 * compares its copy with the map.
 */
export class MapSubscription extends ClientSubscription {
  readonly #who: string;
  readonly #publications: PublicationLog;
  readonly #eventLog: EventLog;
  readonly #isEphemeral: boolean;
  /** How many entries the client asks for at once. */
  readonly #pageSize: number;
  #flow: Flow | undefined;

  constructor(
    channel: string,
    who: string,
    publicationLog: PublicationLog,
    eventLog: EventLog,
    pageSize: number,
  ) {
    super(channel, false, who, publicationLog, eventLog);
    this.#who = who;
    this.#publications = publicationLog;
    this.#eventLog = eventLog;
    this.#isEphemeral = mapModeOf(channel) === "ephemeral";
    this.#pageSize = pageSize;
  }

  override startFlow(): void {
    const { position } = this;
    this.#flow =
      position === undefined
        ? { phase: phases.state, since: undefined, cursor: "", state: [], changes: [] }
        : { phase: phases.stream, since: position, cursor: "", state: undefined, changes: [] };
  }

  override get request(): object {
    const { channel } = this;
    const { phase, since, cursor, state } = this.#flow ?? idle;
    return {
      channel,
      type: 1,
      phase,
      flag: 1,
      limit: this.#pageSize,
      ...since,
      ...(cursor === "" ? {} : { cursor }),
      ...(state === undefined ? { recover: true } : {}),
    };
  }

  override startsAgain(code: number): boolean {
    if (code !== errorCodes.unrecoverablePosition.code) return false;
    this.#note({ f: "map-end", forgets: true });
    this.position = undefined;
    return true;
  }

  override takeReply(result: MapResult): boolean {
    const flow = this.#flow ?? idle;
    const { phase = phases.live, cursor = "", epoch = "", offset } = result;
    const state = (result.state ?? []).map(told);
    const changes = (result.publications ?? []).map(told);
    if (state.length > 0 && flow.state === undefined) this.#fail("was sent a state that it has");
    flow.state?.push(...state);
    flow.changes.push(...changes);
    // A client whose first reply makes it live isn't told as of when the state is: the changes begin after it.
    const isLive = phase === phases.live;
    flow.since ??= { epoch, offset: (offset ?? 0) - (isLive ? changes.length : 0) };
    flow.first ??= flow.since.offset;
    if (epoch !== flow.since.epoch) this.#fail(`was sent ${epoch} after ${flow.since.epoch}`);
    if (isLive) {
      this.#live(flow, epoch, result);
      return true;
    }
    if (phase === phases.stream) {
      if (changes.length === 0) this.#fail("was sent an empty page of the stream");
      flow.since = { epoch, offset: offset ?? 0 };
    }
    flow.cursor = cursor;
    flow.phase = cursor === "" ? phases.stream : phases.state;
    return false;
  }

  override take(publication: ReceivedPublication): void {
    if (this.leaving > 0) return;
    const change = told(publication);
    const { position } = this;
    const named = publication.epoch === undefined ? {} : { epoch: publication.epoch };
    this.#note({ f: "map-deliver", ...change, ...named });
    if (position === undefined) return;
    this.position = { ...position, ...named, offset: change.offset ?? 0 };
  }

  override lose(): void {
    if (this.state !== "on") this.#fail(`was unsubscribed while ${this.state}`);
    this.losses++;
    this.#end(false);
  }

  override end(forgets = false): void {
    this.#end(forgets);
  }

  override checkAt(top: StreamPosition | undefined): void {
    // A client at the beginning is told of another epoch with the first change.
    if (this.#isEphemeral || (this.position?.offset === 0 && top?.offset === 0)) return;
    super.checkAt(top);
  }

  #live(flow: Flow, epoch: string, { offset, recoverable = false }: MapResult): void {
    const { state, changes, first } = flow;
    this.state = "on";
    this.isRevoked = false;
    this.#flow = undefined;
    this.members.clear();
    if (recoverable === this.#isEphemeral) this.#fail(`was told recoverable: ${recoverable}`);
    if (this.#isEphemeral && offset !== undefined) this.#fail(`was told the offset ${offset}`);
    const positions = this.#isEphemeral ? {} : { since: first ?? 0, offset: offset ?? 0 };
    this.position = this.#isEphemeral ? undefined : { epoch, offset: offset ?? 0 };
    this.#eventLog.note({
      ...this.#mine,
      type: "ok",
      f: "map-subscribe",
      epoch,
      changes,
      ...(state === undefined ? {} : { state }),
      ...positions,
    });
  }

  #end(forgets: boolean): void {
    const isForgotten = forgets || this.#isEphemeral;
    const leaves = !this.wanted || forgets;
    if (this.state === "on" || leaves) this.#note({ f: "map-end", forgets: isForgotten, leaves });
    if (isForgotten) this.position = undefined;
    this.state = "off";
    this.#flow = undefined;
    this.generation++;
  }

  get #mine(): { readonly process: string; readonly channel: string } {
    return { process: this.process, channel: this.channel };
  }

  #note(
    event:
      | ({ readonly f: "map-deliver"; readonly epoch?: string } & MapEntryTold)
      | { readonly f: "map-end"; readonly forgets: boolean; readonly leaves?: boolean },
  ): void {
    if (event.f === "map-end") this.#eventLog.note({ ...this.#mine, type: "info", ...event });
    else this.#eventLog.note({ ...this.#mine, type: "ok", ...event });
  }

  #fail(what: string): void {
    this.#publications.complain(`${this.#who} on ${this.channel} ${what}`);
  }
}

/** The result of a subscribe to a map. */
export interface MapResult extends ReceivedResult {
  readonly recoverable?: boolean;
  readonly phase?: number;
  readonly cursor?: string;
  readonly state?: readonly ReceivedPublication[];
}

/** What the client has collected before it is live. */
interface Flow {
  phase: number;
  /** The position of the first page, later that of the last page of the stream; or of the copy that it goes on with. */
  since: StreamPosition | undefined;
  /** The offset with which the flow began. */
  first?: number;
  cursor: string;
  /** The entries of all pages; undefined if the client goes on with its copy. */
  readonly state: MapEntryTold[] | undefined;
  readonly changes: MapEntryTold[];
}

const phases = { live: 0, stream: 1, state: 2 } as const;

const idle: Flow = { phase: phases.state, since: undefined, cursor: "", state: [], changes: [] };

function told({ key = "", data, offset, removed }: ReceivedPublication): MapEntryTold {
  return {
    key,
    ...(removed === true ? {} : { value: String(data) }),
    ...(offset === undefined ? {} : { offset }),
  };
}
