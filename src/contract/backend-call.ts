import type { HookHeader } from "./session-snapshot.ts";

/**
 * The call of an object to the entrypoint of the Worker that asks backends. During a deploy the two may be one release
 * apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export interface BackendCalls {
  /** Asks a backend, once. Never throws; a call itself may fail, and then it is unknown whether the backend was asked. */
  ask(question: BackendQuestion): Promise<BackendReply>;
}

/** A question to a backend. */
export interface BackendQuestion {
  /** The name of the hook, such as `publish` (docs/protocol.md 7). */
  readonly hook: string;
  /** The name of the target in the configuration: the address comes from there alone (rule Q8). */
  readonly target: string;
  /** JSON text. */
  readonly body: string;
  /** The headers of the connection that the backend gets, with names in lower case; absent: none. */
  readonly headers?: readonly HookHeader[];
}

/** The outcome of a question. */
export type BackendReply =
  | {
      readonly outcome: "answered";
      readonly status: number;
      /** The body of a response with status 200; "" for any other one. */
      readonly body: string;
      /** The seconds of `Retry-After`; absent if the response has none. */
      readonly retryAfterSeconds?: number;
    }
  /** There is no response, or none that can be used. `reason` quotes neither the question nor a response. */
  | { readonly outcome: "failed"; readonly reason: string };

/** The fields of a question about a client that changes a publication, in place of publishing one. */
export interface ChangeQuestion {
  /** The RPC by which the client changes it. */
  readonly method: string;
  /** Of the publication. */
  readonly offset: number;
  /** Of the offset; "" if the client doesn't say. */
  readonly epoch: string;
  /** Of a deletion; "" without one. */
  readonly reason: string;
}
