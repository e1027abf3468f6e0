import { limits } from "../limits.ts";
import { elementTexts, type JsonText, memberText } from "../protocol/json/text.ts";
import { jsonValue } from "../protocol/wire-value.ts";
import type { StreamPosition } from "../protocol/publication.ts";

/** The state of a long poll. */
export type LongPollAnswer =
  /** There is nothing newer yet, so the poll goes on waiting. */
  | { readonly outcome: "waiting" }
  /**
   * The poll is answered. With a position in the request, `fresh` means that there are newer publications, and
   * `unrecovered` that the position can't be recovered from.
   */
  | { readonly outcome: "answered"; readonly body: string; readonly kind: PollKind }
  /** The client may not subscribe. */
  | { readonly outcome: "forbidden" }
  /** The channel has no positions to poll from. */
  | { readonly outcome: "no-positions" };

type PollKind = "fresh" | "unrecovered" | "position" | "nothing";

/**
 * Reads the frames that an object sends to a unidirectional client (docs/protocol.md 4.5) until a long poll (rule T9)
 * has an answer. Publications are passed on unchanged (rule W2).
 */
export class PollReader {
  readonly #channel: string;
  readonly #since: LongPollRequest["since"];
  #position: StreamPosition | undefined;

  constructor(channel: string, { since }: LongPollRequest) {
    this.#channel = channel;
    this.#since = since;
  }

  /** The ConnectRequest that subscribes to the channel. */
  get connectRequest(): string {
    // No stream has this epoch, so nothing is recovered, and the reply has the position.
    const since = this.#since ?? { offset: 0, epoch: "_" };
    return JSON.stringify({ subs: { [this.#channel]: { recover: true, ...since } } });
  }

  /** Takes one frame, which has one push on each line. */
  read(frame: string): LongPollAnswer {
    const live: JsonText[] = [];
    for (const line of frame.split("\n")) {
      const connected = memberText(line, "connect");
      if (connected !== undefined) {
        const answer = this.#connected(connected);
        if (answer.outcome !== "waiting") return answer;
      } else if (textOf(memberText(line, "channel")) === this.#channel) {
        const publication = memberText(line, "pub");
        if (publication !== undefined) live.push(publication);
      }
    }
    return live.length === 0 || this.#position === undefined
      ? { outcome: "waiting" }
      : fresh(live, this.#position);
  }

  /** The answer if the time of the poll is over. */
  timedOut(): LongPollAnswer {
    return this.#position === undefined
      ? { outcome: "waiting" }
      : answered("nothing", [], this.#position);
  }

  #connected(connect: JsonText): LongPollAnswer {
    const subscription = memberText(connect, "subs", this.#channel);
    if (subscription === undefined) return { outcome: "forbidden" };
    const epoch = textOf(memberText(subscription, "epoch"));
    // Without recovery, every poll would be answered at once that its position can't be recovered from.
    const isRecoverable = memberText(subscription, "recoverable") === "true";
    if (!isRecoverable || epoch === undefined || epoch === "") return { outcome: "no-positions" };
    const missed = elementTexts(subscription, "publications") ?? [];
    const offset = Math.max(offsetOf(subscription), ...missed.map(offsetOf));
    const position = { offset, epoch };
    this.#position = position;
    if (this.#since === undefined) return answered("position", [], position);
    if (memberText(subscription, "recovered") !== "true")
      return answered("unrecovered", [], position);
    return missed.length === 0 ? { outcome: "waiting" } : fresh(missed, position);
  }
}

/** The answer with publications of the stream, the newest last. */
function fresh(publications: readonly JsonText[], { epoch }: StreamPosition): LongPollAnswer {
  const newest = publications.at(-1);
  const offset = newest === undefined ? 0 : offsetOf(newest);
  return answered("fresh", publications, { offset, epoch });
}

function answered(
  kind: PollKind,
  publications: readonly JsonText[],
  { offset, epoch }: StreamPosition,
): LongPollAnswer {
  const unrecovered = kind === "unrecovered" ? `,"recovered":false` : "";
  const body = `{"publications":[${publications.join(",")}],"offset":${offset},"epoch":${JSON.stringify(epoch)}${unrecovered}}`;
  return { outcome: "answered", body, kind };
}

/** An offset of 0 is omitted on the wire. */
function offsetOf(object: JsonText): number {
  return Number(memberText(object, "offset") ?? "0");
}

function textOf(json: JsonText | undefined): string | undefined {
  if (json === undefined) return undefined;
  const value = jsonValue(json);
  return typeof value === "string" ? value : undefined;
}

/** The parameters of a long poll: either the publications after a position, or only the current position. */
export interface LongPollRequest {
  /** If absent, the poll asks for the current position only. */
  readonly since?: {
    readonly offset: number;
    /** "" for whatever epoch the channel has. */
    readonly epoch: string;
  };
  readonly timeoutMs: number;
}

type ParsedPoll =
  | { readonly outcome: "poll"; readonly request: LongPollRequest }
  | { readonly outcome: "malformed"; readonly detail: string };

/** Parses the query of a long poll (rule T9). An invalid parameter refuses the request (rule W4). */
export function parsePollRequest(query: (name: string) => string | undefined): ParsedPoll {
  const timeout = query("timeout") ?? "25";
  if (!/^(?:0|[1-9]\d?)$/.test(timeout) || Number(timeout) > limits.pollSecondsMax) {
    return malformed(`timeout must be a whole number of seconds, at most ${limits.pollSecondsMax}`);
  }
  const timeoutMs = Number(timeout) * 1_000;
  const offset = query("offset");
  const epoch = query("epoch") ?? "";
  if (offset === undefined) {
    return epoch === ""
      ? { outcome: "poll", request: { timeoutMs } }
      : malformed("epoch requires offset");
  }
  if (!/^\d{1,16}$/.test(offset) || !Number.isSafeInteger(Number(offset))) {
    return malformed("offset must be a whole number");
  }
  return { outcome: "poll", request: { since: { offset: Number(offset), epoch }, timeoutMs } };
}

function malformed(detail: string): ParsedPoll {
  return { outcome: "malformed", detail };
}
