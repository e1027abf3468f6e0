/** What a long poll asks for: what is newer than a position, or the position alone. */
export interface PollRequest {
  /** Absent: only where the channel's stream is now. */
  readonly since?: {
    readonly offset: number;
    /** "" for whichever it is. */
    readonly epoch: string;
  };
  readonly timeoutMs: number;
}

export type ParsedPoll =
  | { readonly outcome: "poll"; readonly request: PollRequest }
  | { readonly outcome: "malformed"; readonly detail: string };

/** Reads the query of a long poll (rule T9). What isn't understood is refused, never guessed (rule W4). */
export function parsePollRequest(query: (name: string) => string | undefined): ParsedPoll {
  const timeout = query("timeout") ?? "25";
  if (!/^(?:0|[1-9]\d?)$/.test(timeout) || Number(timeout) > timeoutSecondsMax) {
    return malformed(`timeout must be a number of whole seconds, at most ${timeoutSecondsMax}`);
  }
  const timeoutMs = Number(timeout) * 1_000;
  const offset = query("offset");
  const epoch = query("epoch") ?? "";
  if (offset === undefined) {
    return epoch === ""
      ? { outcome: "poll", request: { timeoutMs } }
      : malformed("epoch without an offset is no position");
  }
  if (!/^\d{1,16}$/.test(offset) || !Number.isSafeInteger(Number(offset))) {
    return malformed("offset must be a whole number");
  }
  return { outcome: "poll", request: { since: { offset: Number(offset), epoch }, timeoutMs } };
}

function malformed(detail: string): ParsedPoll {
  return { outcome: "malformed", detail };
}

/** Proxies and browsers give up on a response that takes a minute. */
const timeoutSecondsMax = 55;
