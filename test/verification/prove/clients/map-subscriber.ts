import type { MapSubscription, MapUpdateContext, SubscribedContext } from "centrifuge";
import type { Random } from "../../../support/random.ts";
import type { MapEntryTold } from "../../checker/maps/map-event.ts";
import { microseconds } from "../history/clock.ts";
import { longestMs, shortestMs } from "./backoff.ts";
import type { ClientRecorder } from "./client-recorder.ts";
import type { ClientsPlan, SubscriberPlan } from "./plan.ts";
import { type AskedPage, pageSocketClass, type ToldChange, type ToldPage } from "./page-socket.ts";
import { RecordedClient } from "./recorded-client.ts";
import { parseError } from "./sdk-subscriber.ts";
import type { Subscriber } from "./subscriber.ts";

/** A subscriber of maps that uses the official client, changes keys now and then, and records what it is told. */
export class MapSubscriber implements Subscriber {
  readonly process: string;
  readonly #client: RecordedClient;
  readonly #recorder: ClientRecorder;
  readonly #random: Random;
  readonly #maps: readonly FollowedMap[];
  readonly #watches: boolean;
  #dueMs = 0;
  #changes = 0;
  #underWay = 0;
  #isSettling = false;

  constructor(plan: ClientsPlan, traits: SubscriberPlan, random: Random, recorder: ClientRecorder) {
    const { process, channels, watches = false } = traits;
    this.process = process;
    this.#watches = watches;
    this.#recorder = recorder;
    this.#random = random;
    const websocket = pageSocketClass(plan.hostHeader, (asked, page) => {
      const map = this.#maps.find(({ subscription }) => subscription.channel === asked.channel);
      map?.takePage(asked, page);
    });
    this.#client = new RecordedClient(plan, traits, random, recorder, websocket);
    this.#maps = channels.map((channel) => {
      const subscription = this.#client.client.newMapSubscription(channel, {
        minResubscribeDelay: shortestMs,
        maxResubscribeDelay: longestMs,
        pageSize,
      });
      return new FollowedMap(subscription, process, recorder);
    });
  }

  get subscribed(): number {
    return this.#maps.filter(({ isAttached }) => isAttached).length;
  }

  get wanted(): number {
    return this.#maps.length;
  }

  get isPublishing(): boolean {
    return this.#underWay > 0;
  }

  start(): void {
    for (const { subscription } of this.#maps) subscription.subscribe();
    this.#client.client.connect();
  }

  tick(nowMs: number): void {
    if (this.#isSettling || this.#watches || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + this.#random.between(200, 1_000);
    const map = this.#random.pick(this.#maps);
    if (map.isAttached) void this.#change(map.subscription);
  }

  settle(): void {
    this.#isSettling = true;
  }

  stop(): void {
    this.#client.stop();
  }

  /** Sets or removes one key, once. */
  async #change(subscription: MapSubscription): Promise<void> {
    const { process } = this;
    const { channel } = subscription;
    const change = `${process}-${++this.#changes}`;
    const key = `key-${this.#random.between(1, keysMax)}`;
    const isRemoval = this.#random.chance(0.25);
    const value = isRemoval ? {} : { value: change };
    const asked = { process, f: "map-change", channel, change, key, ...value } as const;
    this.#recorder.record({ ...asked, type: "invoke", time: microseconds() });
    this.#underWay++;
    let type: "ok" | "info" | "fail" = "ok";
    try {
      if (isRemoval) await subscription.remove(key);
      else await subscription.publish(key, change);
    } catch (error) {
      const { code } = parseError(error);
      // Codes below 100 are the SDK's own; 100 and temporary errors may come after the change.
      type = code <= 100 ? "info" : "fail";
    }
    this.#underWay--;
    this.#recorder.record({ ...asked, type, time: microseconds() });
  }
}

/** One map of a subscriber. */
class FollowedMap {
  readonly subscription: MapSubscription;
  isAttached = false;
  readonly #process: string;
  readonly #recorder: ClientRecorder;
  #epoch = "";
  /** Of the last change that the client was told of; undefined where clients aren't told offsets. */
  #offset: number | undefined;
  /** What the client was sent while it read the map; undefined if it goes on with its copy. */
  #pages: Pages | undefined;

  constructor(subscription: MapSubscription, process: string, recorder: ClientRecorder) {
    this.subscription = subscription;
    this.#process = process;
    this.#recorder = recorder;
    subscription.on("error", () => undefined);
    subscription.on("subscribed", (context) => this.#attach(context));
    subscription.on("update", (change) => this.#receive(change));
    subscription.on("subscribing", () => this.#detach());
    subscription.on("unsubscribed", ({ code, reason }) => {
      this.isAttached = false;
      recorder.fail(process, `was unsubscribed from ${subscription.channel}: ${code} ${reason}`);
    });
  }

  /** The reply to one of the subscribes with which the client synchronises. */
  takePage({ phase, cursor = "", recover = false }: AskedPage, page: ToldPage): void {
    const { offset = 0, state = [], publications = [] } = page;
    if (recover) this.#pages = undefined;
    else if (phase === phases.state && cursor === "") this.#pages = { state: [], changes: [] };
    if (this.#pages === undefined) return;
    this.#pages.state.push(...state.map(told));
    this.#pages.changes.push(...publications.map(told));
    // A client whose first reply begins its subscription isn't told as of when the state is: the changes come after it.
    const isLive = (page.phase ?? phases.live) === phases.live;
    this.#pages.since ??= offset - (isLive ? publications.length : 0);
  }

  /** If the client goes on with its copy, the changes follow as updates. */
  #attach({ recovered, streamPosition }: SubscribedContext): void {
    this.isAttached = true;
    this.#epoch = streamPosition?.epoch ?? "";
    const { state, changes, since } = this.#pages ?? { state: undefined, changes: [] };
    if (!recovered) this.#offset = streamPosition?.offset;
    const offset = this.#offset;
    this.#recorder.record({
      ...this.#common,
      type: "ok",
      f: "map-subscribe",
      epoch: this.#epoch,
      changes: recovered ? [] : changes,
      ...(state === undefined || recovered ? {} : { state }),
      ...(offset === undefined ? {} : { since: recovered ? offset : (since ?? 0), offset }),
    });
    this.#pages = undefined;
  }

  #receive(change: MapUpdateContext & { readonly offset?: number }): void {
    this.#offset = change.offset;
    this.#recorder.record({ ...this.#common, type: "ok", f: "map-deliver", ...told(change) });
  }

  #detach(): void {
    if (!this.isAttached) return;
    this.isAttached = false;
    const forgets = this.#offset === undefined;
    this.#recorder.record({ ...this.#common, type: "info", f: "map-end", forgets });
  }

  get #common(): { readonly time: number; readonly process: string; readonly channel: string } {
    const { channel } = this.subscription;
    return { time: microseconds(), process: this.#process, channel };
  }
}

/** What a client is sent of a map until its subscription begins. */
interface Pages {
  readonly state: MapEntryTold[];
  readonly changes: MapEntryTold[];
  /** As of when the state is. */
  since?: number;
}

const phases = { live: 0, state: 2 } as const;

function told({ key = "", data, offset, removed = false }: ToldChange): MapEntryTold {
  return {
    key,
    ...(removed ? {} : { value: String(data) }),
    ...(offset === undefined ? {} : { offset }),
  };
}

/** A map has several pages of these. */
export const keysMax = 24;
const pageSize = 3;
