import type { ChannelSetup } from "../../../src/channel/channel-setup.ts";
import type { PublicationRequest } from "../../../src/contract/channel-call.ts";
import { Channel } from "../../../src/channel/channel.ts";
import type { SubscribeOptions, PublishOutcome } from "../../../src/channel/channel-outcomes.ts";
import type { HistoryOutcome } from "../../../src/channel/history.ts";
import { isChanging } from "./changes/change-kinds.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { isPassing } from "./pusher/pusher-kinds.ts";
import { limits } from "../../../src/limits.ts";
import type { Recovery } from "../../../src/channel/recovery.ts";
import type { ClientInfo, Publication, StreamPosition } from "../../../src/protocol/publication.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import type { Kept, ModelAnswer } from "./model-state.ts";
import { mapOf } from "../../../src/features/maps/map-operations.ts";
import { modelledMap } from "./map-model.ts";
import type { Model } from "./model.ts";
import { MapWatch } from "./watched-map.ts";
import type { HistoryEntry } from "../../../src/channel/history-table.ts";
import type { Changer } from "../../../src/channel/publication-request.ts";
import { textOf } from "../../support/text-of.ts";

/** The host that watches a channel. */
export interface ChannelWatch {
  readonly model: Model;
  /** Whether the current work is about to be undone, so that it need not be right. */
  broken(): boolean;
  /** A key of a map is about to change. */
  changed(publication: Publication): void;
  published(data: string, position: StreamPosition | undefined): void;
  /** All keys of a map are gone. */
  emptied(): void;
  /** The publications or the whole stream were deleted, as the rules demand. */
  forgot(what: "publications" | "stream"): void;
  complain(what: string): void;
}

/** The real channel. It carries out each command in a model too, and compares the answers. */
export class WatchedChannel extends Channel {
  readonly #watch: ChannelWatch;
  /** From so many bytes on, what a client recovers may be too large, with what is stored besides the payloads. */
  readonly #recoveredBytesMax: number;
  readonly #map: MapWatch | undefined;
  /** Whether there is no model of the channel. */
  readonly #isUnmodelled: boolean;

  constructor(setup: ChannelSetup, watch: ChannelWatch) {
    super(setup);
    this.#recoveredBytesMax = (setup.client.queueMaxSizeBytes - limits.answerRestBytes) * 0.7;
    this.#watch = watch;
    const { options } = setup;
    this.#isUnmodelled = growthKindOf(setup.name) !== undefined || isChanging(setup.name);
    const modelled = this.#isUnmodelled ? undefined : modelledMap(options);
    const map = mapOf(this);
    this.#map = map && modelled && new MapWatch(map, modelled, watch);
  }

  override published(
    publication: Publication,
    entry: HistoryEntry,
    position: StreamPosition,
    by: Changer,
  ): void {
    super.published(publication, entry, position, by);
    this.#watch.changed(publication);
    this.#map?.published(publication);
  }

  override restart(nowMs: number, renewed?: () => void): void {
    super.restart(nowMs, renewed);
    if (renewed === undefined) this.#watch.emptied();
  }

  override position(nowMs: number): StreamPosition | undefined {
    const position = super.position(nowMs);
    const answer: ModelAnswer =
      position === undefined ? { outcome: "none" } : { outcome: "position", position };
    this.#compare("position", answer, (model) => model.position(nowMs));
    return position;
  }

  override publish(
    request: PublicationRequest,
    info: ClientInfo | undefined,
    nowMs: number,
  ): PublishOutcome {
    const outcome = super.publish(request, info, nowMs);
    this.#compare("publish", outcome, (model) => model.publish(request, info?.user, nowMs));
    // What is about to be undone may repeat a publication whose key it can't find any more.
    const isKept = !this.#isUnmodelled && !isPassing(request);
    if (outcome.outcome === "published" && !this.#watch.broken() && isKept)
      this.#watch.published(textOf(request.data), outcome.position);
    return outcome;
  }

  override history(
    query: { readonly since?: StreamPosition; readonly limit: number; readonly reverse: boolean },
    nowMs: number,
    bytesMax?: number,
  ): HistoryOutcome {
    const outcome = super.history(query, nowMs, bytesMax);
    this.#compare("history", outcome, (model) => model.history(query, nowMs));
    return outcome;
  }

  override removeHistory(nowMs: number): "removed" | "not-available" {
    const outcome = super.removeHistory(nowMs);
    this.#compare("removal", { outcome }, (model) => model.removeHistory(nowMs));
    if (outcome === "removed") this.#watch.forgot("publications");
    return outcome;
  }

  override recover(
    since: StreamPosition,
    mode: SubscribeOptions["mode"],
    nowMs: number,
    bytesMax?: number,
  ): (Recovery & { readonly position: StreamPosition }) | undefined {
    const recovery = super.recover(since, mode, nowMs, bytesMax);
    this.#compare("recovery", recovery ?? none, (model) => {
      const expected = model.recover(since, mode, false, nowMs);
      // The model doesn't know how much is too large for a client (rule R4).
      const isTooLarge = recovery?.outcome === "unrecoverable" && this.#isLarge(expected);
      return isTooLarge ? { outcome: "unrecoverable", position: recovery.position } : expected;
    });
    return recovery;
  }

  override recoverPage(
    since: StreamPosition,
    nowMs: number,
    bytesMax: number,
  ): (Recovery & { readonly position: StreamPosition }) | undefined {
    const recovery = super.recoverPage(since, nowMs, bytesMax);
    this.#compare("page", recovery ?? none, (model) => model.recover(since, "stream", true, nowMs));
    return recovery;
  }

  override deleteExpired(nowMs: number): void {
    // Keys that have ended are removed first.
    this.keys?.tellLoss(nowMs);
    const hasKeys = (this.#watch.model.state.entries?.size ?? 0) > 0;
    const isHeld = this.hub.size > 0 || this.relay.size > 0 || hasKeys;
    super.deleteExpired(nowMs);
    if (isHeld || this.#watch.broken() || this.#isUnmodelled) return;
    const hadStream = this.#watch.model.state.stream !== undefined;
    if (this.#watch.model.forget(nowMs)) this.#watch.forgot("stream");
    const { stream } = this.#watch.model.state;
    // What is being carried out, such as the read of a map's page, has begun a stream, and the model will do so after it.
    if (!hadStream && this.top?.offset === 0) return;
    if (this.top?.epoch !== stream?.epoch || this.top?.offset !== stream?.top) {
      const { top } = this;
      const should = `${stream?.epoch}:${stream?.top}`;
      this.#watch.complain(`is at ${top?.epoch}:${top?.offset} and should at ${should}`);
    }
  }

  #isLarge({ publications = [] }: ModelAnswer): boolean {
    const bytes = publications.reduce((sum, { data }) => sum + data.length, 0);
    return bytes > this.#recoveredBytesMax;
  }

  #compare(what: string, is: ModelAnswer, should: (model: Model) => ModelAnswer): void {
    if (this.#watch.broken() || this.#isUnmodelled) return;
    const expected = should(this.#watch.model);
    if (isSame(is, expected)) return;
    this.#watch.complain(
      `answered a ${what} with ${describe(is)}, and should with ${describe(expected)}`,
    );
  }
}

const none: ModelAnswer = { outcome: "none" };

function isSame(one: ModelAnswer, other: ModelAnswer): boolean {
  if (one.outcome !== other.outcome) return false;
  if (one.position?.epoch !== other.position?.epoch) return false;
  if (one.position?.offset !== other.position?.offset) return false;
  const { publications = [] } = one;
  const others = other.publications ?? [];
  return (
    publications.length === others.length &&
    publications.every(({ offset, data }, index) => {
      const should = others[index];
      return offset === should?.offset && (data === should.data || isNothing(data, should.data));
    })
  );
}

/** Whether two removals of keys are compared, which have no data. */
function isNothing(one: Payload, other: Payload): boolean {
  return one.length === 0 && other.length === 0;
}

function describe({ outcome, position, publications }: ModelAnswer): string {
  const place = position === undefined ? "" : ` at ${position.epoch}:${position.offset}`;
  const list = publications?.map(shown).join(" ") ?? "";
  return `${outcome}${place} ${list}`.trim();
}

function shown({ offset, data }: Kept): string {
  return `${offset}=${data.length === 0 ? "removed" : textOf(data)}`;
}
