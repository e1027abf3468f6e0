import { Records } from "../../support/records.ts";
import type { ChannelOperation } from "../../../src/contract/channel-call.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import type { Random } from "../../support/random.ts";
import { ignoreAnswer } from "./backend.ts";
import { callChannel } from "./channel-call.ts";
import type { Incarnation } from "./incarnation.ts";
import { pollModeOf } from "./poll-kinds.ts";
import type { WorldContext } from "./world-context.ts";

/** How the backend answers questions about a channel for a while. `lies`: it gives the value before, or a foreign key. */
export type PollMood = "fails" | "hangs" | "late" | "lies" | "silent";

/** A value as the backend has it. */
export interface PolledValue {
  readonly data: string;
  readonly version: number;
}

/**
 * The backend of the shared polls: it has the values, and answers questions about them in good moods and in bad ones. It is
 * the model, too: it knows which value each version of a key has had, and complains about questions that may not be asked.
 */
export class PollBackend {
  readonly #context: () => WorldContext;
  readonly #random: Random;
  readonly #channels = new Records((): PolledValues => ({
    epochs: 1,
    epoch: "epoch-1",
    current: new Map(),
    before: new Map(),
    versions: new Map(),
    told: new Map(),
    removed: new Set(),
  }));
  readonly #moods = new Map<string, { readonly mood: PollMood; readonly untilMs: number }>();
  /** The keys of the questions in flight of each object. */
  readonly #asked = new WeakMap<Incarnation, Set<readonly string[]>>();
  #values = 0;
  /** How many questions were asked, and how many were answered well. */
  questions = 0;

  constructor(context: () => WorldContext, random: Random) {
    this.#context = context;
    this.#random = random;
  }

  /** The value of a key, "removed" after a removal, undefined before the first. */
  current(channel: string, key: string): PolledValue | "removed" | undefined {
    return this.#channels.of(channel).current.get(key);
  }

  /** Whether a key ever had this value, in the version and epoch if the backend has versions. */
  hadValue(channel: string, key: string, epoch: string, { data, version }: PolledValue): boolean {
    const { told } = this.#channels.of(channel);
    return pollModeOf(channel) === "versioned"
      ? told.get(`${epoch} ${key} ${version}`) === data
      : told.has(`${key} ${data}`);
  }

  /** Whether a key was ever removed. */
  wasRemoved(channel: string, key: string): boolean {
    return this.#channels.of(channel).removed.has(key);
  }

  set(channel: string, key: string): void {
    const values = this.#channels.of(channel);
    const before = values.current.get(key);
    if (before !== undefined) values.before.set(key, before);
    const version = (values.versions.get(key) ?? 0) + 1;
    values.versions.set(key, version);
    const data = valueOf(++this.#values);
    values.current.set(key, { data, version });
    values.told.set(`${values.epoch} ${key} ${version}`, data);
    values.told.set(`${key} ${data}`, data);
  }

  remove(channel: string, key: string): void {
    const values = this.#channels.of(channel);
    if (!values.current.has(key)) return;
    values.current.set(key, "removed");
    values.removed.add(key);
  }

  /** Versions begin anew. */
  beginEpoch(channel: string): void {
    const values = this.#channels.of(channel);
    if (pollModeOf(channel) !== "versioned") return;
    values.epoch = `epoch-${++values.epochs}`;
    values.versions.clear();
    values.before.clear();
    for (const [key, value] of values.current) if (value !== "removed") this.set(channel, key);
    values.before.clear();
  }

  /** Sets a value, and publishes it; the outcome is ignored. */
  publish(channel: string, key: string): void {
    this.set(channel, key);
    const value = this.current(channel, key);
    if (pollModeOf(channel) !== "versioned" || value === undefined || value === "removed") return;
    const { epoch } = this.#channels.of(channel);
    const data = trustedJsonText(value.data);
    const command: ChannelOperation = {
      method: "shared_poll_publish",
      request: { key, data, version: BigInt(value.version), epoch },
    };
    callChannel(this.#context(), channel, command, ignoreAnswer);
  }

  /** For so many ms, questions about the channel are answered in this mood. */
  behave(channel: string, mood: PollMood, forMs: number): void {
    this.#moods.set(channel, { mood, untilMs: this.#context().timeline.nowMs + forMs });
  }

  /** All questions are answered well from here on. */
  calm(): void {
    this.#moods.clear();
  }

  /**
   * Answers a question of a channel's object.
   *
   * @param answered takes the result's text; undefined if there is none
   */
  ask(
    channel: string,
    body: string,
    incarnation: Incarnation,
    answered: (result: string | undefined) => void,
  ): void {
    const { items }: { items: readonly Item[] } = JSON.parse(body);
    const keys = items.map(({ key }) => key);
    this.#note(channel, keys, incarnation);
    const { timeline } = this.#context();
    const finish = (result: string | undefined): void => {
      this.#asked.get(incarnation)?.delete(keys);
      answered(result);
    };
    incarnation.after(this.#random.between(1, 40), () => {
      const { mood, untilMs } = this.#moods.get(channel) ?? { mood: undefined, untilMs: 0 };
      const now = timeline.nowMs < untilMs ? mood : undefined;
      const result =
        now === "fails" || now === "hangs" ? undefined : this.#result(channel, items, now);
      const late = this.#random.between(500, 4_900);
      const ms = now === "hangs" ? 5_000 : now === "late" ? late : this.#random.between(1, 60);
      incarnation.after(ms, () => finish(result));
    });
  }

  /** No key may be in two questions, and an object asks only so many questions at a time (rules SP3 and SP4). */
  #note(channel: string, keys: readonly string[], incarnation: Incarnation): void {
    this.questions++;
    const asked = this.#asked.get(incarnation) ?? new Set<readonly string[]>();
    this.#asked.set(incarnation, asked);
    const twice = keys.find((key) => [...asked].some((others) => others.includes(key)));
    const { publicationLog } = this.#context();
    if (twice !== undefined)
      publicationLog.complain(`${channel} asks for ${twice} while it is being answered`);
    asked.add(keys);
    if (asked.size > inFlightMax)
      publicationLog.complain(`${channel} has ${asked.size} questions in flight`);
  }

  #result(channel: string, asked: readonly Item[], mood: PollMood | undefined): string {
    const values = this.#channels.of(channel);
    const isVersioned = pollModeOf(channel) === "versioned";
    const source = mood === "lies" ? values.before : values.current;
    const items = asked.flatMap(({ key, version: known = 0 }): readonly object[] => {
      if (mood === "silent") return [];
      const value = source.get(key);
      if (value === undefined) return [];
      if (value === "removed") return mood === "lies" ? [] : [{ key, removed: true }];
      const { data, version } = value;
      if (isVersioned && version <= known && mood !== "lies") return [];
      return [{ key, data: JSON.parse(data), ...(isVersioned ? { version } : {}) }];
    });
    // Nobody asked for this key.
    const foreign = mood === "lies" ? [{ key: "foreign", data: 1, version: 1 }] : [];
    return JSON.stringify({
      items: [...items, ...foreign],
      ...(isVersioned ? { epoch: values.epoch } : {}),
    });
  }
}

interface Item {
  readonly key: string;
  readonly version?: number;
}

interface PolledValues {
  epochs: number;
  epoch: string;
  readonly current: Map<string, PolledValue | "removed">;
  /** The value that each key had before, in this epoch. */
  readonly before: Map<string, PolledValue | "removed">;
  readonly versions: Map<string, number>;
  /** All values that there ever were, by epoch, key and version, and by key and value. */
  readonly told: Map<string, string>;
  readonly removed: Set<string>;
}

/** JSON of which a delta is shorter, and which no delta for another value gives. */
function valueOf(number: number): string {
  return JSON.stringify({
    number,
    before: word(number - 1),
    now: word(number),
    text: "x".repeat(40),
  });
}

const word = (number: number): string => `${number}`.padStart(3, "0").repeat(12);

const inFlightMax = 4;
