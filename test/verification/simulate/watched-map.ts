import type { ChannelMap } from "../../../src/features/maps/channel-map.ts";
import type { MapChangeOutcome } from "../../../src/features/maps/map-outcomes.ts";
import type { MapOptions } from "../../../src/features/maps/config.ts";
import type { Publication, StreamPosition } from "../../../src/protocol/publication.ts";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { textOf } from "../../support/text-of.ts";
import { type MapAnswer, MapModel } from "./map-model.ts";
import type { ChannelWatch } from "./watched-channel.ts";

/** Carries out what the real map does in a model too, and compares the answers. */
export class MapWatch {
  readonly #map: ChannelMap;
  readonly #options: MapOptions;
  readonly #watch: ChannelWatch;
  readonly #model: MapModel;
  /** The changes that the map has told its channel of since the model was compared. */
  #told: Publication[] = [];
  /** Right pages after the first one, by what was asked for: they may be answered again for a moment (rule Z26). */
  readonly #pages = new Map<string, { readonly shown: string; readonly atMs: number }>();
  /** Whether the map was told to expire keys, and does nothing else. */
  #isExpiring = false;

  constructor(map: ChannelMap, options: MapOptions, watch: ChannelWatch) {
    this.#map = map;
    this.#options = options;
    this.#watch = watch;
    this.#model = new MapModel(watch.model, options);
    this.#watchChanges();
    this.#watchReads();
    this.#watchEnds();
  }

  /** The channel was told of a change. */
  published(publication: Publication): void {
    this.#told.push(publication);
  }

  #watchChanges(): void {
    const map = this.#map;
    const change = map.change.bind(map);
    map.change = (request, info, nowMs, apiKey) => {
      const outcome = change(request, info, nowMs, apiKey);
      const own = outcome.outcome === "changed" ? this.#told.pop() : undefined;
      this.#expired(false, nowMs);
      this.#compare(nowMs, () => {
        const { key } = request.request;
        if (this.#model.hasEnded(key, nowMs)) return `looked at ${key}, which has ended`;
        const should = this.#model.change(request, nowMs);
        if (own !== undefined && own.offset !== should.position.offset)
          return `told its channel of a change at ${own.offset}`;
        return isSame(outcome, should)
          ? undefined
          : `answered a change with ${described(outcome)}, and should with ${described(should)}`;
      });
      return outcome;
    };
    const endAt = map.endAt.bind(map);
    map.endAt = (key, endsMs, nowMs) => {
      endAt(key, endsMs, nowMs);
      this.#compare(nowMs, () => {
        this.#model.endAt(key, endsMs);
        return undefined;
      });
    };
    const expire = map.expire.bind(map);
    map.expire = (nowMs) => {
      const before = this.#told.length;
      this.#isExpiring = before === 0;
      expire(nowMs);
      if (this.#isExpiring) this.#expired(true, nowMs);
      this.#isExpiring = false;
      this.#compare(nowMs, () => undefined);
    };
  }

  #watchReads(): void {
    const map = this.#map;
    const page = map.page.bind(map);
    map.page = (query, nowMs, bytesMax) => {
      const outcome = page(query, nowMs, bytesMax);
      this.#opened(nowMs);
      if (outcome.outcome !== "map_state") return outcome;
      const { publications, cursor, position } = outcome;
      const asked = { ...query, max: query.limit, offset: query.since?.offset };
      this.#compare(nowMs, () => this.#wrongPage(asked, publications, cursor, position, nowMs));
      return outcome;
    };
    const readState = map.readState.bind(map);
    map.readState = (query, nowMs) => {
      const outcome = readState(query, nowMs);
      this.#opened(nowMs);
      if (outcome.outcome !== "state" || query.key !== "" || query.limit === 0) return outcome;
      const { entries, cursor, position } = outcome;
      const max = query.limit < 0 ? Number.POSITIVE_INFINITY : query.limit;
      const asked = { cursor: query.cursor, max, offset: query.revision?.offset };
      this.#compare(nowMs, () => this.#wrongPage(asked, entries, cursor, position, nowMs));
      return outcome;
    };
    const keys = map.keys.bind(map);
    map.keys = (nowMs) => {
      const count = keys(nowMs);
      this.#compare(nowMs, () => {
        const should = this.#model.present.length;
        return count === should ? undefined : `counts ${count} keys, and has ${should}`;
      });
      return count;
    };
  }

  #watchEnds(): void {
    const map = this.#map;
    const clear = map.clear.bind(map);
    map.clear = (nowMs) => {
      clear(nowMs);
      this.#watch.forgot("stream");
      this.#compare(nowMs, () => {
        this.#model.clear(nowMs);
        return undefined;
      });
    };
    const tellLoss = map.tellLoss.bind(map);
    map.tellLoss = (nowMs) => {
      const has = this.#model.present.length;
      const epoch = this.#watch.model.state.stream?.epoch;
      tellLoss(nowMs);
      const isCleared = this.#watch.model.state.stream?.epoch !== epoch;
      if (isCleared && has > 0) this.#watch.complain(`dropped ${has} keys that it had answered`);
    };
    const rest = map.rest.bind(map);
    map.rest = (nowMs) => {
      const wasDirty = map.restInMs(nowMs) !== undefined;
      rest(nowMs);
      const isClean = map.restInMs(nowMs) === undefined;
      if (wasDirty && isClean && !this.#watch.broken()) this.#model.noteCheckpoint(true);
    };
  }

  /** A read begins the stream, if there is none. */
  #opened(nowMs: number): void {
    this.#compare(nowMs, () => {
      this.#model.position(nowMs);
      return undefined;
    });
  }

  /** Carries out the removals of keys that have ended. */
  #expired(isInOrder: boolean, nowMs: number): void {
    const told = this.#told;
    this.#told = [];
    for (const publication of told)
      this.#compare(nowMs, () => this.#model.expired(publication, isInOrder, nowMs));
  }

  #wrongPage(
    asked: { readonly cursor: string; readonly max: number; readonly offset: number | undefined },
    entries: readonly Pick<Publication, "key" | "data" | "offset">[],
    cursor: string,
    position: StreamPosition,
    nowMs: number,
  ): string | undefined {
    const top = this.#model.position(nowMs);
    const offsetMax = asked.offset ?? top.offset;
    const left = this.#model.present.filter(
      ([key, { offset }]) => key > asked.cursor && offset <= offsetMax,
    );
    const should = cursor === "" ? left : left.filter(([key]) => key <= cursor);
    const is = entries.map(({ key, offset, data }) => `${key}@${offset}=${textOf(data)}`).join(" ");
    const shown = should
      .map(([key, { offset, data }]) => `${key}@${offset}=${textOf(data)}`)
      .join(" ");
    const page = JSON.stringify([asked, top.epoch]);
    if (is === shown) this.#pages.set(page, { shown, atMs: nowMs });
    else if (asked.offset === undefined || !this.#wasShown(page, is, nowMs))
      return `answered a page with ${is}, and should with ${shown}`;
    if (entries.length > asked.max) return `answered a page with ${entries.length} entries`;
    if (cursor !== "" && cursor <= asked.cursor) return `answered a page without a further cursor`;
    const isAt = position.epoch === top.epoch;
    return isAt ? undefined : `answered a page of ${position.epoch}, and is at ${top.epoch}`;
  }

  #wasShown(page: string, is: string, nowMs: number): boolean {
    const earlier = this.#pages.get(page);
    return earlier?.shown === is && nowMs - earlier.atMs <= mapLimits.mapPageSharedMs;
  }

  /** Compares what was done with the model, unless it is about to be undone. */
  #compare(nowMs: number, wrong: () => string | undefined): void {
    if (this.#watch.broken()) return;
    const complaint = wrong();
    if (complaint !== undefined) this.#watch.complain(complaint);
    const isEphemeral = this.#options.mode === "ephemeral";
    if (isEphemeral && this.#map.restInMs(nowMs) !== undefined) this.#model.noteCheckpoint(false);
  }
}

function isSame(is: MapChangeOutcome, should: MapAnswer): boolean {
  if (is.outcome !== should.outcome) return false;
  const isAt =
    is.position.epoch === should.position.epoch && is.position.offset === should.position.offset;
  if (is.outcome === "changed") return isAt;
  return isAt && is.reason === should.reason && is.currentOffset === should.currentOffset;
}

function described(answer: MapChangeOutcome | MapAnswer): string {
  const { outcome } = answer;
  if (outcome !== "changed" && outcome !== "suppressed") return outcome;
  const { epoch, offset } = answer.position;
  const why =
    outcome === "suppressed" ? ` because of ${answer.reason}, now ${answer.currentOffset}` : "";
  return `${outcome} at ${epoch}:${offset}${why}`;
}
