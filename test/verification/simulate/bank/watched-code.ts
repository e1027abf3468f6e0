import type { ChannelProcedures } from "../../../../src/features/procedures/channel-procedures.ts";
import type { PartOutcome } from "../../../../src/channel/channel-part.ts";
import type { Publication } from "../../../../src/protocol/publication.ts";
import { textOf } from "../../../support/text-of.ts";
import type { CodeModel } from "./code-model.ts";

/** The channel whose code is watched. */
export interface CodeWatch {
  /** Whether the current work is about to be undone, so that it need not be right. */
  broken(): boolean;
  /** The offset of the newest publication. */
  offset(): number;
  complain(what: string): void;
}

/** Carries out what the code of a channel does in a model too, and compares the answers and what is kept. */
export class WatchedCode {
  readonly #part: ChannelProcedures;
  readonly #model: CodeModel;
  readonly #watch: CodeWatch;
  #told: string[] = [];

  constructor(part: ChannelProcedures, model: CodeModel, watch: CodeWatch) {
    this.#part = part;
    this.#model = model;
    this.#watch = watch;
    const carryOut = part.carryOut.bind(part);
    part.carryOut = (operation, nowMs) => {
      if (operation.method !== "call") return carryOut(operation, nowMs);
      const { offset, outcome } = this.#watched(() => carryOut(operation, nowMs));
      const { request, info } = operation;
      this.#compare(nowMs, () => {
        const should = this.#model.call(request, info, offset, nowMs);
        const is = outcome && resultOf(outcome);
        if (is !== undefined && is !== should)
          watch.complain(`answered ${request.procedure} with ${is}, and should with ${should}`);
        if (outcome?.outcome === "failed" && should !== undefined)
          watch.complain(
            `refused ${request.procedure}: ${outcome.error.code} ${outcome.error.message}`,
          );
      });
      return outcome;
    };
    const ring = part.ring.bind(part);
    part.ring = (nowMs) => {
      const { offset } = this.#watched(() => ring(nowMs));
      this.#compare(nowMs, () => this.#model.ring(offset, nowMs));
    };
  }

  /** The channel has published something. */
  published({ key, data }: Publication): void {
    this.#told.push(key === undefined ? textOf(data) : `${key}=${textOf(data)}`);
  }

  #watched<Outcome>(work: () => Outcome): { readonly offset: number; readonly outcome: Outcome } {
    this.#told = [];
    const offset = this.#watch.offset();
    return { offset, outcome: work() };
  }

  /** Carries it out in the model, and compares what was published and what is kept. */
  #compare(nowMs: number, work: () => void): void {
    if (this.#watch.broken()) return;
    work();
    const [is, should] = [this.#told.join(" "), this.#model.takeTold().join(" ")];
    if (is !== should) this.#watch.complain(`published ${is}, and should ${should}`);
    const part = this.#part;
    const { keys, timers } = this.#model.state;
    const kept = part.keysAfter("", keysMax).map((key) => `${key}=${part.read(key)}`);
    const shouldKeep = [...keys].map(([key, text]) => `${key}=${text}`).sort();
    if (kept.join(" ") !== shouldKeep.join(" "))
      this.#watch.complain(`keeps ${kept.join(" ")}, and should ${shouldKeep.join(" ")}`);
    const waiting = [...part.look(nowMs).timers].map(([name, { atMs }]) => `${name} ${atMs}`);
    const shouldWait = [...timers].map(([name, { atMs }]) => `${name} ${atMs}`);
    if (waiting.sort().join() !== shouldWait.sort().join())
      this.#watch.complain(`waits for ${waiting.join()}, and should for ${shouldWait.join()}`);
  }
}

/** The result that a client is answered; undefined of another outcome. */
function resultOf(outcome: PartOutcome): string | undefined {
  if (outcome.outcome !== "reply" || outcome.reply.outcome !== "answered") return undefined;
  return outcome.reply.data;
}

/** More than any bank has. */
const keysMax = 100;
