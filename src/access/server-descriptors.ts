/** This file decides which clients get the file descriptors of a server of one's own (rules B10, B30 and B31). */
import { limits } from "../limits.ts";

/**
 * The use of descriptors, by the proof that the client has given:
 *
 * * `stranger`: a connection whose client has proved nothing
 * * `request`: any request
 * * `known`: a request with a key of the API, or with a valid token in it
 * * `call`: the call of a gateway, which may wake a channel's object for clients that are connected
 */
export type DescriptorUse = "stranger" | "request" | "known" | "call";

/** The descriptors of a server. */
export interface DescriptorCount {
  readonly max: number;
  /** Those that were open when they were last counted. */
  readonly used: number;
  /** Requests and calls since then that may open more. */
  readonly underWay: number;
}

/**
 * Whether there are descriptors for a use. Between two counts only half of what is free is given away: the runtime
 * accepts connections meanwhile.
 */
export function hasDescriptors(
  use: DescriptorUse,
  { max, used, underWay }: DescriptorCount,
): boolean {
  const left = max - Math.ceil(max * limits.descriptorsSpare) * shareOf[use] - used;
  return underWay * limits.descriptorsPerRequest <= left / 2;
}

/** The descriptors that each use leaves to the others, as multiples of `limits.descriptorsSpare`. */
const shareOf: Readonly<Record<DescriptorUse, number>> = {
  stranger: 2,
  request: 1,
  known: 0.5,
  call: 0.5,
};

/**
 * The silent connections of all objects of a server: open WebSockets whose client brought no token with its upgrade and
 * hasn't connected. Each object reports its own, and a report replaces the one before it: an instance that ended without a
 * report is corrected by the next one, which {@link objectToClose} causes.
 */
export class SilentConnections {
  readonly #max: number;
  /** When those of each object were opened, ms since 1970, oldest first; of no object without any. */
  readonly #openedAtMs = new Map<string, readonly number[]>();
  #count = 0;

  /** @param descriptorsMax how many file descriptors the server may have */
  constructor(descriptorsMax: number) {
    this.#max = Math.floor(descriptorsMax * limits.descriptorsSilent);
  }

  /**
   * @param node     the object's (docs/protocol.md 4.3)
   * @param sessions of its silent connections, oldest first
   */
  report(node: string, sessions: readonly OpenedSession[]): void {
    const openedAtMs = sessions.map(({ identity }) => identity.openedAtMs);
    this.#count += openedAtMs.length - (this.#openedAtMs.get(node)?.length ?? 0);
    if (openedAtMs.length > 0) this.#openedAtMs.set(node, openedAtMs);
    else this.#openedAtMs.delete(node);
  }

  /**
   * The node of the object that has to close its oldest silent connection before the server takes another one; undefined
   * if there is room.
   */
  objectToClose(): string | undefined {
    if (this.#count < this.#max) return undefined;
    let oldest: string | undefined;
    let oldestAtMs = Number.POSITIVE_INFINITY;
    for (const [node, [openedAtMs = 0]] of this.#openedAtMs) {
      if (openedAtMs >= oldestAtMs) continue;
      oldest = node;
      oldestAtMs = openedAtMs;
    }
    return oldest;
  }
}

interface OpenedSession {
  /** `openedAtMs` is in ms since 1970. */
  readonly identity: { readonly openedAtMs: number };
}
