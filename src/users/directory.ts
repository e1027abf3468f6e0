import type { ChannelsQuery } from "../contract/listing.ts";
import { type NodeName, parseNodeName } from "../contract/object-names.ts";
import { compileGlob } from "../access/name-glob.ts";
import { limits } from "../limits.ts";
import { columnText, hasTable, type Sql } from "../sql.ts";

/**
 * A shard of the directory: the list of a share of all objects that hold connections (rule U22). An object is a row from
 * its first connection until it is asked and holds none.
 */
export class Directory {
  readonly #sql: Sql;
  readonly #inFlight = new Set<AskedObject>();
  #hasTable: boolean;
  /** Up to where channels were checked; undefined in a fresh instance. */
  #checkedTo: string | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#hasTable = hasTable(sql, "listed");
  }

  /**
   * Lists an object: one row written, or none if it is listed already.
   *
   * @returns the names of channels whose own objects are to be asked whether they hold connections: none, or two for a
   *          new channel. So at most about as many rows stand for objects without connections as for others, however many
   *          channels an attacker invents.
   */
  list(node: string): readonly string[] {
    const parsed = parseNodeName(node);
    if (parsed === undefined) return [];
    if (!this.#hasTable) this.#sql.run(table);
    this.#hasTable = true;
    const isNew = this.#sql.rows(find, parsed.kind, parsed.name).length === 0;
    if (isNew) this.#sql.run("INSERT INTO listed VALUES (?, ?)", parsed.kind, parsed.name);
    for (const asked of this.#inFlight) if (asked.node === node) asked.renewed = true;
    return parsed.kind === "channel" && isNew ? this.#channelsToCheck(parsed.name) : [];
  }

  /** The next channels in the order of names, and after the last one the first ones. */
  #channelsToCheck(listed: string): readonly string[] {
    this.#checkedTo ??= listed;
    const names = this.#names("channel", this.#checkedTo, limits.listedChecks);
    this.#checkedTo = names.length < limits.listedChecks ? "" : names.at(-1);
    return names.filter((name) => name !== listed);
  }

  /** The names of the first gateways after a name; without a limit, as many as may be asked for one question. */
  gateways(after = "", limit: number = limits.gatewaysListedMax): readonly string[] {
    return this.#names("gateway", after, limit);
  }

  /**
   * The first channels whose own objects are listed, and whose names match.
   *
   * @returns also whether all rows that come into question were looked at
   */
  channels({ pattern, after, limit }: ChannelsQuery): MatchingChannels {
    const glob = compileGlob(pattern);
    if (glob === undefined) return { names: [], complete: true };
    const names: string[] = [];
    let last = after;
    for (let seen = 0; seen < limits.listedRowsReadMax; seen += rowsAtOnce) {
      const rows = this.#names("channel", last, rowsAtOnce, glob.prefix);
      for (const name of rows) {
        // Names that begin with the glob's literal beginning stand together, and no other name matches.
        if (!name.startsWith(glob.prefix)) return { names, complete: true };
        if (glob.matches(name)) names.push(name);
        if (names.length === limit) return { names, complete: true };
      }
      if (rows.length < rowsAtOnce) return { names, complete: true };
      last = rows.at(-1) ?? last;
    }
    return { names, complete: false };
  }

  /** Notes that an object is asked. {@link answered} must follow. */
  ask(node: string): AskedObject {
    const asked = { node, renewed: false };
    this.#inFlight.add(asked);
    return asked;
  }

  /**
   * Takes an answer. An object without connections is forgotten, unless it was listed anew since it was asked.
   *
   * @param left whether it holds connections; undefined if it didn't answer
   */
  answered(asked: AskedObject, left: boolean | undefined): void {
    this.#inFlight.delete(asked);
    const parsed = parseNodeName(asked.node);
    if (left !== false || asked.renewed || parsed === undefined || !this.#hasTable) return;
    this.#sql.run("DELETE FROM listed WHERE kind = ? AND name = ?", parsed.kind, parsed.name);
  }

  #names(kind: NodeName["kind"], after: string, limit: number, from = ""): readonly string[] {
    if (!this.#hasTable) return [];
    const rows = this.#sql.rows(select, kind, after, from, limit);
    return rows.map((row) => columnText(row, "name"));
  }
}

/** An object that is being asked. */
export interface AskedObject {
  readonly node: string;
  /** Whether it was listed since. */
  renewed: boolean;
}

interface MatchingChannels {
  readonly names: readonly string[];
  readonly complete: boolean;
}

const rowsAtOnce = 1_000;

/** Without a rowid, the primary key is the table's only index, and a row costs one row written. */
const table = `CREATE TABLE listed (kind TEXT, name TEXT, PRIMARY KEY (kind, name)) WITHOUT ROWID`;
const find = "SELECT 1 FROM listed WHERE kind = ? AND name = ?";
const select =
  "SELECT name FROM listed WHERE kind = ? AND name > ? AND name >= ? ORDER BY name LIMIT ?";
