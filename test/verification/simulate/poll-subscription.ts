import { errorCodes } from "../../../src/protocol/codes.ts";
import {
  ClientSubscription,
  type ReceivedPublication,
  type ReceivedResult,
  type Subscriber,
} from "./client-subscription.ts";
import { expiredDelayMs, pollModeOf } from "./poll-kinds.ts";
import { sdkCodec } from "./sdk-codec.ts";
import type { WorldContext } from "./world-context.ts";

/**
 * One client's subscriptions to a shared poll, which tracks keys as the official client does: it tracks them again in each
 * subscription, with the versions that it has, and ignores what isn't newer. It compares what it is sent with what the
 * backend has had (rules SP1, SP2, SP8 and SP13).
 */
export class PollSubscription extends ClientSubscription {
  readonly #context: WorldContext;
  readonly #send: Subscriber["send"];
  readonly #askLater: Subscriber["askLater"];
  readonly #asksForDeltas: boolean;
  #getsDeltas = false;
  /** Whether the channel's own object holds the connection: it never hibernates while somebody tracks a key. */
  #isOwn = false;
  #epoch = "";
  readonly #keys = new Map<string, Tracked>();
  /** The values that the client shows, by key. */
  readonly #shown = new Map<string, string>();
  /** What the SDK applies the next delta of each key to. */
  readonly #bases = new Map<string, Uint8Array>();
  /** Commands without an answer: until then the server may track what the client doesn't. */
  #pending = 0;
  /** How many deltas the client got. */
  deltas = 0;

  constructor(channel: string, subscriber: Subscriber) {
    super(channel, subscriber);
    const { who, context, send, askLater } = subscriber;
    this.#context = context;
    this.#send = send;
    this.#askLater = askLater;
    this.#asksForDeltas = who.charCodeAt(who.length - 1) % 2 === 0;
  }

  override get request(): object {
    const { channel } = this;
    return { channel, type: 4, ...(this.#asksForDeltas ? { delta: "fossil" } : {}) };
  }

  override takeReply(result: ReceivedResult, client: string): boolean {
    this.state = "on";
    this.#isOwn = client.startsWith(`${this.channel}/`);
    this.#getsDeltas = result.delta === true;
    if (this.#getsDeltas !== this.#asksForDeltas) this.complain("wasn't granted what it asked for");
    const { epoch = "" } = result;
    if (this.#epoch !== "" && this.#epoch !== epoch)
      for (const tracked of this.#keys.values()) tracked.version = 0;
    this.#epoch = epoch;
    this.#bases.clear();
    this.#trackAll();
    return true;
  }

  /** @param seconds how long the signature of the keys is valid; undefined: for ever */
  track(keys: readonly string[], seconds: number | undefined): void {
    const nowSeconds = Math.floor(this.#nowMs / 1_000);
    const expireAtSeconds = seconds === undefined ? 0 : nowSeconds + seconds;
    for (const key of keys) {
      const known = this.#keys.get(key);
      if (known === undefined) this.#keys.set(key, { version: 0, expireAtSeconds });
      else known.expireAtSeconds = expireAtSeconds;
    }
    if (this.state === "on") this.#request(keys);
  }

  untrack(keys: readonly string[]): void {
    for (const key of keys) this.#forget(key);
    if (this.state === "on") this.#requestUntrack(keys);
  }

  override take({ key = "", data, version = 0, removed, delta }: ReceivedPublication): void {
    if (this.leaving > 0 || this.state !== "on") return;
    const tracked = this.#keys.get(key);
    if (removed !== true && tracked !== undefined && tracked.version > 0) {
      if (version < tracked.version && this.#isOwn)
        this.complain(`was sent version ${version} of ${key} after ${tracked.version}`);
      if (version <= tracked.version) return;
    }
    // As the SDK does, it applies deltas of keys that it doesn't track any more.
    const value = removed === true ? this.#bases.delete(key) : this.#decoded(key, data, delta);
    if (tracked === undefined) {
      // A key that was tracked anew while its removal was on its way is told to be removed once more.
      if (this.#pending === 0 && removed !== true)
        this.complain(`was sent ${key}, which it doesn't track`);
      return;
    }
    const { expireAtSeconds } = tracked;
    const endsAtMs = (expireAtSeconds || Number.POSITIVE_INFINITY) * 1_000 + expiredDelayMs;
    if (this.#nowMs > endsAtMs + slackMs)
      this.complain(`was sent ${key}, whose signature has expired`);
    if (removed === true) {
      if (!this.#context.polls.wasRemoved(this.channel, key))
        this.complain(`was told that ${key} is removed`);
      this.#forget(key);
      return;
    }
    tracked.version = version;
    const text = JSON.stringify(value);
    this.#shown.set(key, text);
    const told = { data: text, version };
    if (!this.#context.polls.hadValue(this.channel, key, this.#epoch, told))
      this.complain(`was sent version ${version} of ${key}, which never had that value`);
  }

  override lose(): void {
    if (this.state !== "on") this.complain(`was unsubscribed while ${this.state}`);
    this.end();
  }

  override end(): void {
    this.state = "off";
    this.generation++;
    this.#pending = 0;
  }

  /** At rest the client shows the backend's newest value of each key that it tracks. */
  override checkAt(): void {
    for (const [key, { version, expireAtSeconds }] of this.#keys) {
      if (expireAtSeconds !== 0) continue;
      const current = this.#context.polls.current(this.channel, key);
      const shown = this.#shown.get(key);
      if (current === "removed") this.complain(`still tracks ${key}, which is removed`);
      else if (current?.data !== shown)
        this.complain(`shows ${shown} of ${key}, not ${current?.data}`);
      else if (pollModeOf(this.channel) === "versioned" && current !== undefined)
        if (current.version !== version)
          this.complain(`has version ${version} of ${key}, not ${current.version}`);
    }
  }

  #trackAll(): void {
    // A signature that has expired isn't sent again: the client's user may not follow these keys any more.
    for (const [key, { expireAtSeconds }] of this.#keys)
      if (expireAtSeconds !== 0 && expireAtSeconds * 1_000 <= this.#nowMs) this.#forget(key);
    if (this.#keys.size > 0) this.#request([...this.#keys.keys()]);
  }

  #request(keys: readonly string[]): void {
    const { generation } = this;
    const batches = new Map<number, object[]>();
    for (const key of keys) {
      const { version, expireAtSeconds } = this.#keys.get(key) ?? {
        version: 0,
        expireAtSeconds: 0,
      };
      const items = batches.get(expireAtSeconds) ?? [];
      batches.set(expireAtSeconds, items);
      items.push(version === 0 ? { key } : { key, version });
    }
    const track = [...batches].map(([signature, items]) => ({ signature: `${signature}`, items }));
    this.#pending++;
    this.#send({ sub_refresh: { channel: this.channel, type: 1, track } }, (frame) => {
      if (this.generation !== generation) return;
      const { error, sub_refresh: result } = frame;
      for (const publication of result?.items ?? []) this.take(publication);
      this.#pending--;
      if (error === undefined) {
        const stale = keys.filter((key) => !this.#keys.has(key));
        if (stale.length > 0) this.#requestUntrack(stale);
      } else this.#refused(error);
    });
  }

  #refused(error: { readonly code: number; readonly temporary?: boolean }): void {
    const { generation } = this;
    // The push that the state is lost came before.
    if (error.code === errorCodes.unrecoverablePosition.code) return;
    const isExpired = error.code === errorCodes.tokenExpired.code;
    if (error.temporary !== true && !isExpired)
      this.complain(`couldn't track its keys: ${error.code}`);
    if (isExpired)
      for (const [key, { expireAtSeconds }] of this.#keys)
        if (expireAtSeconds !== 0) this.#forget(key);
    // The server may track what was tracked before.
    this.#pending++;
    this.#askLater(() => {
      if (this.generation !== generation) return;
      this.#pending--;
      this.#trackAll();
    });
  }

  #requestUntrack(keys: readonly string[]): void {
    const { generation, channel } = this;
    this.#pending++;
    this.#send({ sub_refresh: { channel, type: 2, untrack: keys } }, ({ error }) => {
      if (this.generation !== generation) return;
      this.#pending--;
      if (error !== undefined) this.complain(`couldn't untrack its keys: ${error.code}`);
    });
  }

  #forget(key: string): void {
    this.#keys.delete(key);
    this.#shown.delete(key);
  }

  /** The value of a publication. */
  #decoded(key: string, data: unknown, delta = false): unknown {
    if (!this.#getsDeltas) return data;
    if (delta) this.deltas++;
    const decoded = sdkCodec.applyDeltaIfNeeded({ data, delta }, this.#bases.get(key));
    this.#bases.set(key, decoded.newPrevValue);
    return decoded.newData;
  }

  get #nowMs(): number {
    return this.#context.timeline.nowMs;
  }
}

interface Tracked {
  version: number;
  /** When the signature expires, seconds since 1970; 0 for never. */
  expireAtSeconds: number;
}

/** How much the clocks of objects may be wrong, and how late a frame may be, ms. */
const slackMs = 20_000;
