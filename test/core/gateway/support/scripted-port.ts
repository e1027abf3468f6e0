import type { ChannelClientPort } from "../../../../src/gateway/channel-client.ts";
import type {
  RelayReply,
  RelayReplies,
  RelayRequest,
} from "../../../../src/contract/relay-request.ts";

interface Call {
  readonly channel: string;
  readonly requests: readonly RelayRequest[];
  readonly answered: (answers: RelayReplies | undefined) => void;
}

/** A channel object that answers when and as a test says. */
export class ScriptedPort implements ChannelClientPort {
  /** Every call so far: the methods asked for. */
  readonly calls: string[] = [];
  readonly #open: Call[] = [];

  call(
    channel: string,
    requests: readonly RelayRequest[],
    answered: (answers: RelayReplies | undefined) => void,
  ): void {
    this.calls.push(requests.map(({ method }) => method).join(" "));
    this.#open.push({ channel, requests, answered });
  }

  /** How many calls wait for an answer. */
  get open(): number {
    return this.#open.length;
  }

  /** The requests of the oldest open call. */
  get requests(): readonly RelayRequest[] {
    return this.#open[0]?.requests ?? [];
  }

  /** Answers the oldest open call. */
  answer(...answers: readonly RelayReply[]): void {
    this.#take().answered({ outcome: "answers", answers });
  }

  /** The object is overloaded: it did nothing. */
  refuse(): void {
    this.#take().answered({ outcome: "overloaded", retryAfterSeconds: 1 });
  }

  /** The oldest open call fails with an unknown outcome. */
  fail(): void {
    this.#take().answered(undefined);
  }

  #take(): Call {
    const call = this.#open.shift();
    if (call === undefined) throw new Error("no call is open");
    return call;
  }
}
