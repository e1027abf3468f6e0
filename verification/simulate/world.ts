import type { ChannelPresenceReply } from "../../src/contract/relay-request.ts";
import type { Config } from "../../src/config/config.ts";
import { limits as coreLimits } from "../../src/limits.ts";
import { configured } from "../../test/support/configured.ts";
import { Backend } from "./backend.ts";
import { ChannelHost } from "./channel-host.ts";
import { EventLog } from "./event-log.ts";
import { type ClientTraits, WorldClient } from "./client.ts";
import { GatewayHost } from "./gateway-host.ts";
import { type Database, freshDatabase } from "./database.ts";
import { PublicationLog } from "./publication-log.ts";
import { type ChooseOutcome, Network, smooth } from "./network.ts";
import type { WorldContext } from "./world-context.ts";
import { Timeline } from "./timeline.ts";

/** How many of what there is. */
export interface WorldSetup {
  /**
   * Channels, by their names. `keep:` has a long history, `tell:` one and tells of joins and leaves, `few:` a short one,
   * `last:` one of which only the newest publication matters, `none:` none.
   */
  readonly channels: readonly string[];
  readonly gateways: number;
  /** How much there may be at once. */
  readonly limits?: WorldLimits;
  /** What becomes of calls; all goes well unless it says otherwise. */
  readonly chooseOutcome?: ChooseOutcome;
  /** How long the frames of one socket are under way, ms. */
  readonly latency?: (socket: string) => () => number;
  /** How long one object's writes take to be durable, ms. */
  readonly commits?: (object: string) => () => number;
  /** How long one client waits before it comes back, ms. */
  readonly backoffs?: (who: string) => () => number;
  /** Where an object's rows lie; a database of its own unless it says otherwise. */
  readonly database?: () => Database;
  /** Whether the backend publishes again what was published. */
  readonly repeats?: () => boolean;
}

/** Channels' objects, gateways and clients, all with the real core, and a network between them. */
export class World {
  readonly timeline = new Timeline(startMs);
  readonly publicationLog = new PublicationLog();
  readonly eventLog = new EventLog(this.timeline);
  readonly network: Network;
  readonly channels: ReadonlyMap<string, ChannelHost>;
  readonly gateways: ReadonlyMap<string, GatewayHost>;
  readonly clients: WorldClient[] = [];
  readonly backend: Backend;
  readonly #context: WorldContext;
  readonly #backoffs: (who: string) => () => number;

  constructor(setup: WorldSetup) {
    const { chooseOutcome = () => smooth, repeats = () => false, database = freshDatabase } = setup;
    const {
      latency = always(1),
      commits = always(4),
      backoffs = always(100),
      limits = usualLimits,
    } = setup;
    this.network = new Network(this.timeline, chooseOutcome);
    this.#backoffs = backoffs;
    this.#context = {
      config: configOf(limits),
      timeline: this.timeline,
      network: this.network,
      publicationLog: this.publicationLog,
      eventLog: this.eventLog,
      latency,
      commits,
      database,
      channel: (name) => this.channel(name),
      gateway: (name) => this.gateway(name),
    };
    this.channels = new Map(
      setup.channels.map((name) => [name, new ChannelHost(name, this.#context)]),
    );
    const names = Array.from({ length: setup.gateways }, (_, index) => `g${index + 1}`);
    this.gateways = new Map(names.map((name) => [name, new GatewayHost(name, this.#context)]));
    for (const name of setup.channels) this.#open(name, limits);
    this.backend = new Backend(this.#context, backoffs("backend"), repeats);
  }

  channel(name: string): ChannelHost {
    return found(this.channels.get(name), name);
  }

  gateway(name: string): GatewayHost {
    return found(this.gateways.get(name), name);
  }

  /** Another client, which isn't connected yet. It connects to the first gateway unless its traits say otherwise. */
  client(traits: Partial<ClientTraits> = {}): WorldClient {
    const name = `c${this.clients.length + 1}`;
    const client = new WorldClient(
      {
        name,
        given: [],
        reconnectsEarly: false,
        choosePlace: () => this.gateway("g1"),
        backoffMs: this.#backoffs(name),
        ...traits,
      },
      this.#context,
    );
    this.clients.push(client);
    return client;
  }

  pass(ms: number): void {
    this.timeline.pass(ms);
  }

  /** It has ended: its databases are others' from now on. */
  end(): void {
    for (const channel of this.channels.values()) channel.end();
  }

  #open(channel: string, limits: WorldLimits): void {
    const [namespace = ""] = channel.split(":");
    const recovery = recoveries[namespace] ?? "stream";
    const recoverable = recoverableOf(namespace, limits);
    const promise = recoverable === undefined ? {} : { recoverable };
    const opened = { process: "world", type: "info", f: "channel", channel, recovery } as const;
    this.eventLog.note({ ...opened, ...promise });
  }

  /** Who is present on a channel, by the connections' IDs. Time passes until that is known. */
  present(name: string): readonly string[] {
    let present: ChannelPresenceReply | undefined;
    this.channel(name).present((answer) => {
      present = answer;
    });
    this.pass(5_000);
    if (present?.outcome !== "present" || !present.complete) {
      this.publicationLog.complain(`nobody knows who is present on ${name}`);
      return [];
    }
    return present.clients.map(({ client }) => client);
  }
}

/** When every world begins: ms since 1970. */
export const startMs = 1_700_000_000_000;

const open = {
  presence: true,
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  allow_presence_for_client: true,
};

const withPresenceEvents = { join_leave: true, force_push_join_leave: true };

const kept = {
  ...open,
  history_size: 1_000,
  history_ttl: "1h",
  history_meta_ttl: "24h",
  force_recovery: true,
};

const recoveries: Readonly<Record<string, "none" | "cache" | "stream">> = {
  last: "cache",
  none: "none",
};

/** How much there may be at once in a world. */
export interface WorldLimits {
  /** How many missed publications are never recovered any more. */
  readonly recoveryMax: number;
  /** How much may wait for a client. */
  readonly queueBytesMax: number;
}

/** Of which nobody notices anything. */
export const usualLimits: WorldLimits = { recoveryMax: 300, queueBytesMax: 1_048_576 };

/** How much longer a publication may be than it need be, in characters. */
export const paddingMax = 6_000;

/**
 * How many missed publications are recovered; undefined where nobody can say. A gateway may be behind the channel, which counts
 * up to where it stands itself: with small limits that is too many, and where few are kept the first of them are gone by then.
 */
function recoverableOf(
  namespace: string,
  { recoveryMax, queueBytesMax }: WorldLimits,
): number | undefined {
  if (recoveryMax < usualLimits.recoveryMax || !keepsMany.has(namespace)) return undefined;
  const bytes = queueBytesMax - coreLimits.answerRestBytes;
  return Math.min(recoveryMax - 1, Math.floor(bytes / restBytes));
}

const keepsMany: ReadonlySet<string> = new Set(["keep", "tell"]);

/** Of a publication everything but its padding, and more than that. */
const restBytes = 500;

/** Made once for each limits, since reading it takes longer than most runs. */
const configs = new Map<string, Config>();

function configOf({ recoveryMax, queueBytesMax }: WorldLimits): Config {
  const name = `${recoveryMax} ${queueBytesMax}`;
  const known = configs.get(name);
  if (known !== undefined) return known;
  const config = configured({
    client: {
      channel_limit: 200,
      recovery_max_publication_limit: recoveryMax,
      queue_max_size: queueBytesMax,
    },
    channel: { namespaces: namespaces },
  });
  configs.set(name, config);
  return config;
}

const namespaces: readonly object[] = [
  // Where nobody is told of others, nothing but publications shows that something is missing.
  { ...kept, name: "keep" },
  { ...kept, ...withPresenceEvents, name: "tell" },
  {
    ...open,
    ...withPresenceEvents,
    name: "few",
    history_size: 4,
    history_ttl: "20s",
    history_meta_ttl: "40s",
    force_recovery: true,
  },
  {
    ...open,
    name: "last",
    history_size: 3,
    history_ttl: "1h",
    history_meta_ttl: "24h",
    force_recovery: true,
    force_recovery_mode: "cache",
  },
  { ...open, ...withPresenceEvents, name: "none" },
];

/** The same for everybody, each time. */
function always(ms: number): () => () => number {
  return () => () => ms;
}

function found<Item>(item: Item | undefined, name: string): Item {
  if (item === undefined) throw new Error(`there is no ${name}`);
  return item;
}
