import type { MetricsCalls } from "../../src/features/metrics/metrics-report.ts";
import type {
  ChannelCalls,
  DirectoryCalls,
  GatewayCalls,
  HomeCalls,
} from "../../src/contract/object-calls.ts";
import type { DescriptorSettings } from "./descriptors.ts";
import type { Settings } from "./configuration.ts";

/** The Worker's bindings, from wrangler.toml and the secrets. */
export interface Env extends Settings, DescriptorSettings {
  readonly CHANNELS: ObjectClass<ChannelStub>;
  readonly GATEWAYS: ObjectClass<GatewayStub>;
  readonly USERS: ObjectClass<HomeStub>;
  /** A dataset of Analytics Engine, which gets the counters that the metrics are made of, too. */
  readonly METRICS_DATASET?: AnalyticsEngineDataset;
  /** Needed with `prometheus.enabled`. */
  readonly METRICS?: ObjectClass<MetricsStub>;
  /** The files in `public`. */
  readonly ASSETS?: Fetcher;
}

/** A class of objects. All are found by their names, so that one place decides where they are ({@link placedEnv}). */
export type ObjectClass<Stub extends Rpc.DurableObjectBranded> = Pick<
  DurableObjectNamespace<Stub>,
  "getByName" | "jurisdiction"
>;

/** The brand is how the platform's types know a class of objects. Naming the classes themselves would close a cycle. */
type ChannelStub = Rpc.DurableObjectBranded & ChannelCalls;
type GatewayStub = Rpc.DurableObjectBranded & GatewayCalls;
type MetricsStub = Rpc.DurableObjectBranded & MetricsCalls;
type HomeStub = Rpc.DurableObjectBranded & HomeCalls & DirectoryCalls;
