import { plainPublication } from "../../../src/channel/publication-request.ts";
import type { ChannelOperation } from "../../../src/contract/channel-call.ts";
import type { Config } from "../../../src/config/config.ts";
import { limits } from "../../../src/limits.ts";
import type { Thrown } from "../../../src/object/commit-queue.ts";
import { ChannelHost } from "../../../src/object/channel-host.ts";
import { GatewayHost } from "../../../src/object/gateway-host.ts";
import type {
  CallAnswer,
  CallName,
  CallReply,
  CallRequest,
} from "../../../src/object/object-call.ts";
import type { ObjectBounds } from "../../../src/object/part.ts";
import { UsersHost } from "../../../src/object/users-host.ts";
import type { JsonText } from "../../../src/protocol/json/text.ts";
import { Random } from "../../support/random.ts";
import { configured } from "../../support/configured.ts";
import { costsMs } from "./measured-costs.ts";
import { Moments } from "./moments.ts";
import { oneWayMs, type Place } from "./places.ts";
import { noCounts, type ObjectCounts, StandObject } from "./stand-object.ts";
import { StandPlatform } from "./stand-platform.ts";

/** A call between objects. */
export interface StandCall<Name extends CallName> {
  readonly name: Name;
  readonly to: string;
  readonly request: CallRequest<Name>;
  readonly waitMs: number;
}

/** What the objects of a world did together. */
export interface WorldCounts extends ObjectCounts {
  readonly awakeSeconds: number;
  readonly commits: number;
}

/** An object with its host, which is made anew when the memory is lost. */
interface Hosted<Host> {
  readonly object: StandObject;
  host: Host | undefined;
}

/**
 * The real objects of `src`, on threads and a network of simulated time. A client's socket may stand for several clients:
 * then the hub's bounds are divided by as many, so that its slices hold as many clients as in truth.
 */
export class StandWorld {
  readonly moments = new Moments(startMs);
  readonly random: Random;
  readonly weight: number;
  readonly logged: string[] = [];
  /** Calls that objects have made, by name. */
  readonly calls = new Map<string, number>();
  /** The requests of clients within them, each client counted. */
  readonly requests = new Map<string, number>();
  readonly #config: Config = standConfig();
  readonly #bounds: ObjectBounds;
  readonly #channels = new Map<string, Hosted<ChannelHost>>();
  readonly #gateways = new Map<string, Hosted<GatewayHost>>();
  readonly #homes = new Map<string, Hosted<UsersHost>>();
  readonly #channelPlace: (channel: string) => Place;

  constructor(seed: number, weight: number, channelPlace: (channel: string) => Place) {
    this.random = new Random(seed);
    this.weight = weight;
    this.#bounds = boundsFor(weight);
    this.#channelPlace = channelPlace;
  }

  get gateways(): readonly StandObject[] {
    return [...this.#gateways.values()].map(({ object }) => object);
  }

  get channels(): readonly StandObject[] {
    return [...this.#channels.values()].map(({ object }) => object);
  }

  get objects(): readonly StandObject[] {
    return [
      ...this.gateways,
      ...this.channels,
      ...[...this.#homes.values()].map(({ object }) => object),
    ];
  }

  /** A gateway of a place, by its number there. */
  gateway(place: Place, index: number): StandObject {
    return this.#gateway(`${place}/${index}`, place).object;
  }

  /** The backend publishes to a channel, and gets the answer's outcome. */
  publish(
    channel: string,
    data: JsonText,
    backend: Place,
    answered: (isPublished: boolean) => void,
  ): void {
    const operation: ChannelOperation = { method: "publish", request: plainPublication(data) };
    const { object } = this.#channel(channel);
    this.moments.at(this.moments.nowMs + oneWayMs(backend, object.place), () => {
      object.event(costsMs.callTaken + costsMs.aroundRequest, () =>
        this.#channelHost(channel).execute([operation], undefined, (answers) => {
          const isPublished =
            answers.outcome === "answers" && answers.answers.every((answer) => "result" in answer);
          this.moments.at(object.thread.leavesAtMs, () => answered(isPublished));
        }),
      );
    });
  }

  /** Carries a call and its answer between two objects. */
  carry<Name extends CallName>(
    from: StandObject,
    { name, to, request, waitMs }: StandCall<Name>,
    done: (reply: CallReply<Name>) => void,
  ): void {
    from.counts.callsMade++;
    from.counts.callBytes += JSON.stringify(request, plainJson).length;
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
    const target = this.#targetOf(name, to);
    let isOpen = true;
    const finish = (reply: CallReply<Name>): void => {
      if (!isOpen) return;
      isOpen = false;
      if (reply.outcome === "failed") from.counts.callsFailed++;
      done(reply);
    };
    this.moments.at(from.thread.leavesAtMs + waitMs, () =>
      finish({ outcome: "failed", overloaded: false }),
    );
    this.moments.at(from.thread.leavesAtMs + oneWayMs(from.place, target.place), () => {
      if (!target.isReachable) return;
      target.event(costsMs.callTaken, () =>
        this.#carryOut(name, to, request, (answer) => {
          const atMs = target.thread.leavesAtMs + oneWayMs(target.place, from.place);
          this.moments.at(atMs, () => finish({ outcome: "answered", answer }));
        }),
      );
    });
  }

  /** These objects lose their memory and their sockets, as after a deploy. */
  lose(lost: (object: StandObject) => boolean): void {
    for (const all of [this.#gateways, this.#channels, this.#homes])
      for (const hosted of all.values()) {
        if (!lost(hosted.object)) continue;
        hosted.host = undefined;
        hosted.object.life++;
        hosted.object.thread.forget();
        hosted.object.sockets.cut();
      }
  }

  /** Begins to count anew. */
  reset(): void {
    for (const object of this.objects) object.reset();
    this.calls.clear();
    this.requests.clear();
  }

  get counts(): WorldCounts {
    const sum: ObjectCounts = noCounts();
    let [awakeMs, commits] = [0, 0];
    for (const { counts, thread } of this.objects) {
      thread.endCount();
      awakeMs += thread.awakeMs;
      commits += thread.commits;
      for (const key of countKeys) sum[key] += counts[key];
    }
    return { ...sum, awakeSeconds: awakeMs / 1_000, commits };
  }

  close(): void {
    for (const object of this.objects) object.close();
  }

  #channel(name: string): Hosted<ChannelHost> {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const object = new StandObject(name, this.#channelPlace(name), this);
    const made: Hosted<ChannelHost> = { object, host: undefined };
    this.#channels.set(name, made);
    object.sockets.serve(() => this.#channelHost(name));
    return made;
  }

  #channelHost(name: string): ChannelHost {
    const hosted = this.#channel(name);
    hosted.host ??= new ChannelHost(
      new StandPlatform(hosted.object, name, () => this.#channelHost(name).alarm(() => undefined)),
      this.#config,
      this.#bounds,
    );
    return hosted.host;
  }

  #gateway(name: string, place: Place): Hosted<GatewayHost> {
    const known = this.#gateways.get(name);
    if (known !== undefined) return known;
    const made: Hosted<GatewayHost> = {
      object: new StandObject(name, place, this),
      host: undefined,
    };
    this.#gateways.set(name, made);
    made.object.sockets.serve(() => this.#gatewayHost(name));
    return made;
  }

  #gatewayHost(name: string): GatewayHost {
    const hosted = this.#gateways.get(name);
    if (hosted === undefined) throw new Error(`there is no gateway ${name}`);
    hosted.host ??= new GatewayHost(
      new StandPlatform(hosted.object, name, () => this.#gatewayHost(name).alarm(() => undefined)),
      this.#config,
      this.#bounds,
    );
    return hosted.host;
  }

  #home(name: string): Hosted<UsersHost> {
    const known = this.#homes.get(name);
    if (known !== undefined) return known;
    const made: Hosted<UsersHost> = { object: new StandObject(name, "na", this), host: undefined };
    this.#homes.set(name, made);
    return made;
  }

  #homeHost(name: string): UsersHost {
    const hosted = this.#home(name);
    hosted.host ??= new UsersHost(
      new StandPlatform(hosted.object, name, () => this.#homeHost(name).alarm(() => undefined)),
      this.#config,
    );
    return hosted.host;
  }

  #targetOf(name: CallName, to: string): StandObject {
    if (name === "ask") return this.#channel(to).object;
    if (name === "deliver") {
      const gateway = this.#gateways.get(to);
      if (gateway === undefined) throw new Error(`there is no gateway ${to}`);
      return gateway.object;
    }
    return this.#home(to).object;
  }

  #carryOut<Name extends CallName>(
    name: Name,
    to: string,
    request: CallRequest<Name>,
    answer: (answer: CallAnswer<Name>) => void,
  ): void {
    const carry = targets[name];
    if (carry === undefined) throw new Error(`nobody makes the call ${name} on the stand`);
    carry(this.#hosts, to, request, answer);
  }

  readonly #hosts: Hosts = {
    channel: (name) => this.#channelHost(name),
    gateway: (name) => this.#gatewayHost(name),
    home: (name) => this.#homeHost(name),
    asked: (method) => this.requests.set(method, (this.requests.get(method) ?? 0) + 1),
  };
}

interface Hosts {
  readonly channel: (name: string) => ChannelHost;
  readonly gateway: (name: string) => GatewayHost;
  readonly home: (name: string) => UsersHost;
  /** Counts a request of a gateway for one of its clients. */
  readonly asked: (method: string) => void;
}

type Targets = {
  readonly [Name in CallName]?: (
    hosts: Hosts,
    to: string,
    request: CallRequest<Name>,
    answer: (answer: CallAnswer<Name>) => void,
  ) => void;
};

/** The calls that are made without users, maps and orders. */
const targets: Targets = {
  ask: (hosts, to, [gateway, requests, carries], answer) => {
    for (const { method } of requests) hosts.asked(method);
    hosts.channel(to).ask(gateway, requests, carries, (answered) => answer(orThrow(answered)));
  },
  deliver: (hosts, to, [batch], answer) => hosts.gateway(to).deliver(batch, answer),
  list: (hosts, to, [node], answer) => {
    hosts.home(to).list(node);
    answer(undefined);
  },
  ended: (hosts, to, [users, left], answer) =>
    hosts.home(to).ended(users, left, () => answer(undefined)),
};

function orThrow<Answer extends object>(answer: Answer | Thrown): Answer {
  if ("error" in answer) throw answer.error;
  return answer;
}

/** The hub's bounds if a socket stands for so many clients. */
function boundsFor(weight: number): ObjectBounds {
  const shared = (bound: number): number => Math.max(1, Math.round(bound / weight));
  return {
    ...limits,
    sliceSubscribersMax: shared(limits.sliceSubscribersMax),
    immediateSubscribersMax: shared(limits.immediateSubscribersMax),
    frameEndSubscribers: shared(limits.frameEndSubscribers),
    longRestSubscribers: shared(limits.longRestSubscribers),
  };
}

/** A channel with history and recovery, and clients without tokens; all else as by default. */
function standConfig(): Config {
  return configured({
    client: { allow_anonymous_connect_without_token: true },
    channel: {
      without_namespace: {
        allow_subscribe_for_client: true,
        allow_subscribe_for_anonymous: true,
        history_size: 1_000,
        history_ttl: "10m",
        force_recovery: true,
      },
    },
  });
}

const countKeys: readonly (keyof ObjectCounts)[] = [
  "callsMade",
  "callsFailed",
  "callBytes",
  "rowsWritten",
  "rowsRead",
  "alarmsSet",
  "alarmsRung",
  "framesSent",
  "bytesSent",
  "messagesTaken",
];

function plainJson(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/** The time at which every world begins, ms since 1970. */
const startMs = 1_700_000_000_000;
