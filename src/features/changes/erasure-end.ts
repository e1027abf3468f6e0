import type { ChannelAnswer } from "../../contract/channel-call.ts";
import type { Erased } from "../../contract/erased.ts";
import type { EndedOperations, ObjectPart, PartedChannelObject } from "../../object/part.ts";
import { errorCodes } from "../../protocol/codes.ts";
import { jsonOf } from "../../protocol/json/encode.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import type { ChannelChanges } from "./channel-changes.ts";
import { type ErasureRun, erasureFields } from "./channel-erasure.ts";
import { changeLimits } from "./limits.ts";

/**
 * Ends the erasures that backends have begun, before they are answered (rule ED16): the slices after the first one, the
 * events that wait, the copies in the database's file, the frames that are collected, and the gateways.
 */
export class ErasureEnd implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #changes: ChannelChanges;
  readonly #waiting = new Set<WaitingErasure>();

  constructor(object: PartedChannelObject, changes: ChannelChanges) {
    this.#object = object;
    this.#changes = changes;
  }

  finish(
    { operations, answers }: EndedOperations,
    parts: readonly ObjectPart[],
    done: (answers: readonly ChannelAnswer[]) => void,
  ): void {
    const runs = operations.map((operation) => this.#changes.erasure.runOf(operation));
    const begun = runs.filter((run) => run !== undefined);
    if (begun.length === 0) {
      done(answers);
      return;
    }
    const { platform } = this.#object;
    const answer = (isDone: boolean): void => {
      late.cancel();
      this.#waiting.delete(waiting);
      const own = (run: ErasureRun): ChannelAnswer =>
        isDone && run.isOver ? this.#answerOf(run) : { error: errorCodes.internal };
      done(answers.map((one, index) => (runs[index] && own(runs[index])) ?? one));
    };
    // Whoever asks again has it ended.
    const late = platform.after(changeLimits.erasureAnswerMs, () => {
      answer(false);
      this.#object.endEvent(platform.nowMs());
    });
    const erase = (holes: Erased): void => {
      for (const part of parts) part.erase?.(holes);
    };
    const waiting: WaitingErasure = { answer, erase, sequence: undefined };
    this.#waiting.add(waiting);
    this.#goOn(begun, begun, waiting);
  }

  settle(): void {
    const { relay } = this.#object.channel;
    for (const { sequence, answer } of this.#waiting)
      if (sequence !== undefined && relay.isTaken(sequence)) answer(true);
  }

  /**
   * Carries out a slice, in a job of its own; and once none is left, what has to follow.
   *
   * @param fresh those whose last slices nobody else knows of yet
   */
  #goOn(runs: readonly ErasureRun[], fresh: readonly ErasureRun[], waiting: WaitingErasure): void {
    if (!this.#waiting.has(waiting)) return;
    const { queue, platform, channel } = this.#object;
    const work = (): ErasureRun | undefined => {
      for (const { holes } of fresh) waiting.erase(holes);
      const run = runs.find(({ isOver }) => !isOver);
      if (run !== undefined) this.#changes.erasure.goOn(run, platform.nowMs());
      else {
        channel.hub.flush();
        channel.store.rewrite(changeLimits.rewrittenRowsMax, changeLimits.rewrittenBytesMax);
      }
      return run;
    };
    queue.enqueue("other", 0, work, (outcome) => {
      if (outcome.outcome !== "done") waiting.answer(false);
      else if (outcome.result !== undefined) this.#goOn(runs, [outcome.result], waiting);
      else this.#free(waiting);
    });
  }

  /** Frees what was overwritten, in the commit after that. */
  #free(waiting: WaitingErasure): void {
    const { queue, channel } = this.#object;
    queue.enqueue(
      "other",
      0,
      () => channel.store.rewritten(),
      (outcome) => {
        if (outcome.outcome !== "done") waiting.answer(false);
        // The queue settles after the commit.
        else waiting.sequence = channel.relay.sequence;
      },
    );
  }

  #answerOf(run: ErasureRun): ChannelAnswer {
    const { top } = this.#object.channel;
    const text = jsonOf(run, (out) => erasureFields(out, run, top));
    return { result: trustedJsonText(text) };
  }
}

/** A call whose erasures aren't done everywhere. */
interface WaitingErasure {
  readonly answer: (isDone: boolean) => void;
  /** Has the parts of the object blank what they hold. */
  readonly erase: (holes: Erased) => void;
  /** The number of the entry that all gateways have to take; undefined while something is left to do here. */
  sequence: number | undefined;
}
