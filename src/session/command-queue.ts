import { limits } from "../limits.ts";
import type { Command } from "../protocol/command.ts";
import type { Verdicts } from "./verdicts.ts";

/** A command that is to be carried out, with all that is needed for it. */
export interface ReceivedCommand {
  readonly command: Command;
  readonly verdicts: Verdicts;
  /** When it came, ms since 1970. */
  readonly nowMs: number;
  /** Too much waits in the object already: a publish is refused (rule B6). */
  readonly busy: boolean;
}

/**
 * The commands of one connection that wait for an earlier one (rule O6): everything waits for connect, and what concerns a
 * channel waits while a subscribe to it is under way.
 */
export class WaitingCommands {
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
