import type { Random } from "../../../support/random.ts";
import { Backoff } from "./backoff.ts";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** The outcome of a call. */
export type CallResult =
  | { readonly outcome: "result"; readonly result: object }
  /** Nothing was done, for certain: there was no connection, or the server says so. */
  | { readonly outcome: "refused" }
  /** The outcome is unknown. */
  | { readonly outcome: "lost" }
  /** The call can't succeed, however often it is repeated. */
  | { readonly outcome: "wrong"; readonly problem: string; readonly code?: number };

/** The outcome of a call that was repeated. */
export type RepeatedResult =
  | Exclude<CallResult, { readonly outcome: "result" | "wrong" }>
  | (Extract<CallResult, { readonly outcome: "wrong" }> & { readonly wasLost: boolean })
  | {
      readonly outcome: "result";
      readonly result: object;
      readonly attempts: number;
      /** Whether an earlier attempt was lost, which may be carried out yet. */
      readonly wasLost: boolean;
    };

/** The address of the HTTP API, and the credentials for it. */
export interface BackendAddress {
  /** The address of the server or of a proxy before it, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  /** The server's own host name, where the address is that of a proxy before a deployed server. */
  readonly hostHeader?: string;
  readonly apiKey: string;
}

/** The HTTP API for a caller that distinguishes certain refusals from unknown outcomes. */
export class BackendCalls {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #backend: BackendAddress;

  constructor(backend: BackendAddress) {
    this.#backend = backend;
  }

  /** Never rejects. */
  call(method: string, command: object): Promise<CallResult> {
    const { address, hostHeader, apiKey } = this.#backend;
    const { promise, resolve } = Promise.withResolvers<CallResult>();
    const asked = request(`${address}/api/${method}`, {
      method: "POST",
      agent: this.#agent,
      headers: {
        "Content-Type": "application/json",
        "X-API-Key": apiKey,
        ...(hostHeader === undefined ? {} : { Host: hostHeader }),
      },
    });
    const timer = setTimeout(
      () => asked.destroy(new Error("no answer came in time")),
      replyTimeoutMs,
    );
    const end = (result: CallResult): void => {
      clearTimeout(timer);
      resolve(result);
    };
    const fail = (error: NodeJS.ErrnoException): void => {
      end({ outcome: error.code === "ECONNREFUSED" ? "refused" : "lost" });
    };
    asked.once("error", fail);
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.once("end", () => end(judge(response.statusCode ?? 0, text)));
      response.once("error", fail);
      // A response that is cut off emits neither `end` nor `error`.
      response.once("close", () => end({ outcome: "lost" }));
    });
    asked.end(JSON.stringify(command));
    return promise;
  }

  /**
   * Repeats a call until it is answered, which does no harm if it may be carried out twice.
   *
   * @throws if it can't succeed, or isn't answered in several attempts
   */
  async untilAnswered(method: string, command: object): Promise<object> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const called = await this.call(method, command);
      if (called.outcome === "result") return called.result;
      if (called.outcome === "wrong") throw new Error(`${method}: ${called.problem}`);
      await pause(attempt * 100);
    }
    throw new Error(`${method} was never answered`);
  }

  /** Repeats a call until it is answered, for so long. */
  async repeat(
    method: string,
    command: object,
    random: Random,
    giveUpAfterMs: number,
  ): Promise<RepeatedResult> {
    const backoff = new Backoff(random);
    const endMs = performance.now() + giveUpAfterMs;
    let wasLost = false;
    for (let attempts = 1; ; attempts++) {
      const called = await this.call(method, command);
      if (called.outcome === "result") return { ...called, attempts, wasLost };
      if (called.outcome === "wrong") return { ...called, wasLost };
      // After one lost attempt, a refusal of another attempt no longer makes the outcome certain.
      wasLost ||= called.outcome === "lost";
      if (performance.now() >= endMs) return { outcome: wasLost ? "lost" : "refused" };
      await pause(backoff.next());
    }
  }

  /** Closes the kept connections. */
  close(): void {
    this.#agent.destroy();
  }
}

function judge(status: number, text: string): CallResult {
  const { result, error } = parseAnswer(text);
  if (status === 200 && result !== undefined) return { outcome: "result", result };
  // The answer says that nothing was done (rule B4), whatever the status.
  if (error?.code === 111) return { outcome: "refused" };
  // 520 and similar statuses come from the platform, in front of the server.
  if (error?.code === 100 || status >= 500 || status === 429) return { outcome: "lost" };
  const problem = `status ${status}, error ${error?.code ?? "none"}`;
  return { outcome: "wrong", problem, ...(error === undefined ? {} : { code: error.code }) };
}

function parseAnswer(text: string): {
  readonly result?: object;
  readonly error?: { readonly code: number };
} {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** A little more than the server's own limit (rule B4). */
const replyTimeoutMs = 12_000;

/** Enough for a server that is being restarted. */
const attemptsMax = 10;
