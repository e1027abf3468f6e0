import type { PlacementAnswer, PlacementClaim } from "../contract/object-calls.ts";
import { columnText, hasTable, type Sql } from "../sql.ts";

/**
 * Remembers under which jurisdiction each namespace keeps its channels (rules PL4 and PL5). One object of the server has
 * it, in no jurisdiction, so that every configuration finds it.
 *
 * @param sql of the object; it gets a row for each scope
 * @returns the scopes whose jurisdiction is another one than the record's. Then nothing is recorded
 */
export function recordPlacement(sql: Sql, { scopes, before }: PlacementClaim): PlacementAnswer {
  const recorded = readRecord(sql);
  const conflicts = scopes.flatMap(([scope, jurisdiction]) => {
    const known = recorded.size === 0 ? "unknown" : (recorded.get(scope) ?? jurisdiction);
    const isStated = before !== undefined && (known === before || known === "unknown");
    return known === jurisdiction || isStated ? [] : [{ scope, recorded: known, jurisdiction }];
  });
  if (conflicts.length > 0) return { conflicts };
  const changed = scopes.filter(([scope, jurisdiction]) => recorded.get(scope) !== jurisdiction);
  if (changed.length > 0 && recorded.size === 0)
    sql.run("CREATE TABLE IF NOT EXISTS placement (scope TEXT PRIMARY KEY, jurisdiction TEXT)");
  for (const [scope, jurisdiction] of changed)
    sql.run("INSERT OR REPLACE INTO placement VALUES (?, ?)", scope, jurisdiction);
  return { conflicts };
}

function readRecord(sql: Sql): ReadonlyMap<string, string> {
  if (!hasTable(sql, "placement")) return new Map();
  const rows = [...sql.rows("SELECT scope, jurisdiction FROM placement")];
  return new Map(rows.map((row) => [columnText(row, "scope"), columnText(row, "jurisdiction")]));
}
