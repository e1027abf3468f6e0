import { errorCodes } from "../../../src/protocol/codes.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import {
  ClientSubscription,
  type ReceivedPublication,
  type ReceivedResult,
  type Subscriber,
} from "./client-subscription.ts";

/**
 * One client's subscriptions to a map of any kind, with the requests that the official client makes: pages of the state, then
 * pages of the stream, until the server says that the client is live. A client that has a position begins with the stream.
 */
export abstract class PagedSubscription extends ClientSubscription {
  readonly #type: number;
  /** How many entries the client asks for at once. */
  readonly #pageSize: number;
  #flow: Flow | undefined;

  /** @param type the number of the type of subscription */
  constructor(channel: string, type: number, subscriber: Subscriber) {
    super(channel, subscriber);
    this.#type = type;
    this.#pageSize = pageSizeOf(subscriber.who);
  }

  /** The client begins to ask. @param isNew whether it reads the state, and forgets what it has */
  protected abstract begins(isNew: boolean): void;

  /** A page has come. */
  protected abstract takePage(result: MapResult): void;

  /** The client is live. @param first the offset with which it has begun */
  protected abstract live(result: MapResult, client: string, first: number): void;

  /** What the requests name besides the page. */
  protected get more(): object {
    return {};
  }

  override startFlow(): void {
    const { position: since } = this;
    const isNew = since === undefined;
    const phase = isNew ? phases.state : phases.stream;
    this.#flow = { phase, since, first: since?.offset, cursor: "", isNew };
    this.begins(isNew);
  }

  override get request(): object {
    const { phase = phases.state, since, cursor = "", isNew = true } = this.#flow ?? {};
    return {
      channel: this.channel,
      type: this.#type,
      phase,
      flag: 1,
      limit: this.#pageSize,
      ...since,
      ...(cursor === "" ? {} : { cursor }),
      ...(isNew ? {} : { recover: true }),
      ...this.more,
    };
  }

  override startsAgain(code: number): boolean {
    return code === errorCodes.unrecoverablePosition.code;
  }

  override takeReply(result: MapResult, client: string): boolean {
    const flow = this.#flow;
    if (flow === undefined) return true;
    const { phase = phases.live, cursor = "", epoch = "", offset = 0 } = result;
    const { state = [], publications = [] } = result;
    if (state.length > 0 && !flow.isNew) this.complain("was sent a state that it has");
    this.takePage(result);
    // A client whose first reply makes it live isn't told as of when the state is: the changes begin after it.
    const isLive = phase === phases.live;
    flow.since ??= { epoch, offset: offset - (isLive ? publications.length : 0) };
    flow.first ??= flow.since.offset;
    if (epoch !== flow.since.epoch) this.complain(`was sent ${epoch} after ${flow.since.epoch}`);
    if (isLive) {
      this.state = "on";
      this.isRevoked = false;
      this.members.clear();
      this.#flow = undefined;
      this.live(result, client, flow.first);
      return true;
    }
    if (phase === phases.stream) flow.since = { epoch, offset };
    flow.cursor = cursor;
    flow.phase = cursor === "" ? phases.stream : phases.state;
    return false;
  }

  override lose(_code: number): void {
    if (this.state !== "on") this.complain(`was unsubscribed while ${this.state}`);
    this.losses++;
    this.end();
  }

  override end(_forgets = false): void {
    this.state = "off";
    this.#flow = undefined;
    this.generation++;
  }
}

/** The result of a subscribe to a map. */
export interface MapResult extends ReceivedResult {
  readonly recoverable?: boolean;
  readonly phase?: number;
  readonly cursor?: string;
  readonly state?: readonly ReceivedPublication[];
}

/** Where the client is before it is live. */
interface Flow {
  phase: number;
  /** The position of the first page, later that of the last page of the stream; or of the copy that it goes on with. */
  since: StreamPosition | undefined;
  /** The offset with which the flow began. */
  first: number | undefined;
  cursor: string;
  /** Whether the client reads the state, and forgets what it has. */
  readonly isNew: boolean;
}

export const phases = { live: 0, stream: 1, state: 2 } as const;

/** Clients differ in how many entries of a map they ask for at once. */
function pageSizeOf(client: string): number {
  return 1 + ((client.length + client.charCodeAt(client.length - 1)) % 3);
}
