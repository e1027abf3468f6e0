import { channels } from "./channels.ts";
import { churn } from "./churn.ts";
import { connects } from "./connects.ts";
import { counts } from "./counts.ts";
import { appends } from "./appends.ts";
import { cursors } from "./cursors.ts";
import { fanOut } from "./fan-out.ts";
import { idle } from "./idle.ts";
import { growth } from "./growth.ts";
import { latency } from "./latency.ts";
import { maps } from "./maps.ts";
import { memory } from "./memory.ts";
import { neighbours } from "./neighbours.ts";
import { procedures } from "./procedures.ts";
import { receipts } from "./receipts.ts";
import type { Scenario } from "./scenario.ts";
import { storm } from "./storm.ts";
import { users } from "./users.ts";
import { wake } from "./wake.ts";

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  fanOut,
  latency,
  channels,
  churn,
  neighbours,
  receipts,
  connects,
  storm,
  users,
  maps,
  appends,
  cursors,
  procedures,
  idle,
  memory,
  wake,
  growth,
  counts,
];
