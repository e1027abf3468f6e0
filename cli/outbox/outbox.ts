import { setTimeout as pause } from "node:timers/promises";
import { Command } from "commander";
import { ApiClient, explained } from "../connection/api-client.ts";
import { neededSecret, type ServerOptions, withServer } from "../connection/settings.ts";
import { refusal, type Shell, usageFailure } from "../shell.ts";
import { durationMs, wholeNumber } from "../text/values.ts";
import { checkDsn, databaseCause, OutboxDatabase } from "./database.ts";
import { Journal } from "./journal.ts";
import { outboxLimits } from "./limits.ts";
import { type Outbox, Partition } from "./partition.ts";
import { Turns } from "./turns.ts";
import { isChannelName, type OutboxTable, parseTable, tablesSql } from "./table-sql.ts";

/** The options of a run; those of the table have the names that Centrifugo gives them. */
interface OutboxOptions extends ServerOptions {
  readonly outboxTableName: string;
  readonly numPartitions: number;
  readonly partitionSelectLimit: number;
  readonly partitionPollInterval: number;
  readonly partitionNotificationChannel?: string;
  readonly sql?: boolean;
  readonly json?: boolean;
}

/** `dormouse outbox`: publishes the rows of a table of PostgreSQL, each once, in the order of its partition. */
export function outboxCommand(shell: Shell): Command {
  const command = new Command("outbox")
    .description("publish what transactions write into a table of PostgreSQL")
    .option("--outbox-table-name <name>", "the table, also with a schema", "centrifugo_outbox")
    .option(
      "--num-partitions <count>",
      "the partitions from 0 to this number, each with an order of its own",
      wholeNumber(1, outboxLimits.partitionsMax),
      1,
    )
    .option(
      "--partition-select-limit <count>",
      "rows of a partition that are sent together",
      wholeNumber(1, outboxLimits.selectedRowsMax),
      100,
    )
    .option(
      "--partition-poll-interval <duration>",
      "how often the table is asked for rows, such as 300ms",
      durationMs(10),
      300,
    )
    .option(
      "--partition-notification-channel <name>",
      "listen to this channel of NOTIFY as well, for rows that go at once",
    )
    .option("--sql", "print the SQL of the tables, and of the trigger for NOTIFY, and end");
  return withServer(command)
    .option("--json", "print each line as JSON")
    .addHelpText(
      "after",
      `
The database is OUTBOX_DSN, such as postgresql://user:password@host:5432/database, and the key is API_KEY: both from the
environment or from .dev.vars. It runs until SIGTERM. Several processes share the partitions. docs/outbox.md has the rest.

Examples:
  dormouse outbox --sql | psql "$OUTBOX_DSN"
  dormouse outbox --url https://dormouse.example.com
  dormouse outbox --sql --partition-notification-channel centrifugo_partition_change
  dormouse outbox --num-partitions 8 --partition-notification-channel centrifugo_partition_change`,
    )
    .action(async (options: OutboxOptions) => {
      const table = tableOf(options);
      if (options.sql === true) shell.print(tablesSql(table, options.partitionNotificationChannel));
      else await new OutboxRun(table, options, shell).run();
    });
}

function tableOf(options: OutboxOptions): OutboxTable {
  const { outboxTableName, partitionNotificationChannel: channel } = options;
  const table = parseTable(outboxTableName);
  if (table === undefined)
    throw usageFailure(
      "--outbox-table-name takes the name of a table, such as app.centrifugo_outbox",
    );
  if (channel !== undefined && !isChannelName(channel))
    throw usageFailure("--partition-notification-channel takes a name of letters, digits and _");
  return table;
}

/** One run of the command, from its checks to SIGTERM. */
class OutboxRun {
  readonly #table: OutboxTable;
  readonly #options: OutboxOptions;
  readonly #journal: Journal;
  readonly #client: ApiClient;
  readonly #dsn: string;
  /** Aborts when no further batch is taken; the other one when the last ones aren't waited for any more. */
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();

  /** @throws {Failure} if a setting is missing or wrong */
  constructor(table: OutboxTable, options: OutboxOptions, shell: Shell) {
    this.#table = table;
    this.#options = options;
    this.#journal = new Journal(shell, options.json === true);
    this.#client = ApiClient.of(options, shell);
    this.#dsn = neededSecret("OUTBOX_DSN", options, shell);
    checkDsn(this.#dsn);
  }

  async run(): Promise<void> {
    const end = () => this.#end();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
    const database = await OutboxDatabase.of(this.#dsn, this.#table);
    try {
      await database.check();
      await this.#checkServer();
      const { outboxTableName, numPartitions } = this.#options;
      this.#journal.started(outboxTableName, numPartitions, this.#client.address);
      await this.#work(database);
      this.#journal.ended();
    } finally {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, end);
      await database.close();
    }
  }

  #end(): void {
    this.#stop.abort();
    setTimeout(() => this.#cut.abort(), outboxLimits.stopMsMax).unref();
  }

  /** @throws {Failure} if the server can't be reached, isn't ours, or refuses the key */
  async #checkServer(): Promise<void> {
    const answer = await this.#client.post("batch", `{"commands":[]}`);
    if (answer.outcome !== "result") throw this.#client.failure(answer);
    if (!("replies" in answer.result))
      throw refusal(explained({ outcome: "status", status: 200, text: "" }));
  }

  /** Runs the partitions until the end. */
  async #work(database: OutboxDatabase): Promise<void> {
    const outbox: Outbox = {
      database,
      journal: this.#journal,
      post: (method, body) => this.#client.post(method, body, this.#cut.signal),
      place: `${database.name}.${this.#options.outboxTableName}`,
      rowsMax: this.#options.partitionSelectLimit,
      turns: new Turns(outboxLimits.batchesMax),
      stop: this.#stop.signal,
    };
    const partitions = Array.from(
      { length: this.#options.numPartitions },
      (_, number) => new Partition(number, outbox),
    );
    await Promise.all([
      this.#poll(database, partitions),
      this.#listen(database, partitions),
      this.#report(database),
    ]);
    await Promise.all(partitions.map(({ idle }) => idle));
  }

  async #poll(database: OutboxDatabase, partitions: readonly Partition[]): Promise<void> {
    await this.#repeat(this.#options.partitionPollInterval, async () => {
      const waiting = await database.waitingPartitions(partitions.length);
      this.#journal.works("database");
      for (const number of waiting) partitions[number]?.wake();
    });
  }

  /** Listens, and again when the connection was lost. What came meanwhile is polled. */
  async #listen(database: OutboxDatabase, partitions: readonly Partition[]): Promise<void> {
    const { partitionNotificationChannel: channel } = this.#options;
    if (channel === undefined) return;
    const heard = (text: string) => {
      if (/^\d{1,9}$/.test(text)) partitions[Number(text)]?.wake();
    };
    await this.#repeat(outboxLimits.retryMs, () =>
      database.listen(channel, heard, this.#stop.signal),
    );
  }

  async #report(database: OutboxDatabase): Promise<void> {
    const { numPartitions } = this.#options;
    await this.#repeat(outboxLimits.reportMs, async () => {
      const waiting = await database.waiting(numPartitions);
      this.#journal.report(waiting);
      if (waiting.strayed > 0) this.#journal.strayed(waiting.strayed, numPartitions);
    });
  }

  /** Does something at intervals until the end; what fails of it is told, and done again. */
  async #repeat(intervalMs: number, once: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await once();
      } catch (error) {
        this.#journal.fails("database", databaseCause(error));
      }
      await pause(intervalMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
