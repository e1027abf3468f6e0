import { limits } from "../limits.ts";

/**
 * The silent connections of all objects of a server of one's own (rule B31): open WebSockets whose client brought no token
 * with its upgrade and hasn't connected. Each object reports its own, and a report replaces the one before it: an instance
 * that ended without a report is corrected by the next one, which {@link objectToClose} causes.
 */
export class SilentSockets {
  readonly #max: number;
  readonly #objects = new Map<string, ReportedSockets>();
  #count = 0;

  /** @param descriptorsMax how many file descriptors the server may have */
  constructor(descriptorsMax: number) {
    this.#max = Math.max(1, Math.floor(descriptorsMax * limits.descriptorsSilent));
  }

  /** @param node the object's (docs/protocol.md 4.3) */
  report(node: string, { count, oldestAtMs }: ReportedSockets): void {
    this.#count += count - (this.#objects.get(node)?.count ?? 0);
    if (count > 0) this.#objects.set(node, { count, oldestAtMs });
    else this.#objects.delete(node);
  }

  /**
   * The node of the object that has to close its oldest silent connection before the server takes another one; undefined
   * if there is room.
   */
  objectToClose(): string | undefined {
    if (this.#count < this.#max) return undefined;
    let oldest: string | undefined;
    let atMs = Number.POSITIVE_INFINITY;
    for (const [node, { oldestAtMs }] of this.#objects) {
      if (oldest !== undefined && oldestAtMs >= atMs) continue;
      oldest = node;
      atMs = oldestAtMs;
    }
    return oldest;
  }
}

/** The silent connections of one object. */
export interface ReportedSockets {
  readonly count: number;
  /** When the oldest was opened, ms since 1970. */
  readonly oldestAtMs: number;
}
