import type { Sql } from "../../src/sql.ts";

/** Runs a test on an empty storage of its own. */
export type OnFreshStorage = (work: (sql: Sql) => void) => Promise<void>;
