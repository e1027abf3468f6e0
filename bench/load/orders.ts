import type { Server } from "../systems/server.ts";
import type { Caller, Post } from "../systems/wire.ts";
import type { ChurnPace } from "./churn.ts";

/**
 * The orders of the bench to the load generator's process, one after the other. Each is answered by the {@link Report}
 * of the same name, or by a failure.
 */
export type Order =
  /** Opens sockets, so many at a time, and resolves when all are subscribed. They stay until `cut`. */
  | {
      readonly order: "connect";
      readonly server: Server;
      readonly callers: readonly Caller[];
      readonly concurrency: number;
      /** How many missed publications each socket must receive before it counts as connected. */
      readonly missed: number;
      /**
       * Whether each publication that arrives is answered by a frame, or by one that marks it as read. The channel must
       * be a new one for marks: its first publication has the offset 1.
       */
      readonly sendsReceipts?: boolean | "marks";
      /** Whether a caller who is refused for now comes back, as the SDKs do. Otherwise that is a failure. */
      readonly comesBack?: boolean;
    }
  /**
   * Publishers that each post the next publication when the last one is answered, for so long; then waits for all
   * deliveries.
   */
  | {
      readonly order: "closed-loop";
      readonly publishers: number;
      readonly seconds: number;
      /** Publications are distributed over these channels. */
      readonly channels: readonly string[];
      /** How many channels one request publishes to. */
      readonly batch: number;
      /** If the channels are maps, the keys of each that are set in turn, one by each request. */
      readonly keys?: number;
      /** Whether the values of these keys grow by a text of `dataBytes`, in place of being set. */
      readonly grow?: boolean;
      /** Whether each request calls the code of the channel, which publishes the data. */
      readonly call?: boolean;
      /** Whether a change may be left out, because a newer one of its key replaces it. Otherwise that is a failure. */
      readonly onlyNewest?: boolean;
      readonly dataBytes: number;
    }
  /** Posts at a rate, whether earlier posts are answered or not; latencies count from the due time of each post. */
  | {
      readonly order: "open-loop";
      readonly publicationsPerSecond: number;
      readonly seconds: number;
      readonly channels: readonly string[];
      readonly dataBytes: number;
    }
  /** Posts one publication and measures its arrival at the first and the last socket. */
  | { readonly order: "single"; readonly channel: string; readonly dataBytes: number }
  /** Posts so many publications to a channel without subscribers of its own. */
  | {
      readonly order: "fill";
      readonly server: Server;
      readonly channel: string;
      readonly publications: number;
      readonly publishers: number;
      /**
       * How many publications one request carries, where the system accepts batches: a divisor of `publications`. 1 by
       * default.
       */
      readonly batch?: number;
      /** If the channel is a map, the keys that are set in turn, one by each request. */
      readonly keys?: number;
      /** Whether the values of these keys grow by a text of `dataBytes`, in place of being set. */
      readonly grow?: boolean;
      readonly dataBytes: number;
    }
  /** Sends each of these posts once, so many at a time. Nobody is subscribed to what they publish. */
  | {
      readonly order: "post-each";
      readonly server: Server;
      readonly posts: readonly Post[];
      readonly posters: number;
    }
  /** Publishers of one channel whose subscribers send receipts; waits until all receipts are answered. */
  | {
      readonly order: "receipts";
      readonly channel: string;
      readonly publishers: number;
      readonly seconds: number;
      readonly dataBytes: number;
    }
  /** Lets clients connect, subscribe and leave from now on, until `end-churn`. */
  | {
      readonly order: "begin-churn";
      readonly server: Server;
      readonly channel: string;
      readonly pace: ChurnPace;
    }
  | { readonly order: "end-churn" }
  /** Connects clients, which stay until `cut` and aren't counted among the subscribers. */
  | {
      readonly order: "gather-storm";
      readonly server: Server;
      readonly callers: readonly Caller[];
    }
  /** Cuts these clients at once, and lets them come back as the SDKs do. Resolves when the last one is back. */
  | { readonly order: "release-storm" }
  /** Closes all sockets at once, without a close frame. */
  | { readonly order: "cut" };

/** The load generator's share of one processor during the measurement, 0 to 1: near 1 it was the bottleneck. */
interface LoadShare {
  readonly busy: number;
}

export type Report =
  | ({ readonly order: "connect" } & LoadShare & {
        readonly seconds: number;
        /** For each caller, from its first byte until it is subscribed, ms: sorted. */
        readonly latenciesMs: readonly number[];
        /** How often callers were refused for now, all together. */
        readonly refusals: number;
        /** The position in the first frame with an epoch; "" and 0 if no frame had one. */
        readonly epoch: string;
        readonly offset: number;
      })
  | ({ readonly order: "closed-loop" } & LoadShare & {
        readonly publications: number;
        readonly deliveries: number;
        /** Deliveries of changes that were replaced; 0 where nothing may be left out. */
        readonly leftOut: number;
        /** From the first post to the last delivery. */
        readonly seconds: number;
        readonly frames: number;
        readonly bytes: number;
        /** From a post to its answer, ms: sorted. */
        readonly answerLatenciesMs: readonly number[];
      })
  | ({ readonly order: "open-loop" } & LoadShare & {
        readonly publications: number;
        readonly deliveries: number;
        readonly seconds: number;
        /** From the due time of a publication to its arrival at the watched sockets, ms: sorted. */
        readonly latenciesMs: readonly number[];
        /** The maximum number of posts that were due and not yet sent. */
        readonly backlog: number;
      })
  | ({ readonly order: "single" } & LoadShare & {
        /** From the post to the first and to the last socket, and to the answer. */
        readonly firstMs: number;
        readonly lastMs: number;
        readonly answerMs: number;
      })
  | ({ readonly order: "fill" } & LoadShare & { readonly seconds: number })
  | ({ readonly order: "post-each" } & LoadShare & {
        /** From the first post to the last answer. */
        readonly seconds: number;
        /** From a post to its answer, ms: sorted. */
        readonly answerLatenciesMs: readonly number[];
      })
  | ({ readonly order: "receipts" } & LoadShare & {
        /** Receipts that were answered, one for each delivery. */
        readonly receipts: number;
        /** From the first post to the last answer to a receipt. */
        readonly seconds: number;
        /** From a post to its arrival at the watched sockets, ms: sorted. */
        readonly latenciesMs: readonly number[];
        /** From a receipt to its answer, ms: sorted. */
        readonly receiptLatenciesMs: readonly number[];
      })
  | { readonly order: "begin-churn" }
  | ({ readonly order: "end-churn" } & LoadShare & {
        /** Clients that were subscribed until the end was ordered. */
        readonly joins: number;
        /** How often clients were refused for now. */
        readonly refusals: number;
        /** From the beginning until the end was ordered. */
        readonly seconds: number;
        /** For each client, from its first byte until it is subscribed, ms: sorted. */
        readonly latenciesMs: readonly number[];
      })
  | { readonly order: "gather-storm" }
  | ({ readonly order: "release-storm" } & LoadShare & {
        /** From the cut until the last client is back. */
        readonly seconds: number;
        /** How often clients were refused for now, all together, and the one that was refused most often. */
        readonly refusals: number;
        readonly refusalsOfOneMost: number;
      })
  | ({ readonly order: "cut" } & LoadShare)
  | { readonly order: "failed"; readonly problem: string };
