import type { PublicationObserver } from "../../channel/channel-setup.ts";
import { trailLimits } from "./limits.ts";
import type { Erased } from "../../contract/erased.ts";
import { RowRing } from "./row-ring.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { KnownPublication, Publisher } from "./trail.ts";

/**
 * The last publications of one channel that have an offset, in memory: when each came and was committed, and who
 * published it (rule Y1). Nothing reads it until somebody asks.
 */
export class PublicationTrail implements PublicationObserver {
  readonly #rows = new RowRing(columns.count, trailLimits.trailPublicationsMax);
  /** The client's ID, or the name of the API key; and the client's user. */
  readonly #publishers: string[] = [];
  readonly #users: string[] = [];
  /** The first row that isn't known to be committed. */
  #uncommitted = 0;

  published(
    offset: number,
    sequence: number,
    info: ClientInfo | undefined,
    key: string,
    nowMs: number,
  ): void {
    const rows = this.#rows;
    const row = rows.append();
    const slot = rows.slot(row);
    rows.set(row, columns.offset, offset);
    rows.set(row, columns.sequence, sequence);
    rows.set(row, columns.publishedAtMs, nowMs);
    rows.set(row, columns.byClient, info === undefined ? 0 : 1);
    this.#publishers[slot] = info?.client ?? key;
    const user = info?.user ?? "";
    this.#users[slot] = user.length > trailLimits.trailUserCharactersMax ? "" : user;
  }

  /** All publications so far are durable. */
  committed(nowMs: number): void {
    const rows = this.#rows;
    for (let row = Math.max(this.#uncommitted, rows.first); row < rows.next; row++)
      rows.set(row, columns.committedAtMs, nowMs);
    this.#uncommitted = rows.next;
  }

  /** The newest publication with this offset; undefined if it isn't remembered. */
  find(offset: number): (KnownPublication & { readonly sequence: number }) | undefined {
    const rows = this.#rows;
    for (let row = rows.next - 1; row >= rows.first; row--) {
      if (rows.get(row, columns.offset) !== offset) continue;
      const committedAtMs = rows.get(row, columns.committedAtMs);
      return {
        sequence: rows.get(row, columns.sequence),
        publishedAtMs: rows.get(row, columns.publishedAtMs),
        ...(committedAtMs === 0 ? {} : { committedAtMs }),
        by: this.#publisher(row),
      };
    }
    return undefined;
  }

  /** Forgets who published what is erased (rule ED14). */
  erase({ offsets, user, by }: Erased): void {
    const rows = this.#rows;
    for (let row = rows.first; row < rows.next; row++) {
      const slot = rows.slot(row);
      const offset = rows.get(row, columns.offset);
      const isOfUser = rows.get(row, columns.byClient) === 1 && this.#users[slot] === user;
      if (offset > by || !(isOfUser || offsets.includes(offset))) continue;
      this.#publishers[slot] = "";
      this.#users[slot] = "";
      rows.set(row, columns.byClient, 0);
    }
  }

  #publisher(row: number): Publisher {
    const slot = this.#rows.slot(row);
    const publisher = this.#publishers[slot] ?? "";
    if (this.#rows.get(row, columns.byClient) === 1)
      return { client: publisher, user: this.#users[slot] ?? "" };
    return publisher === "" ? {} : { key: publisher };
  }
}

const columns = {
  offset: 0,
  sequence: 1,
  publishedAtMs: 2,
  committedAtMs: 3,
  byClient: 4,
  count: 5,
} as const;
