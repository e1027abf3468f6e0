import { GatewayHost } from "../../../src/object/gateway-host.ts";
import type { Platform } from "../../../src/object/platform.ts";
import { SimulatedHolder } from "./simulated-holder.ts";
import { boundsOf } from "./simulated-channel.ts";

/** A gateway of the world. */
export class SimulatedGateway extends SimulatedHolder<GatewayHost> {
  protected override newHost(platform: Platform): GatewayHost {
    const { config, fanOut } = this.context;
    return new GatewayHost(platform, config, boundsOf(fanOut(this.name)));
  }

  get ownName(): string {
    return this.name;
  }

  newEpoch(): string {
    throw new Error("a gateway has no stream");
  }
}
