import { Centrifuge, type Options } from "centrifuge";
import type { Random } from "../../../support/random.ts";
import { microseconds } from "../history/clock.ts";
import { longestMs, shortestMs } from "./backoff.ts";
import type { ClientRecorder } from "./client-recorder.ts";
import { endpointOf, tokenOf, userOf } from "./endpoint.ts";
import type { ClientsPlan, SubscriberPlan } from "./plan.ts";

/** The official client of a subscriber. It records when it is connected, and fails if it is disconnected for good. */
export class RecordedClient {
  readonly client: Centrifuge;
  /** Of the connection; empty while there is none. */
  id = "";
  /**
   * Called when the SDK couldn't handle what it was sent, such as a delta that doesn't fit, and has ended the connection. It
   * connects again after that. Absent: that is a failure as any other.
   */
  onUnusable: ((problem: string) => void) | undefined;
  #isStopping = false;

  constructor(
    plan: ClientsPlan,
    traits: SubscriberPlan,
    random: Random,
    recorder: ClientRecorder,
    websocket: Options["websocket"],
  ) {
    const { process } = traits;
    this.client = new Centrifuge(endpointOf(plan, traits), {
      token: tokenOf(plan, traits, random).text,
      websocket,
      minReconnectDelay: shortestMs,
      maxReconnectDelay: longestMs,
      timeout: 5_000,
      maxServerPingDelay: 3_000,
    });
    // Failed attempts are repeated; only a terminal end is an event.
    this.client.on("error", () => undefined);
    this.client.on("connected", ({ client }) => {
      this.id = client;
      const accepted = { process, type: "ok", f: "connect", user: userOf(traits), client } as const;
      recorder.record({ ...accepted, time: microseconds() });
    });
    this.client.on("connecting", () => {
      if (this.id !== "") recorder.disconnect(process, microseconds(), this.id);
      this.id = "";
    });
    this.client.on("disconnected", ({ code, reason }) => {
      if (this.id !== "") recorder.disconnect(process, microseconds(), this.id);
      this.id = "";
      if (this.#isStopping || code === disconnectCalled) return;
      if (code === badProtocol && this.onUnusable !== undefined) {
        this.onUnusable(reason);
        setTimeout(() => this.client.connect(), shortestMs);
      } else recorder.fail(process, `was disconnected for good: ${code} ${reason}`);
    });
  }

  stop(): void {
    this.#isStopping = true;
    this.client.disconnect();
  }
}

/** Whether the SDK threw an error because it couldn't apply a delta. It also ends the connection then. */
export function parseDeltaError(error: unknown): boolean {
  return error instanceof Error && error.stack?.includes("applyDelta") === true;
}

/** The SDK's code of a disconnect for which its own program asked. */
const disconnectCalled = 0;

/** The code with which the SDK ends a connection for good on which it was sent what it can't handle. */
const badProtocol = 2;
