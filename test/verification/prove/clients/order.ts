import type { ClientsPlan } from "./plan.ts";

/** An order to a client process, which answers one order after the other. */
export type Order =
  | { readonly order: "start"; readonly plan: ClientsPlan }
  | { readonly order: "progress" }
  | { readonly order: "settle" }
  | { readonly order: "end" };

/** The state of a client process after an order. */
export interface Progress {
  /** Publications delivered to all its subscribers together. */
  readonly deliveries: number;
  /** The number of live subscriptions, and of wanted ones. */
  readonly subscribed: number;
  readonly wanted: number;
  /** Failures that no server may cause and no history can hold, in sentences. The run has failed if there is one. */
  readonly failures: readonly string[];
  /** Processor time of the whole process, µs. */
  readonly cpuMicroseconds: number;
}

export type Answer =
  | { readonly outcome: "done"; readonly progress: Progress }
  | { readonly outcome: "failed"; readonly problem: string };
