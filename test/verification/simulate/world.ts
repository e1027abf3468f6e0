import { Records } from "../../support/records.ts";
import type { ChannelPresenceReply } from "../../../src/contract/relay-request.ts";
import type { Config } from "../../../src/config/config.ts";
import type { FanOutLimits } from "../../../src/hub/hub.ts";
import { limits as coreLimits } from "../../../src/limits.ts";
import { Random } from "../../support/random.ts";
import { configured } from "../../support/configured.ts";
import { withChannelCode } from "../../../src/features/procedures/config.ts";
import { Backend } from "./backend.ts";
import type { BankAsker } from "./bank/bank-asker.ts";
import { bankBackend } from "./bank/bank-backend.ts";
import { BankBook } from "./bank/bank-book.ts";
import { bankAccounts, bankCode, bankNamespaces, isBank } from "./bank/bank-kinds.ts";
import { ChangeBackend } from "./changes/change-backend.ts";
import { changeNamespaces, isChanging } from "./changes/change-kinds.ts";
import { ChangeRules } from "./changes/change-rules.ts";
import { SimulatedChannel } from "./simulated-channel.ts";
import { CursorBackend } from "./cursor-backend.ts";
import { cursorEvents, cursorNamespaces, hasCursors } from "./cursor-kinds.ts";
import { CursorRules } from "./cursor-rules.ts";
import { GrowthBackend } from "./growth-backend.ts";
import { namespaceOf } from "./namespace-of.ts";
import { growthKindOf, growthNamespaces } from "./growth-kinds.ts";
import { GrowthRules } from "./growth-rules.ts";
import { EventLog } from "./event-log.ts";
import { type ClientTraits, WorldClient } from "./client.ts";
import { SimulatedGateway } from "./simulated-gateway.ts";
import { type Database, freshDatabase } from "./database.ts";
import { PublicationLog } from "./publication-log.ts";
import { type ChooseOutcome, Network, smooth } from "./network.ts";
import type { WorldContext, WorldUsers } from "./world-context.ts";
import { pingIntervalMs } from "./ping-plan.ts";
import { isMirror, mapModeOf, mapNamespaces } from "./map-kinds.ts";
import { PollBackend } from "./poll-backend.ts";
import { pollModeOf, pollNamespaces, pollProxy } from "./poll-kinds.ts";
import { presenceNamespaces } from "./presence-kinds.ts";
import { PresenceRules } from "./presence-rules.ts";
import { PusherClient } from "./pusher/pusher-client.ts";
import { pusherGateways, pusherNamespaces, pusherSection } from "./pusher/pusher-kinds.ts";
import { Removals } from "./removals.ts";
import { Timeline } from "./timeline.ts";
import { SimulatedHome } from "./simulated-home.ts";
import { UnseenRules } from "./unseen-rules.ts";
import { UserBackend } from "./user-backend.ts";
import { UserRules } from "./user-rules.ts";

/** The size of a world, and where its faults and times come from. */
export interface WorldSetup {
  /**
   * The channels' names. `keep:` has a long history, `tell:` a long history and join and leave pushes, `few:` a short
   * history, `last:` cache recovery, `none:` no history; those of `map-kinds.ts` are maps, of `growth-kinds.ts` maps whose
   * values grow, of `cursor-kinds.ts` keep what their users have read, and of `bank-kinds.ts` are banks.
   */
  readonly channels: readonly string[];
  readonly gateways: number;
  /** Whether users have homes, to which a backend gives orders. */
  readonly hasHomes?: boolean;
  /** Whether the server pings; with cursors it does in any case. */
  readonly pings?: boolean;
  /** How many clients speak the Pusher protocol, on a gateway of their own. */
  readonly pusherClients?: number;
  /** The limits of the configuration. */
  readonly limits?: WorldLimits;
  /** The outcome of each call; without it all calls succeed. */
  readonly chooseOutcome?: ChooseOutcome;
  /** How long the frames of one socket take, ms. */
  readonly latency?: (socket: string) => () => number;
  /** How long one object's writes take to become durable, ms. */
  readonly commits?: (object: string) => () => number;
  /** How long a turn of one object's event loop takes, ms. */
  readonly turns?: (object: string) => () => number;
  /** How long one object waits for the time of its alarm, and again until it is told, ms. */
  readonly alarmReads?: (object: string) => () => number;
  /** How large the slices of one object's frames are, and how much is collected behind them. */
  readonly fanOut?: (object: string) => FanOutLimits;
  /** How long one client waits before it reconnects, ms. */
  readonly backoffs?: (who: string) => () => number;
  /** The database of the next object; by default one of its own. */
  readonly database?: () => Database;
  /** Whether the backend repeats a publish that succeeded. */
  readonly repeats?: () => boolean;
  /** How fast the backend of shared polls answers. */
  readonly polls?: Random;
}

/** Channel objects, gateways and clients with the real core, and a network between them. */
export class World {
  readonly timeline = new Timeline(startMs);
  readonly publicationLog = new PublicationLog();
  readonly eventLog = new EventLog(this.timeline);
  readonly removals = new Removals((what) => this.publicationLog.complain(what));
  readonly changes = new ChangeRules((what) => this.publicationLog.complain(what));
  /** The backend that changes publications. */
  readonly changing: ChangeBackend;
  readonly network: Network;
  readonly channels: ReadonlyMap<string, SimulatedChannel>;
  readonly gateways: ReadonlyMap<string, SimulatedGateway>;
  readonly clients: WorldClient[] = [];
  readonly pusherClients: readonly PusherClient[];
  readonly backend: Backend;
  readonly cursors: CursorBackend;
  readonly unseen: UnseenRules;
  readonly polls: PollBackend;
  readonly presence: PresenceRules;
  readonly growth: GrowthRules;
  readonly producers: GrowthBackend;
  readonly banks = new BankBook();
  /** The backend that asks banks. */
  readonly teller: BankAsker;
  /** The homes that were called so far, by name. */
  readonly homes = new Records(
    (name) => new SimulatedHome(name.slice(homePrefix.length), this.#context),
  );
  /** Absent where users have no homes. */
  readonly users: UserBackend | undefined;
  readonly #context: WorldContext;
  readonly #backoffs: (who: string) => () => number;

  constructor(setup: WorldSetup) {
    const { chooseOutcome = () => smooth, repeats = () => false, database = freshDatabase } = setup;
    const {
      latency = always(1),
      commits = always(4),
      turns = always(1),
      alarmReads = always(1),
      fanOut = () => coreLimits,
      backoffs = always(100),
      limits = usualLimits,
    } = setup;
    this.polls = new PollBackend(() => this.#context, setup.polls ?? new Random(1));
    this.presence = new PresenceRules(
      this.timeline,
      () => this.clients,
      (what) => this.publicationLog.complain(what),
    );
    this.growth = new GrowthRules(
      () => this.timeline.nowMs,
      (what) => this.publicationLog.complain(what),
    );
    const publisherOf = (data: string) => this.#publisherOf(data);
    const nowMs = () => this.timeline.nowMs;
    const cursors = new CursorRules(this.publicationLog, publisherOf, nowMs);
    this.unseen = new UnseenRules(this.publicationLog, cursors, publisherOf, nowMs);
    this.network = new Network(this.timeline, chooseOutcome);
    this.#backoffs = backoffs;
    this.#context = {
      config: configOf(limits, setup),
      timeline: this.timeline,
      network: this.network,
      publicationLog: this.publicationLog,
      eventLog: this.eventLog,
      removals: this.removals,
      changes: this.changes,
      polls: this.polls,
      cursors,
      unseen: this.unseen,
      presence: this.presence,
      growth: this.growth,
      producers: () => this.producers,
      banks: this.banks,
      latency,
      commits,
      turns,
      alarmReads,
      fanOut,
      database,
      channel: (name) => this.channel(name),
      gateway: (name) => this.gateway(name),
      home: (name) => this.homes.of(`${homePrefix}${name}`),
      ...(setup.hasHomes === true ? { users: this.#newUsers() } : {}),
    };
    this.channels = new Map(
      setup.channels.map((name) => [name, new SimulatedChannel(name, this.#context)]),
    );
    const names = Array.from({ length: setup.gateways }, (_, index) => `g/${index + 1}`);
    const { pusherClients = 0 } = setup;
    if (pusherClients > 0) names.push(...pusherGateways);
    this.gateways = new Map(names.map((name) => [name, new SimulatedGateway(name, this.#context)]));
    for (const name of setup.channels) this.#open(name, limits);
    this.pusherClients = Array.from({ length: pusherClients }, (_, index) => {
      const name = `p${index + 1}`;
      // Two connections of a user each.
      const user = `u${Math.ceil((index + 1) / 2)}`;
      const place = pusherGateways[index % pusherGateways.length] ?? "";
      return new PusherClient({ name, user, place }, this.#context, backoffs(name));
    });
    this.backend = new Backend(this.#context, backoffs("backend"), repeats);
    this.cursors = new CursorBackend(this.#context);
    this.changing = new ChangeBackend(this.#context, backoffs("changing backend"));
    this.teller = bankBackend(this.#context, backoffs("teller"));
    this.producers = new GrowthBackend(this.#context, backoffs("producers"));
    const { users } = this.#context;
    this.users = users && new UserBackend(this.#context, users);
  }

  channel(name: string): SimulatedChannel {
    return found(this.channels.get(name), name);
  }

  gateway(name: string): SimulatedGateway {
    return found(this.gateways.get(name), name);
  }

  /** Adds a client, which isn't connected yet. It connects to the first gateway unless its traits say otherwise. */
  client(traits: Partial<ClientTraits> = {}): WorldClient {
    const name = `c${this.clients.length + 1}`;
    const client = new WorldClient(
      {
        name,
        given: [],
        reconnectsEarly: false,
        choosePlace: () => this.gateway("g/1"),
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

  /** Ends the world. Its databases can be used by others from now on. */
  end(): void {
    for (const channel of this.channels.values()) channel.end();
    for (const gateway of this.gateways.values()) gateway.end();
    for (const home of this.homes.values()) home.end();
  }

  /** The user whose client published this; undefined for a backend. */
  #publisherOf(data: string): string | undefined {
    const [publisher] = data.split("-");
    return this.clients.find(({ name }) => name === publisher)?.user;
  }

  #newUsers(): WorldUsers {
    const { timeline, publicationLog } = this;
    return { rules: new UserRules(timeline, (what) => publicationLog.complain(what)) };
  }

  #open(channel: string, limits: WorldLimits): void {
    if (pollModeOf(channel) !== undefined || isMirror(channel)) return;
    if (growthKindOf(channel) !== undefined || isChanging(channel)) return;
    const ofWorld = { process: "world", type: "info", channel } as const;
    const isCoded = isBank(channel);
    if (isCoded) this.eventLog.note({ ...ofWorld, f: "bank", accounts: bankAccounts });
    const mode = mapModeOf(channel);
    if (mode !== undefined) {
      this.eventLog.note({ ...ofWorld, f: "map", mode, isCoded });
      return;
    }
    const namespace = namespaceOf(channel);
    const recovery = recoveries[namespace] ?? "stream";
    const recoverable = recoverableOf(namespace, limits);
    const promise = recoverable === undefined ? {} : { recoverable };
    const opened = { ...ofWorld, f: "channel", recovery } as const;
    this.eventLog.note({ ...opened, ...promise });
  }

  /** The IDs of the clients that are present on a channel. Time passes until the answer is there. */
  present(name: string): readonly string[] {
    let present: ChannelPresenceReply | undefined;
    this.channel(name).present((answer) => {
      present = answer;
    });
    this.pass(5_000);
    if (present?.outcome !== "present" || !present.complete) {
      this.publicationLog.complain(`presence was never answered on ${name}`);
      return [];
    }
    return present.clients.map(({ client }) => client);
  }
}

const homePrefix = "home ";

/** The time at which every world begins, ms since 1970. */
export const startMs = 1_700_000_000_000;

const open = {
  presence: true,
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  allow_presence_for_client: true,
  allow_history_for_client: true,
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
  newest: "cache",
  none: "none",
};

/** The configured limits of a world. */
export interface WorldLimits {
  /** From how many missed publications on a subscribe isn't recovered. */
  readonly recoveryMax: number;
  /** The limit of a client's queue, bytes. */
  readonly queueBytesMax: number;
}

/** Limits that no run reaches. */
export const usualLimits: WorldLimits = { recoveryMax: 300, queueBytesMax: 1_048_576 };

/** How many characters of padding a publication has at most. */
export const paddingMax = 6_000;

/**
 * How many missed publications are recovered; undefined where that can't be predicted. A gateway may lag behind the
 * channel, which counts up to its own top: with small limits that is too many, and with a short history the first
 * publications are gone by then.
 */
function recoverableOf(
  namespace: string,
  { recoveryMax, queueBytesMax }: WorldLimits,
): number | undefined {
  if (recoveryMax < usualLimits.recoveryMax || !keepsMany.has(namespace)) return undefined;
  const bytes = queueBytesMax - coreLimits.answerRestBytes;
  return Math.min(recoveryMax - 1, Math.floor(bytes / restBytes));
}

const keepsMany: ReadonlySet<string> = new Set(["keep", "tell", "mark", "named", "seen", "vault"]);

/** An upper bound of a publication's size without its padding, bytes. */
const restBytes = 500;

/** One configuration for each set of limits, because parsing takes longer than most runs. */
const configs = new Map<string, Config>();

function configOf(
  { recoveryMax, queueBytesMax }: WorldLimits,
  { hasHomes = false, pings = false, pusherClients = 0, channels }: WorldSetup,
): Config {
  const marks = channels.some(hasCursors);
  const coded = channels.some(isBank);
  const name = `${recoveryMax} ${queueBytesMax} ${hasHomes} ${marks} ${pings} ${coded} ${pusherClients > 0}`;
  const known = configs.get(name);
  if (known !== undefined) return known;
  const parsed = configured({
    client: {
      channel_limit: 200,
      recovery_max_publication_limit: recoveryMax,
      queue_max_size: queueBytesMax,
      users: { enabled: hasHomes },
      ...((marks || pings) && { ping_interval: `${pingIntervalMs}ms`, pong: "always" }),
    },
    channel: {
      proxy: pollProxy,
      namespaces: [
        ...namespaces,
        ...(marks ? cursorNamespaces : []),
        ...(coded ? bankNamespaces : []),
        ...(pusherClients > 0 ? pusherNamespaces : []),
      ],
    },
    ...(marks && { events: cursorEvents }),
    ...(pusherClients > 0 && { pusher: pusherSection }),
  });
  const { config, problems } = withChannelCode(parsed, coded ? bankCode : {});
  if (problems.length > 0) throw new Error(problems.join("\n"));
  configs.set(name, config);
  return config;
}

const namespaces: readonly object[] = [
  // Without joins and leaves, only publications show that an entry is missing.
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
  ...mapNamespaces,
  ...pollNamespaces,
  ...presenceNamespaces,
  ...growthNamespaces,
  ...changeNamespaces,
];

/** The same value for every name, each time. */
function always(ms: number): () => () => number {
  return () => () => ms;
}

function found<Item>(item: Item | undefined, name: string): Item {
  if (item === undefined) throw new Error(`there is no ${name}`);
  return item;
}
