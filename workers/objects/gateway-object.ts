import type { ChannelsQuery, GatewayChannels, GatewayInfo } from "../../src/contract/listing.ts";
import type { GatewayCalls } from "../../src/contract/object-calls.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type { GatewayPresence } from "../../src/contract/relay-request.ts";
import { GatewayHost } from "../../src/object/gateway-host.ts";
import type { CallAnswer, CallRequest } from "../../src/object/object-call.ts";
import type { Env } from "../platform/env.ts";
import { SessionObject } from "./session-object.ts";

/** The object of a gateway, which holds sockets with many channels each. */
export class GatewayObject extends SessionObject<GatewayHost> implements GatewayCalls {
  constructor(context: DurableObjectState, env: Env) {
    super(context, env, (platform, config) => new GatewayHost(platform, config));
  }

  // The calls' contract is in src/contract/object-calls.ts.
  deliver(batch: RelayBatch): Promise<RelayBatchReply> {
    return new Promise((resolve) => this.host.deliver(batch, resolve));
  }

  async polled(...[batch]: CallRequest<"polled">): Promise<CallAnswer<"polled">> {
    return this.host.polled(batch);
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
