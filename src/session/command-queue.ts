/**
 * A connection has three queues. Its frames, their commands and the replies pass the queues in this order:
 *
 *     frame
 *       ↓  FrameQueue    frames of the socket, one after the other (src/object/frame-queue.ts)
 *       ↓                why: verifying a token, a commit and others' turns take time, and the next frame must not
 *       ↓                overtake (rules O6 and B17)
 *       ↓                limit: limits.framesWaitingBytesMax and framesBurstBytesMax, then disconnect code 3013
 *     command
 *       ↓  CommandQueue  commands that name a channel, while a subscribe to it is under way, or a backend is asked about
 *       ↓                a publish; all during a connect, and while many that read are under way (rule B16)
 *       ↓                why: their outcome depends on how that ends (rules O6, C1, Q3)
 *       ↓                limit: limits.commandsWaitingMax, then error 111
 *     decision
 *       ↓  ReplyOrder    decisions on commands that name the same channel
 *       ↓                why: a refusal is known at once, and the channel's object replies later (rule O6)
 *       ↓                limit: none of its own, as it holds one for each command, which rule B7 bounds
 *     reply, to the socket
 *
 * CommandQueue and ReplyOrder are in this file. An object has thousands of connections, so a queue takes memory only
 * while something waits in it.
 */
import { limits } from "../limits.ts";
import { type Command, subscriptionTypes } from "../protocol/command.ts";
import type { Payload } from "../protocol/payload.ts";
import { parseSentCall } from "../protocol/sent-call.ts";
import type { Decision, DecisionDone } from "./decision.ts";
import type { ClientMethod, ClientMethods, VerifiedTokens } from "./ports.ts";

/**
 * The commands of one connection that wait for an earlier command (rule O6). A key is a channel, while a subscribe to
 * it is under way or a backend is asked about a publish, or the connect, for which every command waits.
 */
export class CommandQueue {
  readonly #underWay = new Map<string, ReceivedCommand[]>();
  #count = 0;

  /** From here on, commands with this key wait. */
  open(key: string): void {
    this.#underWay.set(key, []);
  }

  /** Whether no key is open. */
  get idle(): boolean {
    return this.#underWay.size === 0;
  }

  /** Whether a command with this key has to wait. */
  isOpen(key: string): boolean {
    return this.#underWay.has(key);
  }

  /** Makes a command wait; false if `limits.commandsWaitingMax` commands, of all keys, wait already. */
  enqueue(key: string, received: ReceivedCommand): boolean {
    if (this.#count >= limits.commandsWaitingMax) return false;
    this.#underWay.get(key)?.push(received);
    this.#count++;
    return true;
  }

  /** Makes commands that have waited with another key wait before all others with this key. */
  putFirst(key: string, waited: readonly ReceivedCommand[]): void {
    this.#underWay.get(key)?.unshift(...waited);
    this.#count += waited.length;
  }

  /** From here on, commands with this key don't wait any more. Returns those that waited, in order. */
  close(key: string): readonly ReceivedCommand[] {
    const waited = this.#underWay.get(key) ?? [];
    this.#underWay.delete(key);
    this.#count -= waited.length;
    return waited;
  }

  /** Drops all commands: they are never carried out. */
  clear(): void {
    this.#underWay.clear();
    this.#count = 0;
  }
}

/**
 * Keeps the replies to one connection's commands for the same channel in the order of the commands (rule O6), although
 * some replies are known at once and others only when the channel's object has replied.
 */
export class ReplyOrder {
  readonly #open = new Map<string, PendingReply[]>();
  readonly #emptied: (channel: string) => void;

  /** @param emptied called with a channel whenever the last command for that channel is answered */
  constructor(emptied: (channel: string) => void) {
    this.#emptied = emptied;
  }

  /** Whether every command is answered. */
  get idle(): boolean {
    return this.#open.size === 0;
  }

  /** Whether a command for this channel isn't answered yet. */
  isOpen(channel: string): boolean {
    return this.#open.has(channel);
  }

  /**
   * Reserves the next place in the order.
   *
   * @param done called once with the decision, when all earlier places have theirs
   * @returns takes the decision; a second decision has no effect
   */
  reserve(channel: string, done: DecisionDone): DecisionDone {
    const reply: PendingReply = { done, decision: undefined };
    const replies = this.#open.get(channel);
    if (replies === undefined) this.#open.set(channel, [reply]);
    else replies.push(reply);
    return (decision) => {
      reply.decision ??= decision;
      this.#release(channel);
    };
  }

  /** Drops all places: no `done` is called any more. */
  clear(): void {
    this.#open.clear();
  }

  #release(channel: string): void {
    const replies = this.#open.get(channel) ?? [];
    for (let first = replies[0]; first?.decision !== undefined; first = replies[0]) {
      replies.shift();
      if (replies.length === 0) this.#open.delete(channel);
      first.done(first.decision);
      if (!this.#open.has(channel)) this.#emptied(channel);
    }
  }
}

/** A command with all that is needed to carry it out. */
export interface ReceivedCommand {
  readonly command: Command;
  readonly tokens: VerifiedTokens;
  /** When the command was received, ms since 1970. */
  readonly nowMs: number;
  /** Too much waits in the object already: a publish is refused (rule B6). */
  readonly busy: boolean;
  /** It came before the user was known, in whose rates it doesn't count yet (rules B7 and B8). Absent: it did not. */
  readonly beforeUser?: true;
}

interface PendingReply {
  readonly done: DecisionDone;
  decision: Decision | undefined;
}

/**
 * The channel that a command names, so that it waits while a subscribe to that channel is under way; else undefined.
 */
export function channelOf(command: Command): string | undefined {
  switch (command.method) {
    case "subscribe":
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "sub_refresh":
      return command.request.channel;
    case "connect":
    case "refresh":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      return undefined;
  }
}

/**
 * The channel in whose order a command's reply has its place; undefined for none. Presence replies have no place:
 * gateways may take seconds to answer, and no other reply waits for that (rule O6).
 */
export function orderedBy(command: Command): string | undefined {
  const isPresence = command.method === "presence" || command.method === "presence_stats";
  return isPresence ? undefined : channelOf(command);
}

/**
 * How many reads a command counts as (rule B16): what has something read that may be large.
 *
 * @param context has the methods that the server answers itself
 * @returns at most `limits.readsUnderWayMax`, or else the command could never be carried out
 */
export function readsOf(
  command: Command,
  { clientMethods: methods }: { readonly clientMethods?: ClientMethods | undefined },
): number {
  switch (command.method) {
    case "history":
    case "presence":
      return 1;
    case "subscribe": {
      const { recover, type } = command.request;
      return recover || type !== subscriptionTypes.stream ? 1 : 0;
    }
    case "rpc":
      return readsOfCall(methods?.get(command.request.method), command.request.data);
    case "send": {
      const call = methods && parseSentCall(command.request.data);
      return readsOfCall(call && methods.get(call.method), call?.data);
    }
    case "connect":
    case "unsubscribe":
    case "publish":
    case "presence_stats":
    case "refresh":
    case "sub_refresh":
    case "ping":
    case "pong":
      return 0;
  }
}

function readsOfCall(called: ClientMethod | undefined, data: Payload | undefined): number {
  return called === undefined ? 0 : Math.min(called.readsOf(data), limits.readsUnderWayMax);
}

/** Whether a command publishes, or may. @param methods as {@link readsOf} takes them */
export function publishes(command: Command, methods: ClientMethods | undefined): boolean {
  if (command.method !== "rpc") return command.method === "publish";
  return methods?.get(command.request.method)?.publishes === true;
}
