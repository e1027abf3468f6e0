/** The SQL of the outbox: of its tables, which people make, and of the rows, which the command takes. */
import { outboxLimits } from "./limits.ts";

/** A table by its name as SQL has it, such as `app.centrifugo_outbox`. */
export interface OutboxTable {
  readonly name: string;
  /** The table beside it, for rows that can't be carried out. */
  readonly refusedName: string;
}

/**
 * Parses the name of a table, with or without its schema, quoted or not.
 *
 * @returns undefined for what isn't one
 */
export function parseTable(name: string): OutboxTable | undefined {
  if (!/^(?:[a-z_][\w$]*|"[^"\0]+")(?:\.(?:[a-z_][\w$]*|"[^"\0]+"))?$/i.test(name))
    return undefined;
  const refusedName = name.endsWith('"') ? `${name.slice(0, -1)}_refused"` : `${name}_refused`;
  return { name, refusedName };
}

/** Whether a text can be the name of a channel of LISTEN. */
export function isChannelName(name: string): boolean {
  return /^[a-z_][\w$]*$/i.test(name);
}

/**
 * The SQL that makes what the command needs. It can be run again.
 *
 * @param channel of NOTIFY; undefined for none, where the table is polled
 */
export function tablesSql(table: OutboxTable, channel: string | undefined): string {
  const { name, refusedName } = table;
  const part = (suffix: string) => `${lastPart(name)}_${suffix}`;
  const tables = `CREATE TABLE IF NOT EXISTS ${name} (
  id BIGSERIAL PRIMARY KEY,
  method TEXT NOT NULL,
  payload JSONB NOT NULL,
  partition BIGINT NOT NULL DEFAULT 0,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS ${part("partition")} ON ${name} (partition, id);

-- Rows that can't be carried out, with the reason.
CREATE TABLE IF NOT EXISTS ${refusedName} (
  id BIGINT NOT NULL,
  method TEXT,
  payload JSONB,
  partition BIGINT,
  created_at TIMESTAMP WITH TIME ZONE,
  reason TEXT NOT NULL,
  refused_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now()
);`;
  if (channel === undefined) return tables;
  const schema = name.slice(0, name.length - lastName(name).length);
  return `${tables}

CREATE OR REPLACE FUNCTION ${schema}${part("notify")}() RETURNS TRIGGER AS $$
BEGIN
  PERFORM pg_notify('${channel.toLowerCase()}', partition::text) FROM (SELECT DISTINCT partition FROM inserted) AS partitions;
  RETURN NULL;
END;
$$ LANGUAGE plpgsql;
DROP TRIGGER IF EXISTS ${part("notify")} ON ${name};
CREATE TRIGGER ${part("notify")} AFTER INSERT ON ${name}
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ${schema}${part("notify")}();`;
}

/** The name of a table without its schema, as it was written. */
function lastName(name: string): string {
  return /(?:[\w$]+|"[^"]+")$/.exec(name)?.[0] ?? name;
}

/** The same as a part of an unquoted name. */
function lastPart(name: string): string {
  return lastName(name).replaceAll('"', "").replaceAll(/\W/g, "_");
}

/** A name within a text of SQL. */
function quoted(name: string): string {
  return name.replaceAll("'", "''");
}

/** The statements of a run of the command. Each names the table, and takes the rest as parameters. */
export function statementsOf({ name, refusedName }: OutboxTable) {
  return {
    /** Fails if a table or a column isn't there, or may not be read or written. */
    check: `SELECT id, method, payload, partition, created_at FROM ${name} LIMIT 0`,
    database: "SELECT current_database() AS database",
    /** $1: how many partitions there are. The partitions that have rows. */
    waiting: `SELECT number AS partition FROM generate_series(0, $1::int - 1) AS number
      WHERE EXISTS (SELECT FROM ${name} WHERE partition = number)`,
    /** $1: how many partitions there are. Counts all rows, and tells of those that no partition has. */
    report: `SELECT count(*)::int AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest,
      (count(*) FILTER (WHERE partition < 0 OR partition >= $1))::int AS strayed FROM ${name}`,
    /**
     * $1: the partition. Takes it until the transaction ends, unless another process has it. The table's number is that of the lock, so that
     * the lock is the same by whatever name the table is called.
     */
    take: `SELECT set_config('idle_in_transaction_session_timeout', '${outboxLimits.idleTransactionMs}', true),
      pg_try_advisory_xact_lock('${quoted(name)}'::regclass::oid::int, $1::int) AS taken`,
    /**
     * $1: the partition. $2: how many rows. $3: bytes of one payload, beyond which it isn't given. $4: bytes of all of them,
     * unless the first one has more.
     */
    rows: `SELECT id::text AS id, method, bytes, CASE WHEN bytes <= $3 THEN body END AS payload,
        (coalesce(extract(epoch FROM created_at), 0) * 1000000)::bigint::text AS created_at
      FROM (
        SELECT *, sum(CASE WHEN bytes <= $3 THEN bytes ELSE 0 END) OVER (ORDER BY id) AS total
        FROM (
          SELECT id, method, created_at, body, octet_length(body) AS bytes
          FROM (
            SELECT id, coalesce(method, '') AS method, created_at, coalesce(payload::text, 'null') AS body
            FROM ${name} WHERE partition = $1 ORDER BY id LIMIT $2
          ) AS next
        ) AS measured
      ) AS summed
      WHERE total <= $4 OR total = bytes ORDER BY summed.id`,
    /** $1: IDs. $2: a reason for each. Copies rows with their reasons. */
    refuse: `INSERT INTO ${refusedName} (id, method, payload, partition, created_at, reason)
      SELECT id, method, payload, partition, created_at, refused.reason
      FROM ${name} JOIN unnest($1::bigint[], $2::text[]) AS refused (id, reason) USING (id) ORDER BY id`,
    /** $1: IDs. */
    remove: `DELETE FROM ${name} WHERE id = ANY($1::bigint[])`,
  };
}
