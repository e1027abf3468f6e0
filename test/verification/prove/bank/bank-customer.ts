import { State } from "centrifuge";
import type { Random } from "../../../support/random.ts";
import { insufficient } from "../../bank/bank.ts";
import { Backoff } from "../clients/backoff.ts";
import type { ClientRecorder } from "../clients/client-recorder.ts";
import type { ClientsPlan, SubscriberPlan } from "../clients/plan.ts";
import { parseError, SdkSubscriber } from "../clients/sdk-subscriber.ts";
import type { ToldAsk } from "../../checker/bank/told-ask.ts";
import { askBank, repeatsForMs } from "./bank-ask.ts";

/**
 * An official client that asks banks for transfers and promises, one at a time. It repeats each with its idempotency key until
 * it knows the outcome.
 */
export class BankCustomer extends SdkSubscriber {
  readonly #banks: readonly string[];
  readonly #random: Random;
  #asked = 0;
  #open: OpenAsk | undefined;
  #dueMs = 0;
  #isSettling = false;

  constructor(plan: ClientsPlan, traits: SubscriberPlan, random: Random, recorder: ClientRecorder) {
    super(plan, traits, random, recorder);
    this.#banks = traits.asks ?? [];
    this.#random = random;
  }

  override get isPublishing(): boolean {
    return super.isPublishing || this.#open !== undefined;
  }

  override tick(nowMs: number): void {
    super.tick(nowMs);
    if (nowMs < this.#dueMs || this.#open?.isUnderWay === true) return;
    const isGivenUp = this.#open !== undefined && nowMs - this.#open.begunMs > repeatsForMs;
    if (isGivenUp) this.#end((ask) => ask.ended("info"));
    if (this.client.state !== State.Connected) return;
    if (this.#open === undefined) {
      if (this.#isSettling || this.#asked >= asksMax) return;
      const { process } = this;
      const asked = { id: `${process}-${++this.#asked}`, process };
      const channel = this.#random.pick(this.#banks);
      const ask = askBank({ ...asked, channel }, this.#random, this.recorder);
      const backoff = new Backoff(this.#random);
      this.#open = { ask, backoff, begunMs: nowMs, attempts: 0, isUnderWay: false };
    }
    void this.#attempt(this.#open, nowMs);
  }

  override settle(): void {
    super.settle();
    this.#isSettling = true;
  }

  async #attempt(open: OpenAsk, nowMs: number): Promise<void> {
    const { ask, backoff } = open;
    const { channel, procedure, args } = ask;
    open.attempts++;
    open.isUnderWay = true;
    const data = { channel, procedure, args, idempotency_key: ask.id };
    try {
      const { data: result } = await this.client.rpc("dormouse.call", data);
      this.#end(() => ask.made(result));
      this.#dueMs = nowMs + this.#random.between(200, 1_200);
    } catch (error) {
      const { code } = parseError(error);
      open.isUnderWay = false;
      // Codes below 100 are the SDK's own. Of those of the server, 100 may come after the call was carried out.
      if (code === insufficient) this.#end(() => ask.ended(open.attempts === 1 ? "fail" : "info"));
      else if (code > 100 && code !== tooManyRequests) {
        this.#end(() => ask.ended("info"));
        this.fail(`couldn't ask ${channel} for a ${procedure}: ${code}`);
      }
      this.#dueMs = nowMs + backoff.next();
    }
  }

  #end(tell: (ask: ToldAsk) => void): void {
    const { ask } = this.#open ?? {};
    this.#open = undefined;
    if (ask !== undefined) tell(ask);
  }
}

/** What was asked for and has no outcome yet. */
interface OpenAsk {
  readonly ask: ToldAsk;
  readonly backoff: Backoff;
  readonly begunMs: number;
  attempts: number;
  isUnderWay: boolean;
}

const tooManyRequests = 111;

/** An account has all its movements in its text. */
const asksMax = 120;
