import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Transcript } from "./player.ts";

/** What a server has answered in each exchange, as `npm run compare-pusher -- … --record` has written it. */
export function recordedOf(
  server: "dormouse" | "sockudo-5.2.0",
): Readonly<Record<string, Transcript>> {
  const path = join(import.meta.dirname, "recorded", `${server}.json`);
  const all: Record<string, Transcript> = JSON.parse(readFileSync(path, "utf8"));
  return all;
}
