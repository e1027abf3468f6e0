/** The two kinds of addresses at which clients connect, and the pool of objects that serves each request. */
import { resolveChannel } from "../../src/channel/channel-name.ts";
import { Pools } from "../../src/gateway/pool.ts";
import { limits } from "../../src/limits.ts";
import type { Env } from "../platform/env.ts";
import { gatewayName } from "../../src/contract/object-names.ts";
import { clientAddress } from "./client-address.ts";
import { NewChannels } from "./client-address.ts";
import type { Pool } from "./placement.ts";
import { respondMalformed } from "./responses.ts";
import { parseRegion } from "../platform/region.ts";
import type { ConnectionClaims } from "../../src/access/claims.ts";
import { namerOf } from "../../src/session/named-channels.ts";
import type { Context } from "hono";
import type { AppEnv } from "./app-env.ts";

/** The destination of a request's connection, determined by the request's path and region alone. Calls no object. */
export type Endpoint = (context: Context<AppEnv>) => Destination;

type Destination =
  /** `channel` is the only channel that exists for the connection (rule C6); absent at `/connection/…`. */
  | { readonly outcome: "pool"; readonly pool: Pool; readonly channel?: string }
  | { readonly outcome: "refused"; readonly response: Response };

/**
 * `/channel/<name>/…`: the channel's object or, if that is full, a gateway that serves this channel alone (rule G4). A
 * name that no channel can have is refused here, before any object is called. A namespace that isn't configured isn't
 * refused here: the object answers subscribe with 102, on which clients give up, whereas they would repeat a failed
 * request forever (rule C6).
 */
export function channelEndpoint(): Endpoint {
  const pools = new Pools(1 + limits.relayGatewaysMax);
  const newChannels = new NewChannels();
  return (context) => {
    const channel = channelOf(context.req.raw);
    if (channel === undefined) return malformed("the path has a malformed channel name");
    if (channel === "." || channel === "..") return malformed(noAddress);
    const resolved = resolveChannel(channel, context.get("configured").config.channel);
    if (resolved.outcome === "bad-name") return malformed(resolved.reason);
    const address = addressOf(context);
    const pool = {
      ...poolOf(channel, pools, context.env),
      admits: (claims: ConnectionClaims | undefined, nowMs: number) => {
        const namer = claims === undefined ? undefined : namerOf({ claims });
        const admitted = newChannels.admits(channel, [address, namer], nowMs);
        if (!admitted) context.set("refusal", { rule: "B18", reason: tooManyChannels });
        return admitted;
      },
      placed: () => newChannels.exists(channel),
    };
    return { outcome: "pool", pool, channel };
  };
}

/**
 * The channel name in the path. It is taken from the URL as it came, because the router's own decoding accepts malformed
 * escapes, and a parsed URL has lost the names `.` and `..`, and whatever stood before.
 */
function channelOf({ url }: Request): string | undefined {
  const [, , , , encoded = ""] = url.split(/[/?#]/);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined; // Its only error says that the escapes are malformed.
  }
}

/** Refuses what is left of the addresses of the channels `.` and `..` once a client or a proxy has parsed them (rule C6). */
export function withoutChannel(): Response {
  return respondMalformed(noAddress);
}

const noAddress =
  "the path has no channel name; the channels . and .. have no address of their own: connect at /connection/";

/**
 * The pool of a channel: first the channel's own object, then its gateways. So the channel's object is asked first, is
 * skipped for a while once it is full, and is preferred again when there is room. It isn't skipped when it fails,
 * because its gateways depend on it.
 */
function poolOf(channel: string, pools: Pools, { CHANNELS, GATEWAYS }: Env): Pool {
  const objectAt = (index: number) => {
    if (index === 0) return { object: CHANNELS.getByName(channel), avoidWhenBroken: false };
    const name = gatewayName({ kind: "channel", channel, index: index - 1 });
    return { object: GATEWAYS.getByName(name), avoidWhenBroken: true };
  };
  return { pools, name: channel, objectAt };
}

/** `/connection/…`, the default address of clients: a gateway of the client's region, for many channels. */
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

/** The address of the request's client; undefined if it isn't known. */
export function addressOf(context: Context<AppEnv>): string | undefined {
  const { CLIENT_ADDRESS_HEADER: header = "CF-Connecting-IP" } = context.env;
  return clientAddress(context.req.raw.headers, header);
}

const tooManyChannels = "the client or its address opens new channels too fast";

function malformed(detail: string) {
  return { outcome: "refused", response: respondMalformed(detail) } as const;
}
