import type * as calls from "../../src/contract/object-calls.ts";
import type * as edge from "../../workers/edge.ts";
import type { Env as WorkerEnv } from "../../workers/platform/env.ts";

/** The Worker knows its objects by their calls alone; tests look into them. */
type CallsOnly = "CHANNELS" | "GATEWAYS" | "USERS" | "METRICS";

/** The bindings and exports of the Worker under test, for the types of `cloudflare:workers`. */
declare global {
  namespace Cloudflare {
    interface Env extends Omit<WorkerEnv, CallsOnly> {
      readonly CHANNELS: DurableObjectNamespace<edge.ChannelObject & calls.ChannelCalls>;
      readonly GATEWAYS: DurableObjectNamespace<edge.GatewayObject & calls.GatewayCalls>;
      readonly USERS: DurableObjectNamespace<edge.UsersObject & calls.HomeCalls>;
      readonly METRICS: DurableObjectNamespace<edge.MetricsObject>;
      /** The receiver of events: vitest.config.ts. */
      readonly RECEIVER: Fetcher;
      readonly EVENTS: Queue;
      /** The backend of hooks: test/workers/support/programs/hook-backend.js. */
      readonly BACKEND: Fetcher;
      /** The queue of orders, the one for refused messages, and its consumer: test/workers/support/programs/dead-letters.js. */
      readonly ORDERS: Queue;
      readonly REFUSED: Queue;
      readonly DEAD_LETTERS: Fetcher;
    }
    interface GlobalProps {
      mainModule: typeof edge;
      durableNamespaces: "ChannelObject" | "GatewayObject" | "MetricsObject" | "UsersObject";
    }
  }
}
