import { type CollectedRefusal, edgeNode, type RefusalsQuery } from "./metrics-report.ts";
import { limits } from "../../limits.ts";
import { columnText, hasTable, type Sql } from "../../sql.ts";

/**
 * The last refusals that were reported to one collecting object (rule Y6): those of the edge, which has no memory of
 * its own, and those of objects, whose memory ends when they hibernate. Each of the two is stored in a row.
 */
export class RefusalList {
  readonly #sql: Sql;
  readonly #edge: RefusalShare;
  readonly #objects: RefusalShare;
  #hasTable: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#hasTable = hasTable(sql, "metric_refusals");
    const rows = this.#hasTable ? sql.rows("SELECT part, text FROM metric_refusals") : [];
    const stored = (part: number): readonly CollectedRefusal[] => {
      const row = rows.find((one) => Number(one["part"]) === part);
      return row === undefined ? [] : parseRefusals(columnText(row, "text"));
    };
    this.#edge = new RefusalShare(edgePart, stored(edgePart));
    this.#objects = new RefusalShare(objectsPart, stored(objectsPart));
  }

  /** Adds what one object reports, newest first. */
  append(refusals: readonly CollectedRefusal[]): void {
    for (const refusal of refusals.toReversed())
      (refusal.object === edgeNode ? this.#edge : this.#objects).append(refusal);
  }

  /** The last ones, newest first. */
  last({ count, onlyEdge }: RefusalsQuery): readonly CollectedRefusal[] {
    const parts = onlyEdge === true ? [this.#edge] : [this.#edge, this.#objects];
    return newestRefusals(
      parts.map(({ kept }) => kept),
      count,
    );
  }

  /** Whether something isn't stored yet. */
  get unstored(): boolean {
    return this.#edge.isChanged || this.#objects.isChanged;
  }

  /** Stores what has changed. */
  store(): void {
    for (const share of [this.#edge, this.#objects]) {
      if (!share.isChanged) continue;
      if (!this.#hasTable)
        this.#sql.run("CREATE TABLE metric_refusals (part INTEGER PRIMARY KEY, text TEXT)");
      this.#hasTable = true;
      const text = JSON.stringify(share.kept);
      this.#sql.run("INSERT OR REPLACE INTO metric_refusals VALUES (?, ?)", share.part, text);
      share.isChanged = false;
    }
  }
}

/** The newest refusals of several lists, newest first. */
export function newestRefusals(
  lists: readonly (readonly CollectedRefusal[])[],
  count: number,
): readonly CollectedRefusal[] {
  return lists
    .flat()
    .toSorted((one, other) => other.atMs - one.atMs)
    .slice(0, Math.min(count, limits.trailRefusalsMax));
}

/** The refusals of one row, oldest first, within the bounds of what an object remembers. */
class RefusalShare {
  readonly part: number;
  isChanged = false;
  #kept: CollectedRefusal[];
  #characters: number;

  constructor(part: number, stored: readonly CollectedRefusal[]) {
    this.part = part;
    this.#kept = [...stored];
    this.#characters = stored.reduce((sum, one) => sum + charactersOf(one), 0);
  }

  get kept(): readonly CollectedRefusal[] {
    return this.#kept;
  }

  append(refusal: CollectedRefusal): void {
    this.isChanged = true;
    this.#kept.push(refusal);
    this.#characters += charactersOf(refusal);
    let forgotten = Math.max(0, this.#kept.length - limits.trailRefusalsMax);
    for (const one of this.#kept.slice(0, forgotten)) this.#characters -= charactersOf(one);
    for (; this.#characters > limits.trailRefusalCharactersMax; forgotten++) {
      const one = this.#kept[forgotten];
      if (one === undefined) break;
      this.#characters -= charactersOf(one);
    }
    if (forgotten > 0) this.#kept = this.#kept.slice(forgotten);
  }
}

function charactersOf(refusal: CollectedRefusal): number {
  const { object, refused, rule, reason, user = "", channel = "", key = "" } = refusal;
  return [object, refused, rule, reason, user, channel, key].reduce(
    (sum, text) => sum + text.length,
    0,
  );
}

function parseRefusals(text: string): readonly CollectedRefusal[] {
  const refusals: readonly CollectedRefusal[] = JSON.parse(text);
  return refusals;
}

const edgePart = 1;
const objectsPart = 2;
