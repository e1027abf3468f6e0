import type { MapEntry, MapSubscription, MapUpdateContext, SubscribedContext } from "centrifuge";
import type { Random } from "../../../support/random.ts";
import type { TextsFollowed, TextTold } from "../../checker/growth/growth-event.ts";
import { longestMs, shortestMs } from "../clients/backoff.ts";
import type { ClientRecorder } from "../clients/client-recorder.ts";
import type { ClientsPlan, SubscriberPlan } from "../clients/plan.ts";
import { FollowingSubscriber } from "../following-subscriber.ts";
import { RecordedClient } from "../clients/recorded-client.ts";
import { socketClass } from "../clients/sdk-subscriber.ts";
import { microseconds } from "../history/clock.ts";
import { parseText } from "./text-writer.ts";

/** A subscriber of maps with texts that grow, which uses the official client and records what it shows. */
export class TextSubscriber extends FollowingSubscriber {
  protected override readonly client: RecordedClient;
  protected override readonly followed: readonly FollowedTexts[];

  constructor(plan: ClientsPlan, traits: SubscriberPlan, random: Random, recorder: ClientRecorder) {
    const { process, channels, deltas = false } = traits;
    super(process);
    const websocket = socketClass(plan.hostHeader);
    this.client = new RecordedClient(plan, traits, random, recorder, websocket);
    this.client.onUnusable = (problem) => {
      const [channel = ""] = channels;
      const refused = { process, type: "info", f: "text-unusable", channel, problem } as const;
      recorder.record({ ...refused, time: microseconds() });
    };
    this.followed = channels.map((channel) => {
      const subscription = this.client.client.newMapSubscription(channel, {
        minResubscribeDelay: shortestMs,
        maxResubscribeDelay: longestMs,
        pageSize,
        ...(deltas ? { delta: "fossil" } : {}),
      });
      return new FollowedTexts(subscription, deltas, process, recorder);
    });
  }
}

/** The texts of one map, as the subscriber shows them. */
class FollowedTexts {
  readonly subscription: MapSubscription;
  isAttached = false;
  readonly #deltas: boolean;
  readonly #process: string;
  readonly #recorder: ClientRecorder;
  /** What is shown, by key, also while the subscription is interrupted. */
  #shown = new Map<string, string>();
  /** Since when the client has asked for the map, µs. */
  #asked = 0;
  #position: Position = { epoch: "", offset: 0 };
  /** Whether what comes now may belong to the same frame as what came before. */
  #isInFrame = false;

  constructor(
    subscription: MapSubscription,
    deltas: boolean,
    process: string,
    recorder: ClientRecorder,
  ) {
    this.subscription = subscription;
    this.#deltas = deltas;
    this.#process = process;
    this.#recorder = recorder;
    subscription.on("error", () => undefined);
    subscription.on("subscribing", () => this.#detach());
    subscription.on("subscribed", (context) => this.#attach(context));
    subscription.on("sync", ({ entries }) => this.#replace(entries));
    subscription.on("update", (change) => this.#show(change));
    subscription.on("unsubscribed", ({ code, reason }) => {
      this.isAttached = false;
      recorder.fail(process, `was unsubscribed from ${subscription.channel}: ${code} ${reason}`);
    });
  }

  #detach(): void {
    this.#asked = microseconds();
    if (!this.isAttached) return;
    this.isAttached = false;
    this.#recorder.record({ ...this.#common, type: "info", f: "text-leave" });
  }

  /** A client that doesn't go on with its texts is given all of them right after this. */
  #attach({ recovered, streamPosition }: SubscribedContext): void {
    this.isAttached = true;
    this.#position = streamPosition ?? { epoch: "", offset: 0 };
    this.#beginFrame();
    if (recovered) this.#recorder.record(this.#followed);
  }

  #replace(entries: readonly MapEntry[]): void {
    const before = this.#shown;
    this.#shown = new Map();
    const texts = entries.map((entry) => this.#take(entry, before.get(entry.key)));
    this.#recorder.record({ ...this.#followed, texts });
  }

  #show(change: MapUpdateContext): void {
    const { key, offset, removed = false } = change;
    const together = this.#isInFrame ? { together: true } : {};
    const common = { ...this.#common, type: "ok", f: "text-show", ...together } as const;
    this.#beginFrame();
    if (!removed) {
      this.#recorder.record({ ...common, ...this.#take(change, this.#shown.get(key)) });
      return;
    }
    this.#shown.delete(key);
    const place = offset === undefined ? {} : { offset };
    this.#recorder.record({ ...common, key, kept: 0, added: "", ...place, removed });
  }

  /** The SDK handles a frame before anything else happens. */
  #beginFrame(): void {
    if (this.#isInFrame) return;
    this.#isInFrame = true;
    setImmediate(() => (this.#isInFrame = false));
  }

  #take({ key, data, offset }: MapEntry, before = ""): TextTold {
    const text = parseText(data);
    this.#shown.set(key, text);
    const kept = sharedLength(before, text);
    return { key, kept, added: text.slice(kept), ...(offset === undefined ? {} : { offset }) };
  }

  get #followed(): TextsFollowed {
    const following = { asked: this.#asked, deltas: this.#deltas, ...this.#position };
    return { ...this.#common, type: "ok", f: "text-follow", ...following };
  }

  get #common(): { readonly time: number; readonly process: string; readonly channel: string } {
    const { channel } = this.subscription;
    return { time: microseconds(), process: this.#process, channel };
  }
}

interface Position {
  readonly epoch: string;
  readonly offset: number;
}

/** How much two texts have in common at their beginning. */
function sharedLength(one: string, other: string): number {
  if (other.startsWith(one)) return one.length;
  let length = 0;
  while (length < other.length && one[length] === other[length]) length++;
  return length;
}

/** A map has several pages of these. */
const pageSize = 3;
