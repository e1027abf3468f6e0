import type { MapEntryTold } from "../checker/maps/map-event.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { ReceivedPublication, Subscriber } from "./client-subscription.ts";
import { mapModeOf } from "./map-kinds.ts";
import { type MapResult, PagedSubscription, phases } from "./paged-subscription.ts";

/** One client's subscriptions to a map. The checker compares the client's copy with the map. */
export class MapSubscription extends PagedSubscription {
  readonly #isEphemeral: boolean;
  /** The entries of all pages; undefined if the client goes on with its copy. */
  #pages: MapEntryTold[] | undefined;
  #changes: MapEntryTold[] = [];

  constructor(channel: string, subscriber: Subscriber) {
    super(channel, 1, subscriber);
    this.#isEphemeral = mapModeOf(channel) === "ephemeral";
  }

  protected override begins(isNew: boolean): void {
    this.#pages = isNew ? [] : undefined;
    this.#changes = [];
  }

  override startsAgain(code: number): boolean {
    if (!super.startsAgain(code)) return false;
    this.eventLog.note({ ...this.mine, type: "info", f: "map-end", forgets: true });
    this.position = undefined;
    return true;
  }

  protected override takePage({ phase, state = [], publications = [] }: MapResult): void {
    this.#pages?.push(...state.map(told));
    this.#changes.push(...publications.map(told));
    if (phase === phases.stream && publications.length === 0)
      this.complain("was sent an empty page of the stream");
  }

  override take(publication: ReceivedPublication): void {
    if (this.leaving > 0) return;
    const change = told(publication);
    const { position } = this;
    const named = publication.epoch === undefined ? {} : { epoch: publication.epoch };
    this.eventLog.note({ ...this.mine, type: "ok", f: "map-deliver", ...change, ...named });
    if (position === undefined) return;
    this.position = { ...position, ...named, offset: change.offset ?? 0 };
  }

  override end(forgets = false): void {
    const isForgotten = forgets || this.#isEphemeral;
    const leaves = !this.wanted || forgets;
    if (this.state === "on" || leaves)
      this.eventLog.note({
        ...this.mine,
        type: "info",
        f: "map-end",
        forgets: isForgotten,
        leaves,
      });
    if (isForgotten) this.position = undefined;
    super.end();
  }

  override checkAt(top: StreamPosition | undefined): void {
    // A client at the beginning is told of another epoch with the first change.
    if (this.#isEphemeral || (this.position?.offset === 0 && top?.offset === 0)) return;
    super.checkAt(top);
  }

  protected override live(
    { epoch = "", offset, recoverable = false }: MapResult,
    _client: string,
    first: number,
  ): void {
    const state = this.#pages;
    if (recoverable === this.#isEphemeral) this.complain(`was told recoverable: ${recoverable}`);
    if (this.#isEphemeral && offset !== undefined) this.complain(`was told the offset ${offset}`);
    const positions = this.#isEphemeral ? {} : { since: first, offset: offset ?? 0 };
    this.position = this.#isEphemeral ? undefined : { epoch, offset: offset ?? 0 };
    this.eventLog.note({
      ...this.mine,
      type: "ok",
      f: "map-subscribe",
      epoch,
      changes: this.#changes,
      ...(state === undefined ? {} : { state }),
      ...positions,
    });
  }
}

function told({ key = "", data, offset, removed }: ReceivedPublication): MapEntryTold {
  return {
    key,
    ...(removed === true ? {} : { value: String(data) }),
    ...(offset === undefined ? {} : { offset }),
  };
}
