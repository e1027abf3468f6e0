import { homeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";

/**
 * The calls of one kind from one object to homes. Few calls to one home are in flight; what comes meanwhile shares the
 * next call (rule U5).
 */
export class SharedCalls<Question extends Keyed, Answer> {
  readonly #call: HomeCall<Question, Answer>;
  readonly #inFlightMax: number;
  readonly #homes = new Map<string, HomeCaller<Question, Answer>>();

  /** @param inFlightMax how many calls to one home there may be at a time */
  constructor(call: HomeCall<Question, Answer>, inFlightMax: number) {
    this.#call = call;
    this.#inFlightMax = inFlightMax;
  }

  /**
   * Asks the home of a user or a token.
   *
   * @param done  takes the answer to the call that carries the question, later; undefined if there was none in time
   * @param asked called when the call is made
   */
  ask(question: Question, done: AnswerDone<Answer>, asked?: () => void): void {
    const name = homeName(question.key);
    let home = this.#homes.get(name);
    if (home === undefined) {
      home = { name, waiting: [], inFlight: 0 };
      this.#homes.set(name, home);
    }
    home.waiting.push({ question, done, ...(asked === undefined ? {} : { asked }) });
    this.#callHome(home);
  }

  /** Calls a home for what waits, if few enough calls are in flight. */
  #callHome(home: HomeCaller<Question, Answer>): void {
    if (home.inFlight >= this.#inFlightMax || home.waiting.length === 0) return;
    const asked = home.waiting.splice(0, limits.registerUsersMax);
    home.inFlight++;
    for (const { asked: called } of asked) called?.();
    const questions = asked.map(({ question }) => question);
    this.#call(home.name, questions, (answer) => {
      home.inFlight--;
      for (const { done } of asked) done(answer);
      this.#callHome(home);
      if (home.inFlight === 0) this.#homes.delete(home.name);
    });
  }
}

/**
 * Calls a home, once or twice.
 *
 * @param done called once, with undefined if the home didn't answer in time
 */
type HomeCall<Question, Answer> = (
  home: string,
  questions: readonly Question[],
  done: AnswerDone<Answer>,
) => void;

type AnswerDone<Answer> = (answer: Answer | undefined) => void;

/** A question about a user or a token, whose key names the home. */
interface Keyed {
  readonly key: string;
}

interface HomeCaller<Question, Answer> {
  readonly name: string;
  readonly waiting: {
    readonly question: Question;
    readonly done: AnswerDone<Answer>;
    readonly asked?: () => void;
  }[];
  inFlight: number;
}
