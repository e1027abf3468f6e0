import type { StreamPosition } from "../../../../src/protocol/publication.ts";
import type {
  RelayBatch,
  RelayBatchReply,
  RelayEntry,
} from "../../../../src/contract/relay-batch.ts";
import type {
  RelayReply,
  RelayReplies,
  RelayRequest,
} from "../../../../src/contract/relay-request.ts";
import type { ChannelClientPort } from "../../../../src/gateway/channel-client.ts";
import { json } from "../../api/channel-config.ts";

/** How many publications the history keeps. */
const historySize = 6;
/** How many missed publications a gateway gets at once. */
const pageSize = 2;
/** How many entries the channel keeps for a gateway that falls behind. */
const logSize = 8;

/**
 * A channel's object, and the network to one gateway, which loses, delays, repeats and overtakes. The object keeps the
 * contract of `Batch` and `Question`, in as few lines as it takes.
 */
export class ModelChannel implements ChannelClientPort {
  instance = 1;
  epoch = "e1";
  top = 0;
  /** Without history: how many publications this instance had. */
  said = 0;
  readonly #hasHistory: boolean;
  #epochs = 1;
  /** The oldest offset that can be read. */
  #floor = 1;
  #entries: { readonly entry: RelayEntry; readonly top: number }[] = [];
  #registered = false;
  #next = 1;
  #certain = false;
  #owed = false;
  #followedMeanwhile = false;
  #inFlight: RelayBatch | undefined;
  #late: RelayBatch[] = [];
  #call:
    | { requests: readonly RelayRequest[]; answered: (answers?: RelayReplies) => void }
    | undefined;
  #carriedOut: readonly RelayReply[] | undefined;

  constructor(hasHistory: boolean) {
    this.#hasHistory = hasHistory;
  }

  call(
    _channel: string,
    requests: readonly RelayRequest[],
    answered: (answers: RelayReplies | undefined) => void,
  ): void {
    if (this.#call !== undefined) throw new Error("two calls are under way");
    this.#call = { requests, answered };
  }

  /**
   * Whether a gateway may hibernate: no call to it or from it is in flight, and it has been called for every entry or a
   * call to it has failed. A channel object calls at once, and a gateway takes longer to hibernate.
   */
  get quiet(): boolean {
    const delivers = this.owes && this.#certain;
    return this.#call === undefined && this.#late.length === 0 && !delivers;
  }

  get calling(): boolean {
    return this.#call !== undefined;
  }

  /** The next text on a channel without history, or the publication at the next offset. */
  publish(): void {
    if (!this.#hasHistory) {
      const data = json(`"${this.instance}:${++this.said}"`);
      this.#add({ type: "publication", publication: { data, offset: 0 } });
      return;
    }
    const offset = ++this.top;
    this.#floor = Math.max(this.#floor, offset - historySize + 1);
    this.#add({ type: "publication", publication: this.#publication(offset, true) });
  }

  /** Something that isn't in the stream. */
  announce(): void {
    this.#add({ type: "join", info: { user: "1", client: "c" } });
  }

  removeHistory(): void {
    if (!this.#hasHistory) return;
    this.#floor = this.top + 1;
    this.#add({ type: "removed" });
  }

  /** The object is thrown away and made again. */
  restart(): void {
    this.instance++;
    this.#entries = [];
    this.said = 0;
    this.#next = 1;
    this.#certain = false;
    this.#owed = true;
    this.#inFlight = undefined;
  }

  /** The stream is lost with all that was in it. */
  loseStream(): void {
    if (!this.#hasHistory) return;
    this.restart();
    this.epoch = `e${++this.#epochs}`;
    this.top = 0;
    this.#floor = 1;
  }

  /** Calls the gateway: the call may arrive, and so may its answer. */
  deliver(
    take: (batch: RelayBatch) => RelayBatchReply,
    received: boolean,
    replyArrives: boolean,
  ): void {
    const batch = this.#begin();
    if (batch === undefined) return;
    const answer = received ? take(batch) : undefined;
    this.#ended(replyArrives ? answer : undefined);
  }

  /** Calls the gateway, and gives up waiting; the call arrives later. */
  delay(): void {
    const batch = this.#begin();
    if (batch === undefined) return;
    this.#late.push(batch);
    this.#ended(undefined);
  }

  /** A delayed call arrives at the gateway. */
  deliverLate(take: (batch: RelayBatch) => RelayBatchReply, which: number): void {
    const [batch] = this.#late.splice(which % Math.max(1, this.#late.length), 1);
    if (batch !== undefined) take(batch);
  }

  /** Owes the gateway the top of the stream. */
  owe(): void {
    this.#owed = true;
  }

  get owes(): boolean {
    return this.#registered && (this.#owed || this.#next <= this.#entries.length);
  }

  /** Carries out the gateway's requests, without answering yet. */
  carryOut(): void {
    if (this.#call === undefined || this.#carriedOut !== undefined) return;
    this.#carriedOut = this.#call.requests.map((request) => this.#answer(request));
  }

  /** Answers the gateway's call, or lets it fail, whether or not it was carried out. */
  answer(fails: boolean): void {
    const call = this.#call;
    if (call === undefined) return;
    if (!fails) this.carryOut();
    const answers = this.#carriedOut ?? [];
    this.#call = undefined;
    this.#carriedOut = undefined;
    call.answered(fails ? undefined : { outcome: "answers", answers });
  }

  #begin(): RelayBatch | undefined {
    if (!this.owes || this.#inFlight !== undefined) return undefined;
    const oldest = this.#entries.length - logSize + 1;
    if (this.#next < oldest) {
      this.#next = oldest;
      this.#certain = false;
    }
    const sent = this.#entries.slice(this.#next - 1, this.#next + 3);
    const whole = this.#next - 1 + sent.length === this.#entries.length;
    const offset = whole ? this.top : (sent.at(-1)?.top ?? 0);
    this.#followedMeanwhile = false;
    this.#inFlight = {
      v: 1,
      channel: "news",
      instance: this.instance,
      first: this.#next,
      entries: sent.map(({ entry }) => entry),
      certain: this.#certain,
      ...(this.#hasHistory ? { top: { offset, epoch: this.epoch } } : {}),
    };
    return this.#inFlight;
  }

  #ended(answer: RelayBatchReply | undefined): void {
    const batch = this.#inFlight;
    this.#inFlight = undefined;
    if (batch === undefined || batch.instance !== this.instance) return;
    if (answer?.outcome === "taken") {
      this.#next = Math.max(this.#next, batch.first + batch.entries.length);
      this.#certain = true;
      this.#owed = false;
    } else if (answer?.outcome === "left") {
      if (!this.#followedMeanwhile) this.#registered = false;
    } else if (!this.#followedMeanwhile) this.#certain = false;
  }

  #answer(request: RelayRequest): RelayReply {
    const position: StreamPosition = { offset: this.top, epoch: this.epoch };
    switch (request.method) {
      case "follow": {
        this.#registered = true;
        this.#next = this.#entries.length + 1;
        this.#certain = true;
        this.#followedMeanwhile = true;
        const { instance } = this;
        const sequence = this.#entries.length;
        const stands = this.#hasHistory ? { position } : {};
        return { outcome: "following", instance, sequence, ...stands };
      }
      case "recover": {
        const { offset, epoch } = request.since;
        const isGone = offset > this.top || (offset < this.top && offset + 1 < this.#floor);
        if (isGone || (epoch !== "" && epoch !== this.epoch)) {
          return { outcome: "unrecoverable", position };
        }
        const publications = this.#read(offset);
        // A gateway that reads missed publications gets one page.
        const page = request.whole === true ? publications.slice(0, pageSize) : publications;
        return { outcome: "recovered", publications: page, position };
      }
      case "newest": {
        const publications = this.#read(this.top - 1).slice(-1);
        if (publications.length === 0) return { outcome: "unrecoverable", position };
        return { outcome: "recovered", publications, position };
      }
      case "announce":
      case "check":
      case "history":
      case "publish":
      case "map_state":
      case "map_stream":
      case "map_publish":
      case "map_remove":
      case "map_append":
      case "call":
      case "map_read_state":
      case "map_read_stream":
      case "mark_read":
      case "unread":
      case "delivered":
      case "marks":
      case "set_audience":
      case "add_audience":
      case "remove_audience":
      case "audience":
      case "shared_poll_publish":
      case "update_publication":
      case "delete_publication":
      case "erase":
      case "track":
      case "untrack":
      case "cacheMissed":
      case "members":
      case "subscriptions":
        throw new Error(`nobody asks for ${request.method} here`);
    }
  }

  #read(after: number): ReturnType<ModelChannel["publicationAt"]>[] {
    const publications = [];
    for (let offset = Math.max(after + 1, this.#floor); offset <= this.top; offset++) {
      publications.push(this.publicationAt(offset));
    }
    return publications;
  }

  /** The publication at an offset of the history. */
  publicationAt(offset: number): { data: ReturnType<typeof json>; offset: number } {
    return { data: json(`"${this.epoch}:${offset}"`), offset };
  }

  #publication(offset: number, live: boolean): ReturnType<ModelChannel["publicationAt"]> {
    const epoch = live && offset === 1 ? { epoch: this.epoch } : {};
    return { ...this.publicationAt(offset), ...epoch };
  }

  #add(entry: RelayEntry): void {
    this.#entries.push({ entry, top: this.top });
  }
}
