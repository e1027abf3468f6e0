import type { ChannelCalls, GatewayCalls } from "../../src/contract/object-calls.ts";
import type { DescriptorSettings } from "./descriptors.ts";
import type { Settings } from "./configuration.ts";

/** The Worker's bindings, from wrangler.toml and the secrets. */
export interface Env extends Settings, DescriptorSettings {
  readonly CHANNELS: DurableObjectNamespace<ChannelStub>;
  readonly GATEWAYS: DurableObjectNamespace<GatewayStub>;
  /** The files in `public`. */
  readonly ASSETS?: Fetcher;
}

/** The brand is how the platform's types know a class of objects. Naming the classes themselves would close a cycle. */
type ChannelStub = Rpc.DurableObjectBranded & ChannelCalls;
type GatewayStub = Rpc.DurableObjectBranded & GatewayCalls;
