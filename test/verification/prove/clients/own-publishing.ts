import type { Random } from "../../../support/random.ts";
import type { PublishingPlan } from "./plan.ts";
import type { ClientRecorder } from "./client-recorder.ts";
import { backendsRefusal } from "./endpoint.ts";

/** The publishes of one client, one at a time. */
export class OwnPublishing {
  readonly channel: string;
  readonly #process: string;
  readonly #everyMs: number;
  readonly #asks: boolean;
  readonly #random: Random;
  readonly #recorder: ClientRecorder;
  #dueAtMs: number | undefined;
  #isOver = false;
  #count = 0;
  #underWay: string | undefined;

  /** @param asks whether the server asks a backend about each publish */
  constructor(
    plan: PublishingPlan,
    process: string,
    random: Random,
    recorder: ClientRecorder,
    asks = false,
  ) {
    this.channel = plan.channel;
    this.#process = process;
    this.#everyMs = plan.everyMs;
    this.#random = random;
    this.#asks = asks;
    this.#recorder = recorder;
  }

  /** Whether a publish is waiting for its answer. */
  get isUnderWay(): boolean {
    return this.#underWay !== undefined;
  }

  isDue(nowMs: number): boolean {
    this.#dueAtMs ??= nowMs + this.#random.next() * this.#everyMs;
    return !this.#isOver && !this.isUnderWay && nowMs >= this.#dueAtMs;
  }

  /** Begins the next publish and gives its value. Called right before the publish is sent. */
  begin(nowMs: number, time: number): string {
    this.#dueAtMs = nowMs + this.#random.next() * 2 * this.#everyMs;
    this.#underWay = `${this.#process}-${++this.#count}`;
    this.#record("invoke", this.#underWay, time);
    return this.#underWay;
  }

  /** The publish was answered, without an error or with this code. Gives a complaint if the answer is wrong. */
  answer(code: number | undefined, wasSubscribed: boolean, time: number): string | undefined {
    if (code === undefined) this.#end("ok", time);
    // Only subscribers may publish, and the subscription may have ended without the client knowing yet.
    else if (this.#asks && code === backendsRefusal) this.#end("fail", time);
    else if (code === 111 || (code === 103 && !wasSubscribed)) this.#end("fail", time);
    else {
      this.#end("info", time);
      if (code !== 100) return `couldn't publish: ${code}`;
    }
    return undefined;
  }

  /** The publish, if one is waiting, won't be answered any more. */
  lose(time: number): void {
    if (this.isUnderWay) this.#end("info", time);
  }

  /** Stops publishing. */
  stop(): void {
    this.#isOver = true;
  }

  #end(outcome: "ok" | "fail" | "info", time: number): void {
    const value = this.#underWay ?? "";
    this.#underWay = undefined;
    this.#record(outcome, value, time);
  }

  #record(type: "invoke" | "ok" | "fail" | "info", value: string, time: number): void {
    const { channel } = this;
    const publish = { time, process: this.#process, f: "publish", channel, value } as const;
    const isAsking = type === "invoke" && this.#asks;
    this.#recorder.record(isAsking ? { ...publish, type, asks: true } : { ...publish, type });
  }
}
