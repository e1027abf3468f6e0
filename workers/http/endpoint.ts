import type { Context } from "hono";
import type { Served } from "./middleware.ts";
import type { Pool } from "./find-room.ts";

/** Where a request's connection may go, by its path alone. Touches no object. */
export type Endpoint = (context: Context<Served>) => Destination;

type Destination =
  /** `channel` is the only one there is for it (rule C6); absent where there are many. */
  | { readonly outcome: "pool"; readonly pool: Pool; readonly channel?: string }
  | { readonly outcome: "refused"; readonly response: Response };
