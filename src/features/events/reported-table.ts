import { columnText, hasTable, type Sql } from "../../sql.ts";

/**
 * A checkpoint of the connections of an object that were reported to a backend. It is in the table `told`, as rows of
 * text that are all rewritten each time. Together with the later events, it says who was connected when the object
 * ended.
 */
export class ReportedTable {
  readonly #sql: Sql;
  #number: number | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    if (!hasTable(sql, "told")) return;
    const [row] = sql.rows("SELECT number FROM told LIMIT 1");
    if (row !== undefined) this.#number = Number(row["number"]);
  }

  /** The number of the last event before the checkpoint; undefined without one. */
  get number(): number | undefined {
    return this.#number;
  }

  read(): readonly ReportedConnection[] {
    return this.#sql.rows("SELECT body FROM told ORDER BY chunk").flatMap((row) => {
      const stored: readonly StoredConnection[] = JSON.parse(columnText(row, "body"));
      return stored.map(([client, user, connected, channels]) => ({
        client,
        user,
        connected: connected === 1,
        channels: new Set(channels),
      }));
    });
  }

  /** @param number of the last event before it */
  write(number: number, connections: Iterable<ReportedConnection>): void {
    this.#sql.transaction(() => {
      this.#sql.run(createTable);
      this.#sql.run("DELETE FROM told");
      let chunk = 0;
      for (const body of chunksOf(connections))
        this.#sql.run("INSERT INTO told VALUES (?, ?, ?)", chunk++, number, body);
    });
    this.#number = number;
  }
}

/** A connection as the backend knows it. */
export interface ReportedConnection {
  readonly client: string;
  readonly user: string;
  /** The trace of its handshake (rule X1); undefined without one, and after a crash. */
  readonly traceparent?: string | undefined;
  /** Whether `connected` was reported of it, and not only its subscriptions. */
  readonly connected: boolean;
  /** The channels whose subscriptions were reported to the backend. */
  readonly channels: ReadonlySet<string>;
}

type StoredConnection = readonly [
  client: string,
  user: string,
  connected: 0 | 1,
  channels: readonly string[],
];

/** Connections as JSON texts of about 256 KiB; an empty checkpoint is one text, too. */
function* chunksOf(connections: Iterable<ReportedConnection>): Generator<string> {
  let texts: string[] = [];
  let characters = 0;
  for (const { client, user, connected, channels } of connections) {
    const stored: StoredConnection = [client, user, connected ? 1 : 0, [...channels]];
    const text = JSON.stringify(stored);
    texts.push(text);
    characters += text.length;
    if (characters < chunkCharacters) continue;
    yield `[${texts.join(",")}]`;
    texts = [];
    characters = 0;
  }
  yield `[${texts.join(",")}]`;
}

/** One connection has at most 1,024 channels, so a chunk stays below the 2 MB of a row. */
const chunkCharacters = 262_144;

const createTable = `CREATE TABLE IF NOT EXISTS told (chunk INTEGER PRIMARY KEY, number INTEGER NOT NULL,
  body TEXT NOT NULL)`;
