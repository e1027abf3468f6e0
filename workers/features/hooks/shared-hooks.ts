import type { HookTarget } from "../../../src/config/config.ts";
import type { BackendQuestion, BackendReply } from "../../../src/contract/backend-call.ts";
import {
  type Backends,
  type HookAnswer,
  Hooks,
  type SessionQuestion,
  tooMany,
} from "../../../src/features/hooks/hooks.ts";
import type { AskBackend } from "../../../src/object/part.ts";
import { hookLimits } from "../../../src/features/hooks/limits.ts";
import { limits } from "../../../src/limits.ts";
import { inTime } from "../../platform/object-call.ts";
import { dueMoment } from "../../../src/moment.ts";

/**
 * The hooks of one isolate of the edge (rule Q13). Its requests share the bounds of asking a backend, and what they
 * know about the backend, as the sessions of an object do (rules Q6 and Q7). Isolates share nothing.
 *
 * The platform ties I/O to the request that began it, and ends both when the client goes, without any notice. So each
 * request sends its own question. Another request only signals that its turn has come. A turn that isn't used, or whose
 * answer isn't reported in time, belongs to a request that has ended, and is taken back.
 */
export class SharedHooks {
  readonly #backends: Backends = new Map();
  readonly #turns = new Set<QuestionTurn>();

  /**
   * Asks a backend for one request.
   *
   * @param send sends the question, once; never rejects
   */
  async ask(
    target: HookTarget,
    question: Omit<SessionQuestion, "isWanted">,
    send: (question: BackendQuestion) => Promise<BackendReply>,
  ): Promise<HookAnswer> {
    const nowMs = Date.now();
    this.#takeBack(nowMs);
    const asked: SharedQuestion = { isWanted: true };
    const decided = Promise.withResolvers<undefined>();
    const call: AskBackend = (one, timeoutMs, done) => {
      asked.turn = new QuestionTurn(one, timeoutMs, done);
      this.#turns.add(asked.turn);
      decided.resolve(undefined);
    };
    const isWanted = () => asked.isWanted;
    new Hooks(call, this.#backends).ask(target, { ...question, isWanted }, nowMs, (answer) => {
      asked.answer = answer;
      decided.resolve(undefined);
    });
    // Few questions have to wait.
    if (asked.turn === undefined && asked.answer === undefined)
      await inTime(decided.promise, hookLimits.hookWaitMs, undefined);
    const { turn } = asked;
    if (turn !== undefined) {
      turn.used(Date.now());
      turn.end(await send(turn.question));
      this.#turns.delete(turn);
    }
    asked.isWanted = false;
    return asked.answer ?? tooMany;
  }

  /** Ends the turns of requests that have ended, which makes room for others. */
  #takeBack(nowMs: number): void {
    for (const turn of this.#turns) {
      if (nowMs < dueMoment(turn.endsAtMs, turn.timeoutMs, nowMs)) continue;
      this.#turns.delete(turn);
      // Nothing is known of the backend: the client has gone before the answer.
      turn.end({ outcome: "busy" });
    }
  }
}

/** What has come of a request's question so far. */
interface SharedQuestion {
  isWanted: boolean;
  turn?: QuestionTurn;
  answer?: HookAnswer;
}

/** The turn of one question, which counts as in flight until it ends. */
class QuestionTurn {
  readonly question: BackendQuestion;
  /** When the turn belongs to a request that has ended, ms since 1970. */
  endsAtMs: number;
  readonly timeoutMs: number;
  #done: Parameters<AskBackend>[2] | undefined;

  constructor(question: BackendQuestion, timeoutMs: number, done: Parameters<AskBackend>[2]) {
    this.question = question;
    this.endsAtMs = Date.now() + limits.hookMarginMs;
    this.timeoutMs = timeoutMs;
    this.#done = done;
  }

  /** The question is sent now, so its answer may take its time. */
  used(nowMs: number): void {
    this.endsAtMs = nowMs + this.timeoutMs + limits.hookMarginMs;
  }

  /** Reports what has come of the question. Does nothing if the turn was taken back. */
  end(reply: Parameters<Parameters<AskBackend>[2]>[0]): void {
    this.#done?.(reply, Date.now());
    this.#done = undefined;
  }
}
