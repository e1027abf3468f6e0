import { Hooks } from "../../../src/features/hooks/hooks.ts";
import type { AskBackend } from "../../../src/object/part.ts";
import type { BackendQuestion, BackendReply } from "../../../src/contract/backend-call.ts";

type Done = Parameters<AskBackend>[2];

/** A question as the test reads it. */
export interface Asked {
  readonly hook: string;
  readonly target: string;
  /** The body, parsed. */
  readonly body: object;
  readonly headers?: BackendQuestion["headers"];
}

/** The backends of all hooks, which answer when the test says so. */
export class ScriptedBackend {
  readonly hooks: Hooks;
  readonly #nowMs: () => number;
  readonly #pending: { readonly question: BackendQuestion; readonly done: Done }[] = [];
  #asked: Asked[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.hooks = new Hooks((question, _, done) => {
      const { hook, target, headers } = question;
      const body: object = JSON.parse(question.body);
      this.#asked.push({ hook, target, body, ...(headers === undefined ? {} : { headers }) });
      this.#pending.push({ question, done });
    });
  }

  /** The questions that aren't answered. */
  get pending(): number {
    return this.#pending.length;
  }

  /** The questions since the last call. */
  takeAsked(): readonly Asked[] {
    const asked = this.#asked;
    this.#asked = [];
    return asked;
  }

  /** Answers the oldest question, or the oldest one of a hook, with status 200. */
  answer(body: object, hook?: string): void {
    this.reply({ outcome: "answered", status: 200, body: JSON.stringify(body) }, hook);
  }

  /** Lets the call of the oldest question fail. */
  fail(hook?: string): void {
    this.reply({ outcome: "failed", reason: "there is no response" }, hook);
  }

  reply(reply: BackendReply | { readonly outcome: "busy" }, hook?: string): void {
    const index = this.#pending.findIndex(
      ({ question }) => hook === undefined || question.hook === hook,
    );
    const [pending] = index < 0 ? [] : this.#pending.splice(index, 1);
    if (pending === undefined) throw new Error("no question is asked");
    pending.done(reply, this.#nowMs());
  }
}
