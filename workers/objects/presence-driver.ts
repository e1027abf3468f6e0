import type { Channel } from "../../src/channel/channel.ts";
import { PresenceListing, shownClients } from "../../src/channel/presence.ts";
import type { PresenceMap } from "../../src/channel/presence-map.ts";
import type { PresenceTelling } from "../../src/channel/presence-teller.ts";
import type {
  PresenceKind,
  PresenceTold,
  PresenceToldReply,
} from "../../src/contract/presence-call.ts";
import type { ChannelOperation } from "../../src/contract/channel-call.ts";
import type { ChannelPresenceReply, RelayRequest } from "../../src/contract/relay-request.ts";
import { limits } from "../../src/limits.ts";
import type { ClientInfo } from "../../src/protocol/publication.ts";
import { NextTimer } from "../platform/alarm-schedule.ts";
import type { Env } from "../platform/env.ts";
import { askShown, gatherPresence, tellPresence } from "./calls.ts";
import type { CommitQueue } from "./commit-queue.ts";

/**
 * Makes the calls between the objects of channels and of their presence maps (rules Z21 to Z24, Z27, Z28 and Z35 to
 * Z37): for a channel that has such maps, it tells them who comes and goes, and lists the subscribers; for a map, it
 * asks for that list. `PresenceTeller` and `PresenceMap` decide when.
 */
export class PresenceDriver {
  readonly #setup: PresenceDriverSetup;
  readonly #timer: NextTimer;

  constructor(setup: PresenceDriverSetup) {
    this.#setup = setup;
    this.#timer = new NextTimer(() => void setup.endEvent(Date.now()));
  }

  /** Asks and calls what is due. To be called at the end of each event. */
  settle(nowMs: number): void {
    const { presenceMap, teller } = this.#setup.channel;
    if (presenceMap?.begins(nowMs) === true) void this.#count(presenceMap);
    if (teller === undefined) return;
    for (const telling of teller.calls(nowMs)) void this.#tell(telling);
    this.#timer.set(teller.retryInMs(nowMs), nowMs);
  }

  /**
   * Resolves once the keys of a presence map may be read for these commands or requests, or can't be; at once if none
   * of them reads a map from its beginning.
   */
  readyFor(calls: readonly (ChannelOperation | RelayRequest)[]): Promise<"ready" | "failed"> {
    const { presenceMap } = this.#setup.channel;
    if (presenceMap === undefined || !calls.some(readsKeys)) return Promise.resolve("ready");
    const nowMs = Date.now();
    const ready = new Promise<"ready" | "failed">((done) => presenceMap.ready(nowMs, done));
    this.settle(nowMs);
    return ready;
  }

  /** Lists the clients or users that the channel's presence map shows, in slices, and tells it of later ones. */
  async list(kind: PresenceKind): Promise<ChannelPresenceReply> {
    const { channel, env, called } = this.#setup;
    channel.teller?.asked(kind);
    const { gateways } = channel.relay;
    called(gateways.length);
    const others = await gatherPresence(env.GATEWAYS, gateways, channel.name, true);
    const listing = new PresenceListing(shownClients(channel.hub.subscribers), others);
    const clients: ClientInfo[] = [];
    const users = new Set<string>();
    while (!listing.over) {
      const part = listing.next(limits.presenceSliceClients);
      if (kind === "clients") clients.push(...part);
      else for (const { user } of part) users.add(user);
      if (!listing.over) await this.#turn();
    }
    for (const user of users) clients.push({ user, client: "" });
    await this.#setup.endEvent(Date.now());
    return { outcome: "present", clients, complete: others.complete };
  }

  /** Takes what the channel that this presence map shows has told. */
  async told({ source, changes }: PresenceTold): Promise<PresenceToldReply> {
    const { channel, queue } = this.#setup;
    const { presenceMap, hub } = channel;
    if (source !== presenceMap?.shown.channel) return { outcome: "left" };
    const carriedOut = await queue.add("publish", changes.length * changeBytes, () => {
      const nowMs = Date.now();
      return hub.overloaded(nowMs) ? busy : presenceMap.told(changes, nowMs);
    });
    await this.#setup.endEvent(Date.now());
    return carriedOut.outcome === "done" ? carriedOut.result : busy;
  }

  /** Makes a census, and applies it in slices, each of them a job. */
  async #count(presenceMap: PresenceMap): Promise<void> {
    const { env, called, queue, endEvent } = this.#setup;
    called(1);
    const reply = await askShown(env.CHANNELS, presenceMap.shown);
    let isOver = !presenceMap.listed(reply, Date.now());
    while (!isOver) {
      const slice = await queue.add("publish", sliceBytes, () => presenceMap.slice(Date.now()));
      if (slice.outcome === "done") isOver = slice.result;
      if (!isOver) await this.#turn();
    }
    await endEvent(Date.now());
  }

  async #tell(telling: PresenceTelling): Promise<void> {
    const { channel, env, called, endEvent } = this.#setup;
    called(1);
    const reply = await tellPresence(env.CHANNELS, telling);
    const nowMs = Date.now();
    channel.teller?.answered(telling, reply, nowMs);
    await endEvent(nowMs);
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#setup.later(0, resolve));
  }
}

interface PresenceDriverSetup {
  readonly channel: Channel;
  readonly env: Pick<Env, "CHANNELS" | "GATEWAYS">;
  readonly queue: CommitQueue;
  /** Counts calls to other objects. */
  readonly called: (calls: number) => void;
  readonly later: (waitMs: number, work: () => void) => void;
  readonly endEvent: (nowMs: number) => Promise<void>;
}

/** Whether a backend reads a map, or a gateway asks for its first page, which has to be as new as the question. */
function readsKeys(call: ChannelOperation | RelayRequest): boolean {
  if (call.method === "map_state") return call.request.since === undefined;
  return call.method === "map_read_state" || call.method === "map_stats";
}

const busy = { outcome: "busy" } as const;

/** What a change that is told takes in memory, roughly. */
const changeBytes = 512;

const sliceBytes = limits.presenceSliceClients * changeBytes;
