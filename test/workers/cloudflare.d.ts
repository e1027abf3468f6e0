import type * as edge from "../../workers/edge.ts";
import type { Env as WorkerEnv } from "../../workers/platform/env.ts";

/** Tells the types of `cloudflare:workers` what the Worker under test binds and exports. */
declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {}
    interface GlobalProps {
      mainModule: typeof edge;
      durableNamespaces: "ChannelObject" | "GatewayObject";
    }
  }
}
