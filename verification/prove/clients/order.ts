import type { ClientsPlan } from "./plan.ts";

/** What a client process is asked to do. It answers one order after the other. */
export type Order =
  | { readonly order: "start"; readonly plan: ClientsPlan }
  | { readonly order: "progress" }
  | { readonly order: "settle" }
  | { readonly order: "end" };

/** How a client process is, when it has carried out an order. */
export interface Progress {
  /** Publications heard, by everybody together. */
  readonly deliveries: number;
  /** Subscriptions that are there now, and all that there should be. */
  readonly subscribed: number;
  readonly wanted: number;
  /** What no server may do and no history can say, in sentences: the run has failed. */
  readonly failures: readonly string[];
  /** Processor time of the whole process, µs. */
  readonly cpuMicroseconds: number;
}

export type Answer =
  | { readonly outcome: "done"; readonly progress: Progress }
  | { readonly outcome: "failed"; readonly problem: string };
