import type { ChannelsQuery, GatewayChannels, GatewayInfo } from "../../src/contract/listing.ts";
import type { GatewayCalls } from "../../src/contract/object-calls.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type { GatewayPresence } from "../../src/contract/relay-request.ts";
import { gatewayCalls } from "../../src/features/index.ts";
import { GatewayHost } from "../../src/object/gateway-host.ts";
import type { Env } from "../platform/env.ts";
import { SessionObject, type WrittenCalls } from "./session-object.ts";

/** The object of a gateway, which holds sockets with many channels each. */
export class GatewayObject
  extends SessionObject<GatewayHost>
  implements WrittenCalls<GatewayCalls>
{
  constructor(context: DurableObjectState, env: Env) {
    super(context, env, (platform, config) => new GatewayHost(platform, config), gatewayCalls);
  }

  // The calls' contract is in src/contract/object-calls.ts.
  deliver(batch: RelayBatch): Promise<RelayBatchReply> {
    return new Promise((resolve) => this.host.deliver(batch, resolve));
  }

  async present(channel: string, shown?: boolean): Promise<GatewayPresence> {
    return this.host.present(channel, shown);
  }

  async info(): Promise<GatewayInfo> {
    return this.host.info();
  }

  channels(query: ChannelsQuery): Promise<GatewayChannels> {
    return new Promise((resolve) => this.host.channels(query, resolve));
  }
}
