import type { Random } from "../../../support/random.ts";
import { Records } from "../../../support/records.ts";
import type { ChangeAsked } from "../../checker/changes/change-event.ts";
import { BackendLoad } from "../backend-load.ts";
import type { BackendAddress } from "../clients/backend-call.ts";
import { microseconds } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import { type ChangedPublication, toldOf } from "./told-publication.ts";

/**
 * A backend that publishes texts, edits, deletes and erases them, repeats each change until it knows its outcome, and reads
 * the history now and then.
 */
export class ChangeLoad extends BackendLoad {
  readonly #channels: readonly string[];
  /** The offsets of publications that can be changed, by channel, and no change of them is under way. */
  readonly #free = new Records((_channel): number[] => []);
  #changes = 0;

  constructor(
    backend: BackendAddress,
    channels: readonly string[],
    random: Random,
    recorder: Recorder,
  ) {
    super(backend, random, recorder);
    this.#channels = channels;
  }

  /** Publishes to each channel, so that its stream is stored before the first client comes. */
  async prepare(): Promise<void> {
    for (const channel of this.#channels) await this.#publish(channel);
  }

  protected override loops(): readonly Promise<void>[] {
    return this.#channels.flatMap((channel) => [
      this.steadily(60, 300, () => this.#publish(channel)),
      ...[1, 2].map(() => this.steadily(40, 300, () => this.#change(channel))),
      this.steadily(1_000, 3_000, () => this.#read(channel)),
    ]);
  }

  /** Reads what is left, once everything has settled. */
  async read(): Promise<void> {
    for (const channel of this.#channels) await this.#read(channel);
    this.throwFailures();
  }

  async #publish(channel: string): Promise<void> {
    const change = this.#next();
    const value = `said-${change}`;
    const command = { channel, data: value, idempotency_key: change };
    const asked = { change, method: "publish", value } as const;
    const offset = await this.#ask(channel, "publish", command, asked);
    if (offset !== undefined) this.#free.of(channel).push(offset);
  }

  async #change(channel: string): Promise<void> {
    const free = this.#free.of(channel);
    // Mostly one of the newest, which may be on its way yet.
    const newest = free.length - 1;
    const oldest = this.random.chance(0.7) ? Math.max(0, newest - 3) : 0;
    const [target] = newest < 0 ? [] : free.splice(this.random.between(oldest, newest), 1);
    if (target === undefined) return;
    const change = this.#next();
    const command = { channel, offset: target, idempotency_key: change };
    const roll = this.random.next();
    if (roll < 0.5) {
      const value = `edited-${change}`;
      const asked = { change, method: "edit", target, value } as const;
      const edit = { ...command, data: value };
      const offset = await this.#ask(channel, "update_publication", edit, asked);
      if (offset !== undefined) free.push(target);
    } else if (roll < 0.75) {
      const asked = { change, method: "delete", target } as const;
      await this.#ask(channel, "delete_publication", command, asked);
    } else {
      const asked = { change, method: "erase", target } as const;
      await this.#ask(channel, "erase", { channel, offset: target }, asked);
    }
  }

  /** @returns the offset of what was published; undefined if that isn't known */
  async #ask(
    channel: string,
    method: string,
    command: object,
    asked: Pick<ChangeAsked, "change" | "method" | "target" | "value">,
  ): Promise<number | undefined> {
    const { change } = asked;
    const common = { process, f: "change", channel } as const;
    this.recorder.record({ ...common, ...asked, type: "invoke", time: microseconds() });
    const called = await this.calls.repeat(method, command, this.random, repeatsForMs);
    const time = microseconds();
    if (called.outcome !== "result") {
      if (called.outcome === "wrong")
        this.failures.push(`${method} of ${channel}: ${called.problem}`);
      const type = called.outcome === "refused" ? "fail" : "info";
      this.recorder.record({ ...common, change, type, time });
      return undefined;
    }
    const { offset = 0, version, suppress_reason: reason }: Changed = called.result;
    if (reason !== undefined && reason !== "idempotency") {
      // The history has lost it, or an erasure that was given up was carried out after all.
      this.recorder.record({ ...common, change, type: "info", time });
      return undefined;
    }
    const known = reason === undefined && version !== undefined ? { version } : {};
    this.recorder.record({ ...common, change, offset, ...known, type: "ok", time });
    return offset;
  }

  async #read(channel: string): Promise<void> {
    const asked = microseconds();
    const called = await this.calls.call("history", { channel, limit: -1 });
    if (called.outcome === "wrong") this.failures.push(`history of ${channel}: ${called.problem}`);
    if (called.outcome !== "result") return;
    const { publications = [] }: { readonly publications?: readonly ChangedPublication[] } =
      called.result;
    const rows = publications.map(toldOf);
    const read = { process, type: "ok", f: "change-read", channel, asked, rows } as const;
    this.recorder.record({ ...read, time: microseconds() });
  }

  #next(): string {
    return `${++this.#changes}`;
  }
}

/** The results of `publish`, `update_publication`, `delete_publication` and `erase`. */
interface Changed {
  readonly offset?: number;
  readonly version?: number;
  readonly suppress_reason?: string;
}

const process = "changes";
const repeatsForMs = 60_000;
