import type { Caller, SystemName } from "../systems/wire.ts";

/**
 * What the bench asks of the load generator's process, one after the other. Each is answered by the {@link Report} of the
 * same name, or by a failure.
 */
export type Order =
  /** Opens sockets, so many at a time, and resolves when all of them are subscribed. They stay until `cut`. */
  | {
      readonly order: "connect";
      readonly system: SystemName;
      readonly port: number;
      readonly callers: readonly Caller[];
      readonly concurrency: number;
      /** Publications that each of them has to get besides, before it counts as there: what it missed. */
      readonly missed: number;
    }
  /** Publishers that each post the next publication when the last one was answered, for so long; waits until all was delivered. */
  | {
      readonly order: "closed-loop";
      readonly publishers: number;
      readonly seconds: number;
      /** Publications are spread over these. */
      readonly channels: readonly string[];
      /** How many of them one request publishes to. */
      readonly batch: number;
      readonly dataBytes: number;
    }
  /** Posts at a rate, whether earlier ones were answered or not; latencies count from when each was due. */
  | {
      readonly order: "open-loop";
      readonly publicationsPerSecond: number;
      readonly seconds: number;
      readonly channels: readonly string[];
      readonly dataBytes: number;
    }
  /** Posts one publication and sees when it reaches the first and the last socket. */
  | { readonly order: "single"; readonly channel: string; readonly dataBytes: number }
  /** Posts so many publications to a channel without listening. */
  | {
      readonly order: "fill";
      readonly system: SystemName;
      readonly port: number;
      readonly channel: string;
      readonly publications: number;
      readonly publishers: number;
      /** How many of them one request publishes, where the system takes batches: a divisor of `publications`. 1 if it isn't given. */
      readonly batch?: number;
      readonly dataBytes: number;
    }
  /** Ends all sockets at once, without a word. */
  | { readonly order: "cut" };

/** Of the load generator's own share of one processor in the time measured, 0 to 1: near 1 it was the bottleneck. */
interface LoadShare {
  readonly busy: number;
}

export type Report =
  | ({ readonly order: "connect" } & LoadShare & {
        readonly seconds: number;
        /** Of each caller, from its first byte until it was there, ms: sorted. */
        readonly latenciesMs: readonly number[];
        /** What the first frame with an epoch said where the stream stands; "" and 0 where nothing did. */
        readonly epoch: string;
        readonly offset: number;
      })
  | ({ readonly order: "closed-loop" } & LoadShare & {
        readonly publications: number;
        readonly deliveries: number;
        /** From the first post until the last delivery. */
        readonly seconds: number;
        readonly frames: number;
        readonly bytes: number;
        /** Of a post, ms: sorted. */
        readonly answerLatenciesMs: readonly number[];
      })
  | ({ readonly order: "open-loop" } & LoadShare & {
        readonly publications: number;
        readonly deliveries: number;
        readonly seconds: number;
        /** From when a publication was due until a subscriber had it, at some subscribers that are looked at closely, ms: sorted. */
        readonly latenciesMs: readonly number[];
        /** How many posts were due and not yet sent at worst. */
        readonly backlog: number;
      })
  | ({ readonly order: "single" } & LoadShare & {
        /** From the post to the first and to the last socket, and to its answer. */
        readonly firstMs: number;
        readonly lastMs: number;
        readonly answerMs: number;
      })
  | ({ readonly order: "fill" } & LoadShare & { readonly seconds: number })
  | ({ readonly order: "cut" } & LoadShare)
  | { readonly order: "failed"; readonly problem: string };
