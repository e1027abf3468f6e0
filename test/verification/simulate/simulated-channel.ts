import { resolveChannel } from "../../../src/channel/channel-name.ts";
import type { ChannelSetup } from "../../../src/channel/channel-setup.ts";
import { keyedStreamOf, channelCalls } from "../../../src/features/index.ts";
import { PresenceMap } from "../../../src/features/presence/presence-map.ts";
import {
  PresenceTeller,
  type PresenceTold,
} from "../../../src/features/presence/presence-teller.ts";
import type { ChannelOptions } from "../../../src/config/config.ts";
import type { ChannelAnswers, ChannelOperation } from "../../../src/contract/channel-call.ts";
import type { MirrorToldReply } from "../../../src/features/maps/mirror/mirror-map.ts";
import type { ChannelPresenceReply } from "../../../src/contract/relay-request.ts";
import type { FanOutLimits } from "../../../src/hub/hub.ts";
import { ChannelHost } from "../../../src/object/channel-host.ts";
import type { ObjectBounds } from "../../../src/object/part.ts";
import type { Platform } from "../../../src/object/platform.ts";
import type { Publication, StreamPosition } from "../../../src/protocol/publication.ts";
import type { ChannelPart } from "../../../src/channel/channel-part.ts";
import { ChannelAudience } from "../../../src/features/cursors/audience/channel-audience.ts";
import { ChannelCursors } from "../../../src/features/cursors/channel-cursors.ts";
import { ChannelProcedures } from "../../../src/features/procedures/channel-procedures.ts";
import { CursorModel } from "./cursor-model.ts";
import { watchAudience, watchCursors, watchForgetting, watchJudging } from "./watched-cursors.ts";
import { JudgingRules } from "./judging-rules.ts";
import { payloadJson } from "../../../src/protocol/payload.ts";
import { mapOf } from "../../../src/features/maps/map-operations.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { MapModel, modelledMap } from "./map-model.ts";
import { CodeModel } from "./bank/code-model.ts";
import { WatchedCode } from "./bank/watched-code.ts";
import { Model } from "./model.ts";
import type { ModelMark } from "./model-state.ts";
import { isMirror } from "./map-kinds.ts";
import { presenceKindOf } from "./presence-kinds.ts";
import { SimulatedHolder } from "./simulated-holder.ts";
import { WatchedChannel } from "./watched-channel.ts";
import type { Done, WorldContext } from "./world-context.ts";

/** The object of a channel, with a model of the channel that each answer is compared with. */
export class SimulatedChannel extends SimulatedHolder<ChannelHost> {
  readonly #options: ChannelOptions;
  readonly #model: Model;
  readonly #mapModel: MapModel | undefined;
  readonly #codeModel: CodeModel | undefined;
  #code: WatchedCode | undefined;
  #channel: WatchedChannel | undefined;
  #incarnations = 0;
  #epochs = 0;
  #newestInstanceMs = 0;

  /** Times that are compared have to be of one clock. */
  #isTurned = false;
  readonly #judging = new JudgingRules((what) => {
    if (!this.#isTurned) this.#complain(what);
  });

  constructor(name: string, context: WorldContext) {
    super(name, context);
    const { config } = context;
    const resolved = resolveChannel(name, config.channel);
    if (resolved.outcome !== "resolved") throw new Error(resolved.outcome);
    this.#options = resolved.options;
    const kind = keyedStreamOf(resolved.options);
    const { historySize, historyTtlMs, historyMetaTtlMs } = resolved.options;
    const { size, ttlMs, metaTtlMs } = kind?.history ?? {
      size: historySize,
      ttlMs: historyTtlMs,
      metaTtlMs: historyMetaTtlMs,
    };
    this.#model = new Model(
      { historySize: size, historyTtlMs: ttlMs, historyMetaTtlMs: metaTtlMs },
      kind?.recoveryLimit ?? config.client.recoveryMaxPublicationLimit,
      () => `epoch${this.#epochs}`,
    );
    const isModelled = growthKindOf(name) === undefined;
    const map = isModelled ? modelledMap(resolved.options) : undefined;
    this.#mapModel = map && new MapModel(this.#model, map);
    const { code } = resolved.options;
    this.#codeModel = code && new CodeModel(name, code, this.#model, map !== undefined);
  }

  get ownName(): string {
    return this.name;
  }

  protected override newHost(platform: Platform): ChannelHost {
    const { config, fanOut } = this.context;
    this.#incarnations++;
    return new ChannelHost(platform, config, boundsOf(fanOut(this.name)), (setup) => {
      const channel = this.#watched(setup);
      this.#channel = channel;
      for (const part of channel.parts)
        if (part instanceof PresenceTeller) this.context.presence.watch(part);
        else if (part instanceof ChannelCursors) this.#watchCursors(part, channel.parts);
        else if (part instanceof ChannelProcedures) this.#watchCode(part, channel);
      this.#newestInstanceMs = Math.max(this.#newestInstanceMs, channel.relay.instance);
      return channel;
    });
  }

  /** The gateways that follow the channel. */
  get gateways(): readonly string[] {
    return this.#awakeChannel().relay.gateways;
  }

  /** The top of the stream. */
  get top(): StreamPosition | undefined {
    return this.#awakeChannel().top;
  }

  get hasHistory(): boolean {
    return this.#awakeChannel().hasHistory;
  }

  /** Where each member of the audience has become one, as the model has them. */
  get members(): ReadonlyMap<string, ModelMark> {
    return this.#model.state.members ?? new Map();
  }

  /** The last mark of each user, as the model has them. */
  get marks(): ReadonlyMap<string, ModelMark> {
    return this.#model.state.marks ?? new Map();
  }

  get isHeld(): boolean {
    return this.#awakeChannel().isHeld;
  }

  execute(operations: readonly ChannelOperation[], answer: Done<ChannelAnswers>): void {
    this.call((host, done) => host.execute(operations, undefined, done), answer);
  }

  present(answer: Done<ChannelPresenceReply>): void {
    this.call((host, done) => host.present(undefined, done), answer);
  }

  presenceTold(told: PresenceTold, answer: Done<MirrorToldReply>): void {
    this.call<MirrorToldReply>(
      (host, done) =>
        channelCalls.presenceTold.answer(host, [told], (reply) => {
          if (reply.outcome === "taken") this.context.presence.told(this.name, told.changes);
          done(reply);
        }),
      answer,
    );
  }

  override crash(): void {
    super.crash();
    if (this.#isGrowing) this.context.growth.crashed(this.name);
    if (this.#mapModel?.wake() === true) this.#noteForgotten();
    const { map, sharedPoll, changes } = this.#options;
    if (map === undefined && sharedPoll === undefined && changes === undefined) {
      const { name } = this;
      this.context.eventLog.note({ process: name, type: "info", f: "crash", channel: name });
    }
  }

  override evict(): boolean {
    const isTelling = this.#isGrowing && this.#channel && mapOf(this.#channel)?.growth.isTelling;
    const isEvicted = super.evict();
    if (isEvicted && this.#mapModel?.wake() === true)
      this.#complain("slept before it had written its keys down");
    if (isEvicted && isTelling === true) this.#complain("slept within a window");
    return isEvicted;
  }

  /**
   * The object's clock jumps, but never to before the object's last start: a gateway ignores an instance that seems
   * older than the one before it (rule L1).
   */
  override turnClock(byMs: number): void {
    const leastMs = this.#newestInstanceMs + 1 - this.context.timeline.nowMs;
    this.skewMs = Math.max(this.skewMs + byMs, leastMs);
    this.#isTurned = true;
  }

  /** The keys of a map. */
  get keys(): readonly string[] {
    return this.#mapModel?.present.map(([key]) => key) ?? [];
  }

  /** The texts of a map whose values grow, as they are stored. */
  get texts(): ReadonlyMap<string, string> {
    const map = mapOf(this.#awakeChannel());
    return new Map(
      (map?.keysAfter("", keysMax) ?? []).flatMap((key) => {
        const data = map?.entry(key)?.data;
        return data === undefined ? [] : [[key, String(JSON.parse(payloadJson(data)))] as const];
      }),
    );
  }

  /** All that the channel's publications and events have stored. */
  stored(): string {
    return JSON.stringify(this.storage.rows("SELECT * FROM publication"));
  }

  get #isGrowing(): boolean {
    return growthKindOf(this.name) !== undefined;
  }

  /** At rest no key of a map is left that has ended long before, and no timer that is due. */
  checkKeys(when: string): void {
    for (const [name, { atMs }] of this.#codeModel?.state.timers ?? []) {
      if (atMs + timerGraceMs < this.nowMs) this.#complain(`hasn't called ${name} ${when}`);
    }
    for (const [key, entry] of this.#mapModel?.entries ?? []) {
      if (this.#mapModel?.isOverdue(entry, this.nowMs) === true)
        this.#complain(`still has ${key} ${when}`);
    }
  }

  newEpoch(): string {
    return `epoch${++this.#epochs}`;
  }

  protected override rang(): void {
    const { nowMs } = this;
    const map = this.#channel?.parts.find((part) => part instanceof PresenceMap);
    const dueMs = map?.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    // It would ring again at once, for ever.
    if (dueMs <= nowMs) throw new Error(`${this.name} has its alarm ring in vain`);
  }

  protected override save(): () => void {
    const restore = super.save();
    const { publicationLog } = this.context;
    const { state } = this.#model;
    const count = publicationLog.count(this.name);
    return () => {
      restore();
      this.#model.state = state;
      publicationLog.undo(this.name, count);
    };
  }

  #awakeChannel(): WatchedChannel {
    this.awake();
    if (this.#channel === undefined) throw new Error(`${this.name} has no channel`);
    return this.#channel;
  }

  #watched(setup: ChannelSetup): WatchedChannel {
    const { name } = this;
    const { publicationLog, eventLog } = this.context;
    const incarnation = this.#incarnations;
    return new WatchedChannel(setup, {
      model: this.#model,
      broken: () => this.storage.broken,
      changed: (publication) => this.#noteChange(publication),
      published: (json, position) => {
        const data: string = JSON.parse(json);
        publicationLog.publish(name, {
          data,
          incarnation,
          atMs: this.context.timeline.nowMs,
          ...(position === undefined ? {} : { position }),
        });
      },
      emptied: () => {
        if (this.#isGrowing) this.context.growth.forgot(name);
      },
      forgot: (what) => {
        if (this.#mapModel !== undefined) {
          this.#noteForgotten();
          return;
        }
        eventLog.note({ process: name, type: "info", f: "forget", channel: name, what });
        const { top } = this;
        const { removals, timeline } = this.context;
        if (top !== undefined) removals.note({ channel: name, top, atMs: timeline.nowMs });
      },
      complain: (what) => this.#complain(what),
    });
  }

  #watchCursors(part: ChannelCursors, parts: readonly ChannelPart[]): void {
    const { cursors } = this.#options;
    if (cursors === undefined) return;
    const model = new CursorModel(this.name, this.#model, cursors);
    const audience = parts.find((one) => one instanceof ChannelAudience);
    if (audience !== undefined) watchAudience(audience, model);
    if (audience?.notices !== undefined) watchJudging(audience.notices.progress, this.#judging);
    watchForgetting(part.kept, model);
    watchCursors(part, model, {
      broken: () => this.storage.broken,
      complain: (what) => this.#complain(what),
      proven: (user, answer) => this.context.cursors.proven(this.name, user, answer),
    });
  }

  #watchCode(part: ChannelProcedures, channel: WatchedChannel): void {
    if (this.#codeModel === undefined) return;
    this.#code = new WatchedCode(part, this.#codeModel, {
      broken: () => this.storage.broken,
      offset: () => channel.top?.offset ?? 0,
      complain: (what) => this.#complain(what),
    });
  }

  #noteChange(publication: Publication): void {
    this.#code?.published(publication);
    if (this.#isGrowing) this.context.growth.changed(this.name, publication, this.nowMs);
    if (presenceKindOf(this.name) === undefined) return;
    const hasEnded = this.#mapModel?.hasEnded(publication.key ?? "", this.nowMs) === true;
    this.context.presence.changed(this.name, publication, hasEnded);
  }

  #noteForgotten(): void {
    if (isMirror(this.name)) return;
    const { name } = this;
    this.context.eventLog.note({ process: name, type: "info", f: "map-forget", channel: name });
  }

  #complain(what: string): void {
    this.context.publicationLog.complain(`${this.name} ${what}`);
  }
}

/** Longer than an alarm is late, and clocks are wrong. */
const timerGraceMs = 60_000;

/** More than any map of a world has. */
const keysMax = 100;

/** A few clients make several slices of a list, too. */
export function boundsOf(fanOut: FanOutLimits): ObjectBounds {
  return { ...fanOut, presenceSliceClients: 2 };
}
