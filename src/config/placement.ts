import type { ChannelOptions, Config } from "./config.ts";
import { readOptions } from "./fields.ts";
import type { Options, Values } from "./option.ts";
import { partsOf } from "./name-parts.ts";
import type { Section } from "./section.ts";

declare module "./config.ts" {
  interface Config {
    /** Where the platform keeps the objects (rules PL1 to PL6). */
    readonly placement: PlacementConfig;
  }
  interface ChannelOptions {
    /** Where the platform keeps the objects of the namespace's channels; absent: as the server's. */
    readonly placement?: NamedPlacement;
  }
}

/** The place of objects. */
export interface ObjectPlacement {
  /** The platform never keeps or runs the objects outside of it; absent: anywhere. */
  readonly jurisdiction?: Jurisdiction;
  /** Near what the platform is asked to create the objects; absent: near the first caller. */
  readonly location?: ObjectLocation;
}

/** An {@link ObjectPlacement} as it is configured, where "none" isn't the same as an absent key. */
type NamedPlacement = Values<typeof objectPlacementOptions>;

/** The section `placement`. */
export interface PlacementConfig extends NamedPlacement, Values<typeof serverPlacementOptions> {
  /** Whether a key of the configuration says anything of where objects are. */
  readonly isPlaced: boolean;
  /** Whether a key of the configuration names a jurisdiction, so that changes are noticed (rule PL4). */
  readonly isRecorded: boolean;
}

type Jurisdiction = (typeof jurisdictions)[number];
export type ObjectLocation = (typeof locations)[number];

/** Those of the platform (developers.cloudflare.com/durable-objects/reference/data-location). */
const jurisdictions = ["eu", "us", "fedramp", "fedramp-high"] as const;

/** The same page's location hints. */
const locations = [
  "wnam",
  "enam",
  "sam",
  "weur",
  "eeur",
  "apac",
  "apac-ne",
  "apac-se",
  "oc",
  "afr",
  "me",
] as const;

/** The options about the place of objects: of the server's, or of those of a namespace's channels. */
export const objectPlacementOptions = {
  /**
   * `"eu"`, `"us"`, `"fedramp"` or `"fedramp-high"`: the objects are kept and run there only; `"none"`: anywhere, and changes
   * are noticed.
   *
   * @default anywhere
   */
  jurisdiction: { is: "choice", optional: true, of: ["", "none", ...jurisdictions] },
  /**
   * Near what the platform is asked to create the objects: `"wnam"`, `"enam"`, `"sam"`, `"weur"`, `"eeur"`, `"apac"`,
   * `"apac-ne"`, `"apac-se"`, `"oc"`, `"afr"` or `"me"`; inside of the jurisdiction.
   *
   * @default near the first caller
   */
  location: { is: "choice", optional: true, of: ["", ...locations] },
} as const satisfies Options;

/** The other options of the section `placement`. */
export const serverPlacementOptions = {
  /**
   * The same as `location` for the gateways of all clients.
   *
   * @default the client's continent
   */
  gateway_location: { is: "choice", optional: true, of: ["", ...locations] },
  /**
   * The value of `jurisdiction` until now: one of its values, or `"new"` for a server that keeps nothing yet. It admits a change
   * (rule PL5).
   *
   * @default none
   */
  jurisdiction_before: {
    is: "choice",
    optional: true,
    of: ["", "new", "none", ...jurisdictions],
  },
} as const satisfies Options;

/** The locations inside of each jurisdiction. */
const inside: Record<Jurisdiction, readonly ObjectLocation[]> = {
  eu: ["weur", "eeur"],
  us: ["wnam", "enam"],
  fedramp: ["wnam", "enam"],
  "fedramp-high": ["wnam", "enam"],
};

/**
 * Reads `placement`.
 *
 * @param section receives the problems
 * @param channel the options of the channels, whose own keys are checked beside the server's
 */
export function readPlacementSection(
  section: Section,
  { withoutNamespace, namespaces }: Config["channel"],
): PlacementConfig {
  const own = readNamedPlacement(section);
  const ofServer = readOptions(section, serverPlacementOptions);
  const { gatewayLocation, jurisdictionBefore } = ofServer;
  demandInside(section, "gateway_location", own.jurisdiction, gatewayLocation);
  const all = [own, withoutNamespace.placement, ...[...namespaces.values()].map(placementOf)];
  const isRecorded = all.some((one) => one?.jurisdiction !== undefined);
  if (jurisdictionBefore !== undefined && !isRecorded && section.isValid("jurisdiction"))
    section.problem("jurisdiction_before", "has no effect without a jurisdiction");
  section.refuseOthers({});
  const isPlaced =
    gatewayLocation !== undefined || all.some((one) => one !== undefined && !isEmpty(one));
  return {
    ...own,
    ...ofServer,
    isPlaced,
    isRecorded,
  };
}

function placementOf({ placement }: ChannelOptions): NamedPlacement | undefined {
  return placement;
}

/** Reads `jurisdiction` and `location` of a namespace. @param section receives the problems */
export function readChannelPlacement(section: Section): Pick<ChannelOptions, "placement"> {
  const placement = readNamedPlacement(section);
  return isEmpty(placement) ? {} : { placement };
}

function isEmpty(placement: NamedPlacement): boolean {
  return Object.keys(placement).length === 0;
}

function readNamedPlacement(section: Section): NamedPlacement {
  const placement = readOptions(section, objectPlacementOptions);
  demandInside(section, "location", placement.jurisdiction, placement.location);
  return placement;
}

function demandInside(
  section: Section,
  name: string,
  jurisdiction: NamedPlacement["jurisdiction"],
  location: ObjectLocation | undefined,
): void {
  if (jurisdiction === undefined || jurisdiction === "none") return;
  if (location === undefined || inside[jurisdiction].includes(location)) return;
  const list = inside[jurisdiction].map((one) => JSON.stringify(one)).join(" and ");
  section.problem(name, `is outside of jurisdiction "${jurisdiction}", which has ${list}`);
}

/** Where the objects of the server are kept that belong to no channel: homes, metrics and gateways of regions. */
export function serverPlacement({ placement }: Pick<Config, "placement">): ObjectPlacement {
  return placed(placement.jurisdiction, placement.location);
}

/**
 * Where the objects of a channel are kept: its own, and the gateways that serve it alone.
 *
 * @param channel any text; one that isn't the name of a channel is where the server's objects are
 */
export function channelPlacement(
  channel: string,
  config: Pick<Config, "placement" | "channel">,
): ObjectPlacement {
  const { namespaces, withoutNamespace } = config.channel;
  const { namespace } = partsOf(channel, config.channel);
  const options = namespace === undefined ? withoutNamespace : namespaces.get(namespace);
  return optionsPlacement(options, config);
}

/** Where the gateways of a region are kept. @param near the location of the region; undefined if it isn't known */
export function regionPlacement(
  { placement }: Pick<Config, "placement">,
  near: ObjectLocation | undefined,
): ObjectPlacement {
  return placed(placement.jurisdiction, placement.gatewayLocation ?? near);
}

/** The jurisdiction of each kind of objects that keep something, by what it is called in messages (rule PL4). */
export function placedScopes(config: Config): readonly PlacedScope[] {
  const { namespaces, withoutNamespace } = config.channel;
  return [
    ["users and directory", jurisdictionOf(serverPlacement(config))],
    ["channels without a namespace", jurisdictionOf(optionsPlacement(withoutNamespace, config))],
    ...[...namespaces].map(([name, options]): PlacedScope => [
      `namespace ${name}`,
      jurisdictionOf(optionsPlacement(options, config)),
    ]),
  ];
}

/** An {@link ObjectPlacement} as the HTTP API shows it (rule PL6). */
export interface ShownPlacement {
  readonly jurisdiction: string;
  /** Absent: near the first caller. */
  readonly location?: string;
}

/** Writes it for an answer of the HTTP API. */
export function shownPlacement({ jurisdiction, location }: ObjectPlacement): ShownPlacement {
  return { jurisdiction: jurisdiction ?? "none", ...(location && { location }) };
}

/** Where all kinds of objects are, for the answer to `info`, by what is placed. */
export function shownPlacements(config: Config): Readonly<Record<string, ShownPlacement>> {
  const { namespaces, withoutNamespace } = config.channel;
  return {
    users: shownPlacement(serverPlacement(config)),
    gateways: shownPlacement(regionPlacement(config, undefined)),
    "channels without a namespace": shownPlacement(optionsPlacement(withoutNamespace, config)),
    ...Object.fromEntries(
      [...namespaces].map(([name, options]) => [
        `namespace ${name}`,
        shownPlacement(optionsPlacement(options, config)),
      ]),
    ),
  };
}

function jurisdictionOf({ jurisdiction }: ObjectPlacement): string {
  return jurisdiction ?? "none";
}

/** The name of each scope that is placed, with its jurisdiction or "none". */
export type PlacedScope = readonly [scope: string, jurisdiction: string];

function optionsPlacement(
  options: ChannelOptions | undefined,
  { placement }: Pick<Config, "placement">,
): ObjectPlacement {
  const own = options?.placement;
  return placed(own?.jurisdiction ?? placement.jurisdiction, own?.location ?? placement.location);
}

/** A hint outside of the jurisdiction is left out: the platform chooses a place inside. */
function placed(
  named: NamedPlacement["jurisdiction"],
  location: ObjectLocation | undefined,
): ObjectPlacement {
  const jurisdiction = named === "none" ? undefined : named;
  const isUseful =
    location !== undefined &&
    (jurisdiction === undefined || inside[jurisdiction].includes(location));
  return { ...(jurisdiction && { jurisdiction }), ...(isUseful && { location }) };
}
