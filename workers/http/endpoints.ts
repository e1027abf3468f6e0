import { resolveChannel } from "../../src/channel/channel-name.ts";
import { Pools } from "../../src/gateway/pool.ts";
import { limits } from "../../src/limits.ts";
import type { Env } from "../platform/env.ts";
import { gatewayName } from "../../src/contract/object-names.ts";
import type { Pool } from "./placement.ts";
import { respondMalformed } from "./respond.ts";
import { parseRegion } from "../platform/region.ts";
import type { Context } from "hono";
import type { AppEnv } from "./middleware.ts";

/** Where a request's connection may go, by its path alone. Touches no object. */
export type Endpoint = (context: Context<AppEnv>) => Destination;

type Destination =
  /** `channel` is the only one there is for it (rule C6); absent where there are many. */
  | { readonly outcome: "pool"; readonly pool: Pool; readonly channel?: string }
  | { readonly outcome: "refused"; readonly response: Response };

/**
 * `/channel/<name>/…`: the object of one channel or, when that is full, a gateway that serves this channel alone (rule G4).
 * A name that no channel can have is refused here, before any object is touched. A namespace that isn't configured is not:
 * its object answers subscribe with 102, on which clients give up, whereas they would repeat a failed request for ever
 * (rule C6).
 */
export function channelEndpoint(): Endpoint {
  const pools = new Pools(1 + limits.relayGatewaysMax);
  return (context) => {
    const channel = channelOf(context.req.raw);
    if (channel === undefined) return malformed("the path has a malformed channel name");
    const resolved = resolveChannel(channel, context.var.configured.config.channel);
    if (resolved.outcome === "bad-name") return malformed(resolved.reason);
    return { outcome: "pool", pool: poolOf(channel, pools, context.env), channel };
  };
}

/** The router's own decoding lets malformed escapes pass, so the name is taken from the URL. */
function channelOf(request: Request): string | undefined {
  const [, , encoded = ""] = new URL(request.url).pathname.split("/");
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined; // Its only error says that the escapes are malformed.
  }
}

/**
 * The channel's own object has the first place in its pool, and its gateways the others. So it is asked first, is left
 * alone for a while once it is full, and is preferred again when there is room. It isn't avoided when it fails: its
 * gateways couldn't do without it.
 */
function poolOf(channel: string, pools: Pools, { CHANNELS, GATEWAYS }: Env): Pool {
  const objectAt = (index: number) => {
    if (index === 0) return { object: CHANNELS.getByName(channel), avoidWhenBroken: false };
    const name = gatewayName({ kind: "channel", channel, index: index - 1 });
    return { object: GATEWAYS.getByName(name), avoidWhenBroken: true };
  };
  return { pools, name: channel, objectAt };
}

/** `/connection/…`, which every client opens by default: a gateway of the client's region, for many channels. */
export function regionEndpoint(): Endpoint {
  const pools = new Pools();
  return (context) => {
    const { name: region, locationHint } = parseRegion(context.req.raw.cf?.["continent"]);
    const options = locationHint === undefined ? {} : { locationHint };
    const objectAt = (index: number) => {
      const name = gatewayName({ kind: "pool", region, index });
      return { object: context.env.GATEWAYS.getByName(name, options), avoidWhenBroken: true };
    };
    return { outcome: "pool", pool: { pools, name: region, objectAt } };
  };
}

function malformed(detail: string) {
  return { outcome: "refused", response: respondMalformed(detail) } as const;
}
