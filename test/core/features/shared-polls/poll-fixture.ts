import type { SharedPollOptions } from "../../../../src/features/shared-polls/config.ts";
import type { KeyChange } from "../../../../src/features/shared-polls/poll-batch.ts";
import type { PollItem } from "../../../../src/features/shared-polls/refresh-hook.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { type PollRequest, SharedPoll } from "../../../../src/features/shared-polls/shared-poll.ts";

/** The options of a shared poll whose configuration names none of them, but for the backend, which has no default. */
export const pollDefaults: Omit<SharedPollOptions, "refreshHook"> = {
  mode: "versionless",
  refreshIntervalMs: 10_000,
  refreshBatchSize: 1_000,
  maxKeysPerConnection: 5_000,
  channelShutdownDelayMs: 1_000,
  trackExpiredExtraDelayMs: 25_000,
  publishEnabled: false,
};

/** Options as a configuration without any gives them, but for those that a test names. */
export function pollOptions(options: Partial<SharedPollOptions> = {}): SharedPollOptions {
  return {
    refreshHook: {
      name: "channel.proxy.shared_poll_refresh",
      endpoint: { kind: "url", url: "https://backend.example.com" },
      timeoutMs: 1_000,
      httpHeaders: [],
      emulatedHeaders: [],
      staticHeaders: [],
      statuses: new Map(),
      binaryEncoding: false,
      includesMeta: false,
    },
    ...pollDefaults,
    ...options,
  };
}

/** The poll of a channel, whose time a test moves. */
export class PollFixture {
  readonly poll: SharedPoll;
  nowMs = 0;

  constructor(options: Partial<SharedPollOptions> = {}, epoch = "first") {
    this.poll = new SharedPoll({
      channel: "prices:eu",
      instance: 7,
      options: pollOptions(options),
      epoch: options.mode === "versioned" ? "" : epoch,
    });
  }

  /** Tracks keys at a watcher, with versions if there are any. @returns what it is told at once */
  track(watcher: string, ...keys: (string | readonly [string, bigint])[]): readonly string[] {
    const known = keys.map((key) =>
      typeof key === "string" ? { key, version: 0n } : { key: key[0], version: key[1] },
    );
    const tracking = this.poll.track(watcher, known, this.nowMs);
    return tracking.outcome === "failed" ? ["full"] : shown(tracking.newer);
  }

  /** All questions that may be asked now. */
  questions(): readonly PollRequest[] {
    const questions: PollRequest[] = [];
    for (let next = this.poll.ask(this.nowMs); next !== undefined; next = this.poll.ask(this.nowMs))
      questions.push(next);
    return questions;
  }

  /** Asks, and answers each question with these values. @returns the keys that were asked for */
  answerAll(values: Readonly<Record<string, Item>>, epoch = ""): readonly string[] {
    const questions = this.questions();
    for (const question of questions) {
      const items = question.items.flatMap(({ key }) => {
        const value = values[key];
        return value === undefined ? [] : [itemOf(key, value)];
      });
      this.poll.answered(question, { items, epoch }, this.nowMs);
    }
    return questions.flatMap(({ items }) => items.map(({ key }) => key));
  }

  /** The batch with which a gateway is called now, in a short form; the call succeeds. */
  delivered(gateway: string): readonly string[] {
    const all = this.poll.deliveries(this.nowMs);
    for (const delivery of all) this.poll.delivered(delivery, { outcome: "taken" }, this.nowMs);
    return all
      .filter((delivery) => delivery.gateway === gateway)
      .flatMap(({ batch }) => shown(batch.changes));
  }

  own(): readonly string[] {
    return shown(this.poll.takeOwn());
  }
}

/** A value without a version, or with one; "removed" for a removal. */
type Item = string | readonly [data: string, version: bigint];

function itemOf(key: string, value: Item): PollItem {
  if (value === "removed") return { key, removed: true };
  const [data, version] = typeof value === "string" ? [value, undefined] : value;
  return { key, data: trustedJsonText(data), version };
}

/** Changes in a short form. */
export function shown(changes: readonly KeyChange[]): readonly string[] {
  return changes.map(({ key, data, version, removed }) =>
    removed === true ? `${key} removed` : `${key}@${version}=${String(data)}`,
  );
}
