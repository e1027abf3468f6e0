import { limits } from "../limits.ts";
import type { Command } from "../protocol/command.ts";
import type { VerifiedTokens } from "./ports.ts";
import type { Decision } from "./decision.ts";

/** A command that is to be carried out, with all that is needed for it. */
export interface ReceivedCommand {
  readonly command: Command;
  readonly tokens: VerifiedTokens;
  /** When it came, ms since 1970. */
  readonly nowMs: number;
  /** Too much waits in the object already: a publish is refused (rule B6). */
  readonly busy: boolean;
}

/**
 * The commands of one connection that wait for an earlier one (rule O6): everything waits for connect, and what concerns a
 * channel waits while a subscribe to it is under way.
 */
export class CommandQueue {
  readonly #underWay = new Map<string, ReceivedCommand[]>();
  #count = 0;

  /** Something is under way that commands with this key have to wait for. */
  open(key: string): void {
    this.#underWay.set(key, []);
  }

  /** Whether nothing is under way. */
  get idle(): boolean {
    return this.#underWay.size === 0;
  }

  /** Whether a command with this key has to wait. */
  isOpen(key: string): boolean {
    return this.#underWay.has(key);
  }

  /** Makes a command wait; false when too many do already. */
  add(key: string, received: ReceivedCommand): boolean {
    if (this.#count >= limits.commandsWaitingMax) return false;
    this.#underWay.get(key)?.push(received);
    this.#count++;
    return true;
  }

  /** Nobody has to wait any more; gives those who did, in order. */
  close(key: string): readonly ReceivedCommand[] {
    const waited = this.#underWay.get(key) ?? [];
    this.#underWay.delete(key);
    this.#count -= waited.length;
    return waited;
  }

  /** They will never be carried out. */
  clear(): void {
    this.#underWay.clear();
    this.#count = 0;
  }
}

/**
 * Keeps the answers to what one connection asks of one channel in the order of the commands (rule O6): some are known at
 * once, and others when the channel's object has answered.
 */
export class ReplyOrder {
  readonly #open = new Map<string, PendingReply[]>();
  readonly #emptied: (channel: string) => void;

  /** @param emptied called whenever all that was asked of a channel is answered */
  constructor(emptied: (channel: string) => void) {
    this.#emptied = emptied;
  }

  /** Whether everything is answered. */
  get idle(): boolean {
    return this.#open.size === 0;
  }

  /** Whether something that was asked of a channel isn't answered yet. */
  isOpen(channel: string): boolean {
    return this.#open.has(channel);
  }

  /**
   * Takes a place in the order.
   *
   * @param done is called, in its turn, with what the command came to
   * @returns takes what the command came to; more than the first counts for nothing
   */
  reserve(channel: string, done: (decision: Decision) => void): (decision: Decision) => void {
    const reply: PendingReply = { done, decision: undefined };
    const replies = this.#open.get(channel);
    if (replies === undefined) this.#open.set(channel, [reply]);
    else replies.push(reply);
    return (decision) => {
      reply.decision ??= decision;
      this.#release(channel);
    };
  }

  /** Nothing is answered any more. */
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

interface PendingReply {
  readonly done: (decision: Decision) => void;
  decision: Decision | undefined;
}

/** What a command has to wait for: a subscribe to its channel; undefined when for nothing. */
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

/** The channel among whose answers a command's has its place; presence may take its time, and nobody waits for it. */
export function orderedBy(command: Command): string | undefined {
  const isPresence = command.method === "presence" || command.method === "presence_stats";
  return isPresence ? undefined : channelOf(command);
}
