import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { Miniflare } from "miniflare";
import { wranglerModule } from "../packages.ts";
import { DormouseTestError } from "../test-error.ts";
import { globPattern } from "./glob.ts";
import type { WranglerProject } from "./wrangler-file.ts";

type Database = Awaited<ReturnType<Miniflare["getD1Database"]>>;

/**
 * Applies the migrations of the D1 databases that a wrangler file binds, in wrangler's order, and notes them in the table where
 * wrangler notes them.
 *
 * @param databaseOf gives the database of a binding
 * @throws {DormouseTestError} with the name of the migration that fails
 */
export async function applyMigrations(
  { config, folder }: WranglerProject,
  databaseOf: (binding: string) => Promise<Database>,
): Promise<void> {
  const migrated = new Set<string>();
  for (const bound of config.d1_databases) {
    const { binding, migrations_dir = "migrations", migrations_table = "d1_migrations" } = bound;
    const pattern = bound.migrations_pattern ?? `${migrations_dir}/*.sql`;
    const files = migrationFiles(folder, migrations_dir, pattern);
    // Two bindings may be of one database.
    const key = [bound.database_id ?? binding, migrations_dir, migrations_table].join("\n");
    if (files.length === 0 || migrated.has(key)) continue;
    migrated.add(key);
    const place = { folder: resolve(folder, migrations_dir), table: migrations_table };
    await applyFiles(await databaseOf(binding), files, place);
  }
}

async function applyFiles(
  database: Database,
  files: readonly string[],
  { folder, table }: { readonly folder: string; readonly table: string },
): Promise<void> {
  const name = `"${table.replaceAll('"', '""')}"`;
  const columns =
    "id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL";
  await database.prepare(`CREATE TABLE IF NOT EXISTS ${name} (${columns})`).run();
  for (const file of files) {
    const queries = wranglerModule().unstable_splitSqlQuery(
      readFileSync(join(folder, file), "utf8"),
    );
    const note = database.prepare(`INSERT INTO ${name} (name) VALUES (?)`).bind(file);
    try {
      await database.batch([...queries.map((query) => database.prepare(query)), note]);
    } catch (error) {
      throw new DormouseTestError(`the migration ${join(folder, file)} failed: ${String(error)}`);
    }
  }
}

/** The migrations below a folder, the first to apply first, by their paths from it. */
function migrationFiles(project: string, directory: string, pattern: string): readonly string[] {
  const folder = resolve(project, directory);
  if (!existsSync(folder)) return [];
  const matches = globPattern(posix(relative(folder, resolve(project, pattern))));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map(posix)
    .filter((path) => matches.test(path))
    .sort((one, other) => byNumber(one, other) || (one < other ? -1 : 1));
}

/** By the numbers with which the names begin; those without a number come last. */
function byNumber(one: string, other: string): number {
  const [first, second] = [one, other].map((path) => {
    const number = Number.parseInt(path, 10);
    return Number.isNaN(number) ? Number.MAX_VALUE : number;
  });
  return (first ?? 0) - (second ?? 0);
}

function posix(path: string): string {
  return path.replaceAll(sep, "/");
}
