import type {
  CallAnswered,
  ConnectionAccepted,
  HookAnswered,
  Subscribed,
} from "./history-event.ts";
import type { Violations } from "./violations.ts";

/**
 * What backends have allowed when the server asked them (rules Q2, Q4 and Q5), and what clients got: nobody is let in or
 * subscribed but by an answer that allows it, once for each answer, and nothing is published or replied but what the
 * backend said.
 */
export class Approvals {
  readonly #violations: Violations;
  /** How many connects of a client, and subscriptions to a channel, have been allowed and not used. */
  readonly #allowed = new Map<string, number>();
  /** The replies to calls, by what the clients called with. */
  readonly #replies = new Map<string, string>();
  /** How many answers there were, by the hook and the kind of answer. */
  readonly answers = new Map<string, number>();
  /** How many answers to calls were compared. */
  calls = 0;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** A backend has decided. What that means for a publication is kept in its record. */
  answer({ type, hook, answer, client, channel, value = "", result = "" }: HookAnswered): void {
    const kind = `${hook} ${answer}`;
    this.answers.set(kind, (this.answers.get(kind) ?? 0) + 1);
    if (type === "fail" || hook === "publish") return;
    if (hook === "rpc") {
      this.#replies.set(value, result);
      return;
    }
    const what = keyOf(client, channel);
    this.#allowed.set(what, (this.#allowed.get(what) ?? 0) + 1);
  }

  /** A client was let in. */
  connect({ process, client, asks, time }: ConnectionAccepted): void {
    if (asks !== true || this.#use(keyOf(client))) return;
    const text = `${process} was let in as ${client}, which no backend had allowed`;
    this.#violations.add({ kind: "unapproved", channel: "", process, time, text });
  }

  /** A client was subscribed. */
  subscribe({ process, client, channel, asks, time }: Subscribed): void {
    if (asks !== true || this.#use(keyOf(client, channel))) return;
    const text = `${process} was subscribed as ${client}, which no backend had allowed`;
    this.#violations.add({ kind: "unapproved", channel, process, time, text });
  }

  /** A call was answered. */
  call({ process, value, result, time }: CallAnswered): void {
    this.calls++;
    const reply = this.#replies.get(value);
    if (reply === result) return;
    const said = reply === undefined ? "no backend replied to it" : `the backend said ${reply}`;
    const text = `${process} called with ${value} and was answered ${result}, and ${said}`;
    this.#violations.add({ kind: "unapproved", channel: "", process, time, text });
  }

  /** Takes one approval. @returns whether there was one */
  #use(what: string): boolean {
    const count = this.#allowed.get(what) ?? 0;
    this.#allowed.set(what, Math.max(0, count - 1));
    return count > 0;
  }
}

/** No ID of a client contains a space. */
function keyOf(client: string, channel = ""): string {
  return `${client} ${channel}`;
}
