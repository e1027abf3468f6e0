import type { ChannelObject } from "../objects/channel-object.ts";
import type { GatewayObject } from "../objects/gateway-object.ts";
import type { Settings } from "./configuration.ts";

/** What wrangler.toml and the secrets bind to the Worker. */
export interface Env extends Settings {
  readonly CHANNELS: DurableObjectNamespace<ChannelObject>;
  readonly GATEWAYS: DurableObjectNamespace<GatewayObject>;
  /** The files in `public`. */
  readonly ASSETS?: Fetcher;
}
