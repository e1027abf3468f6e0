/**
 * The classes of objects as the configuration places them (rules PL1 to PL6). Names under a jurisdiction are other
 * objects, so the edge and all objects find objects here and nowhere else.
 */
import {
  channelPlacement,
  type ObjectLocation,
  type ObjectPlacement,
  placedScopes,
  regionPlacement,
  serverPlacement,
} from "../../src/config/placement.ts";
import type { Config } from "../../src/config/config.ts";
import { parseGatewayName, parseNodeName } from "../../src/contract/object-names.ts";
import { type PlacementConflict, placementRecord } from "../../src/contract/object-calls.ts";
import { limits } from "../../src/limits.ts";
import { isOnOwnMachine } from "./configuration.ts";
import type { Env, ObjectClass } from "./env.ts";
import { answerInTime } from "./object-call.ts";

/** An environment whose objects may be used, or why they may not. */
export type PlacedObjects =
  | { readonly outcome: "placed"; readonly env: Env }
  /** Sentences for the operator. */
  | { readonly outcome: "conflict"; readonly problems: readonly string[] }
  /** The object that remembers jurisdictions didn't answer: only for now. */
  | { readonly outcome: "unknown" };

/**
 * Finds the objects for the edge. Where jurisdictions are named, an isolate first asks for the record of them, until it
 * has agreed once (rule PL4).
 *
 * @param env as the runtime passes it
 */
export async function placeObjects(env: Env, config: Config): Promise<PlacedObjects> {
  const { isRecorded, jurisdictionBefore } = config.placement;
  if (!isRecorded || isOnOwnMachine(env) || agreed.has(env))
    return { outcome: "placed", env: placedEnv(env, config) };
  if (!knowsJurisdictions(env)) return { outcome: "conflict", problems: [withoutJurisdictions] };
  const claim = {
    scopes: placedScopes(config),
    ...(jurisdictionBefore && { before: jurisdictionBefore }),
  };
  const answer = await answerInTime("record of jurisdictions", limits.objectAnswerMs, () =>
    env.USERS.getByName(placementRecord).recordPlacement(claim),
  );
  if (answer === undefined) return { outcome: "unknown" };
  if (answer.conflicts.length > 0)
    return { outcome: "conflict", problems: answer.conflicts.map(problemOf) };
  agreed.add(env);
  return { outcome: "placed", env: placedEnv(env, config) };
}

/** Whether the runtime can keep the promise of a jurisdiction: workerd alone refuses to. */
function knowsJurisdictions({ CHANNELS }: Env): boolean {
  try {
    CHANNELS.jurisdiction("eu");
    return true;
  } catch {
    return false; // Its only error says that they aren't implemented.
  }
}

const withoutJurisdictions =
  "placement: this runtime has no jurisdictions, which Cloudflare has; a machine of one's own runs npm run serve";

/** The environments whose configuration agrees with the record. */
const agreed = new WeakSet<Env>();

function problemOf({ scope, recorded, jurisdiction }: PlacementConflict): string {
  const kept =
    recorded === "unknown"
      ? "no jurisdiction is on record"
      : `what is stored is in jurisdiction "${recorded}"`;
  const before = recorded === "unknown" ? '"new" on a new server, or "none"' : `"${recorded}"`;
  return (
    `placement of ${scope}: ${kept}, and the configuration says "${jurisdiction}". Objects of another jurisdiction ` +
    `are other objects, without the history. To leave it behind, set placement.jurisdiction_before to ${before}`
  );
}

/**
 * The environment with classes of objects that are where the configuration says; the same one if it says nothing.
 *
 * @param env as the runtime passes it: the same object always gives the same result
 */
export function placedEnv(env: Env, config: Config): Env {
  if (!config.placement.isPlaced) return env;
  const known = placedEnvs.get(env);
  if (known !== undefined) return known;
  const { CHANNELS, GATEWAYS, USERS, METRICS } = env;
  const hasJurisdictions = !isOnOwnMachine(env);
  const place = <Stub extends Rpc.DurableObjectBranded>(
    objects: ObjectClass<Stub>,
    of: PlacementOf,
  ) => placedClass(objects, of, hasJurisdictions);
  const server = serverPlacement(config);
  const placed: Env = {
    ...env,
    CHANNELS: place(CHANNELS, (name) => channelPlacement(name, config)),
    GATEWAYS: place(GATEWAYS, (name, near) => gatewayPlacement(name, near, config)),
    USERS: place(USERS, () => server),
    ...(METRICS && { METRICS: place(METRICS, () => server) }),
  };
  placedEnvs.set(env, placed);
  if (config.placement.isRecorded && !hasJurisdictions)
    console.warn("jurisdictions have no effect on a machine of one's own: all objects are on it");
  return placed;
}

const placedEnvs = new WeakMap<Env, Env>();

/** Where the object of a name is kept. @param near what its caller is near; undefined if the caller doesn't know */
type PlacementOf = (name: string, near: ObjectLocation | undefined) => ObjectPlacement;

function placedClass<Stub extends Rpc.DurableObjectBranded>(
  objects: ObjectClass<Stub>,
  placementOf: PlacementOf,
  hasJurisdictions: boolean,
): ObjectClass<Stub> {
  return {
    getByName(name, options) {
      const { jurisdiction, location } = placementOf(name, options?.locationHint);
      const all =
        jurisdiction !== undefined && hasJurisdictions
          ? objects.jurisdiction(jurisdiction)
          : objects;
      return location === undefined
        ? all.getByName(name)
        : all.getByName(name, { locationHint: location });
    },
    jurisdiction: (jurisdiction) => objects.jurisdiction(jurisdiction),
  };
}

/** @param name of a gateway; of any other text, the objects of the server are in the same place */
function gatewayPlacement(
  name: string,
  near: ObjectLocation | undefined,
  config: Config,
): ObjectPlacement {
  const channel = channelOfGateway(name);
  return channel === undefined ? regionPlacement(config, near) : channelPlacement(channel, config);
}

function channelOfGateway(name: string): string | undefined {
  if (!name.startsWith("channel/")) return undefined;
  const gateway = parseGatewayName(name);
  return gateway.kind === "channel" ? gateway.channel : undefined;
}

/**
 * Where the object of a node is kept (docs/protocol.md 4.3). The location of a region isn't known here, because it is
 * the platform's first caller that decides.
 *
 * @param node any text; of one that names no object, the objects of the server are in the same place
 */
export function nodePlacement(node: string, config: Config): ObjectPlacement {
  const parsed = parseNodeName(node);
  if (parsed === undefined) return serverPlacement(config);
  return parsed.kind === "channel"
    ? channelPlacement(parsed.name, config)
    : gatewayPlacement(parsed.name, undefined, config);
}
