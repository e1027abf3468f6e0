import type { ServerResponse } from "node:http";
import { Random } from "../../../support/random.ts";
import type { HookAnswered } from "../../checker/history-event.ts";
import { valueIn } from "../clients/value.ts";
import { microseconds } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import { answerTo, hookTimeoutMs, type Question, rightAnswer } from "./hook-answers.ts";
import { type Outage, type ReceivedRequest, UnreliableServer } from "./unreliable-server.ts";

/**
 * The backend that the server asks about connects, subscribes, publishes and calls. Most of its answers are right; others
 * are late, refuse, fail, are nonsense or don't come. Each answer is recorded before it is sent.
 */
export class HookBackend {
  readonly #server: UnreliableServer;
  readonly #random: Random;
  #recorder: Recorder | undefined;
  #isSettled = false;

  /** @param secret signs the questions */
  static async start(secret: string, seed: number): Promise<HookBackend> {
    return new HookBackend(await UnreliableServer.start(secret), new Random(seed));
  }

  private constructor(server: UnreliableServer, random: Random) {
    this.#server = server;
    this.#random = random;
    server.respond = (request, response) => this.#answer(parseQuestion(request), response);
    server.refused = (request) => this.#record("fail", "outage", parseQuestion(request));
  }

  /** The part of the server's configuration that makes it ask, apart from the namespaces. */
  get config() {
    const timeout = `${hookTimeoutMs}ms`;
    const target = (hook: string) => ({ endpoint: `${this.#server.address}/${hook}`, timeout });
    return {
      client: { proxy: { connect: { ...target("connect"), enabled: true } } },
      channel: { proxy: { subscribe: target("subscribe"), publish: target("publish") } },
      rpc: { proxy: target("rpc"), without_namespace: { proxy_enabled: true } },
    };
  }

  /** Failures that no server may cause, in sentences. */
  get failures(): readonly string[] {
    return this.#server.failures;
  }

  /** Records all answers from now on. To be called before a client connects. */
  recordTo(recorder: Recorder): void {
    this.#recorder = recorder;
  }

  /** From here on all answers are right. */
  settle(): void {
    this.#isSettled = true;
  }

  /** Is out of order until the promise resolves. @returns false if it already was */
  breakUntil(outage: Outage, over: Promise<unknown>): Promise<boolean> {
    return this.#isSettled ? Promise.resolve(false) : this.#server.breakUntil(outage, over);
  }

  close(): Promise<void> {
    this.#recorder = undefined;
    return this.#server.close();
  }

  #answer(question: Question, response: ServerResponse): void {
    const planned = this.#isSettled ? rightAnswer(question) : answerTo(question, this.#random);
    const { answer, status, body, afterMs, allows, result } = planned;
    const send = (): void => {
      this.#record(allows ? "ok" : "fail", answer, question, result);
      const location = status === 302 ? { Location: "/elsewhere" } : {};
      response.writeHead(status, location).end(status === 200 ? body : undefined);
    };
    if (afterMs === 0) send();
    else if (Number.isFinite(afterMs)) setTimeout(send, afterMs);
    else this.#record("fail", answer, question);
  }

  #record(
    type: "ok" | "fail",
    answer: string,
    { hook, client, channel, data }: Question,
    result?: string,
  ): void {
    const what = { process: "hooks", f: "hook", hook, answer, client } as const;
    const hasValue = hook === "publish" || hook === "rpc";
    const event: HookAnswered = {
      ...what,
      type,
      time: microseconds(),
      ...(channel === undefined ? {} : { channel }),
      ...(hasValue ? { value: valueIn(data) } : {}),
      ...(hasValue && result !== undefined ? { result } : {}),
    };
    this.#recorder?.record(event);
  }
}

function parseQuestion({ headers, body }: ReceivedRequest): Question {
  const fields: Omit<Question, "hook"> = JSON.parse(body);
  const hook = String(headers["dormouse-hook"]);
  if (!isHook(hook)) throw new Error(`a hook ${hook} was asked, which isn't switched on`);
  return { ...fields, hook };
}

function isHook(name: string): name is Question["hook"] {
  return ["connect", "subscribe", "publish", "rpc"].includes(name);
}
