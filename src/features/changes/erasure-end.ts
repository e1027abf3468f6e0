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
    const own = (run: ErasureRun | undefined, isDone: boolean): ChannelAnswer | undefined =>
      run && (isDone ? this.#answerOf(run) : { error: errorCodes.internal });
    this.#end(begun, parts, (isDone) =>
      done(answers.map((one, index) => own(runs[index], isDone) ?? one)),
    );
  }

  /** Ends runs whose first slices are carried out. */
  #end(
    runs: readonly ErasureRun[],
    parts: readonly ObjectPart[],
    done: (isDone: boolean) => void,
  ): void {
    const { platform } = this.#object;
    const answer = (isDone: boolean): void => {
      late.cancel();
      this.#waiting.delete(waiting);
      done(isDone);
    };
    // Whoever asks again has it ended.
    const late = platform.after(changeLimits.erasureAnswerMs, () => {
      answer(false);
      this.#object.endEvent(platform.nowMs());
    });
    const waiting: WaitingErasure = {
      answer,
      runs,
      parts: parts.filter((part) => part.erase !== undefined),
      blanked: [],
      sequence: undefined,
    };
    for (const { holes } of runs) blank(holes, waiting);
    this.#waiting.add(waiting);
    this.#goOn(waiting);
  }

  settle(): void {
    const { relay } = this.#object.channel;
    for (const { sequence, answer } of this.#waiting)
      if (sequence !== undefined && relay.isTaken(sequence)) answer(true);
  }

  /** Carries out a slice, in a job of its own; and once none is left, what has to follow. */
  #goOn(waiting: WaitingErasure): void {
    if (!this.#waiting.has(waiting)) return;
    const { queue, channel } = this.#object;
    const work = (): boolean => {
      const isSlice = this.#carryOutSlice(waiting);
      if (isSlice) return true;
      channel.hub.flush();
      channel.store.rewrite(changeLimits.rewrittenRowsMax, changeLimits.rewrittenBytesMax);
      return false;
    };
    queue.enqueue("other", 0, work, (outcome) => {
      if (outcome.outcome !== "done") waiting.answer(false);
      else if (outcome.result) this.#goOn(waiting);
      else this.#free(waiting);
    });
  }

  /** @returns whether there was one */
  #carryOutSlice(waiting: WaitingErasure): boolean {
    const { blanked, runs } = waiting;
    const [next] = blanked;
    if (next !== undefined) {
      const from = next.part.erase?.(next.holes, next.from);
      if (from === undefined) blanked.shift();
      else next.from = from;
      return true;
    }
    const run = runs.find((one) => one.from !== undefined);
    if (run === undefined) return false;
    this.#changes.erasure.goOn(run, this.#object.platform.nowMs());
    blank(run.holes, waiting);
    return true;
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
  readonly runs: readonly ErasureRun[];
  /** The parts of the object that hold publications. */
  readonly parts: readonly ObjectPart[];
  /** The publications that these parts still have to blank. */
  readonly blanked: BlankedPart[];
  /** The number of the entry that all gateways have to take; undefined while something is left to do here. */
  sequence: number | undefined;
}

/** Publications that a part has to blank, in slices. */
interface BlankedPart {
  readonly part: ObjectPart;
  readonly holes: Erased;
  /** Where the next slice begins. */
  from: number;
}

/** Has the parts blank the publications of a slice, before the next one. */
function blank(holes: Erased, { parts, blanked }: WaitingErasure): void {
  const isNothing = holes.offsets.length === 0 && holes.user === undefined;
  if (!isNothing) for (const part of parts) blanked.push({ part, holes, from: 0 });
}
