import type { Channel } from "../../../src/channel/channel.ts";
import { PresenceListing, shownClients } from "../../../src/channel/presence.ts";
import type { PresenceMap } from "../../../src/channel/presence-map.ts";
import type { PresenceTelling } from "../../../src/channel/presence-teller.ts";
import type {
  PresenceKind,
  PresenceTold,
  PresenceToldReply,
} from "../../../src/contract/presence-call.ts";
import type { ChannelPresenceReply } from "../../../src/contract/relay-request.ts";
import { limits } from "../../../src/limits.ts";
import type { ClientInfo } from "../../../src/protocol/publication.ts";
import { gatherPresence } from "./gather-presence.ts";
import { type Incarnation, NextTimer } from "./incarnation.ts";
import type { Done, WorldContext } from "./world-context.ts";

/** The object of a channel that has presence maps, or that is one. */
export interface PresenceObject {
  readonly name: string;
  readonly nowMs: number;
  acted(): void;
  /** Does work that may fail with the storage. */
  guard(work: () => void): void;
  gate(work: () => void): void;
  /** Does a job in its turn, and answers once its writes are durable; undefined if the object crashed. */
  job<Answer>(job: () => Answer, answer: Done<Answer>): void;
}

/** Does for a simulated channel object what `PresenceMap` and `PresenceTeller` decide, as the real `PresenceDriver` does. */
export class PresenceHost {
  readonly #channel: Channel;
  readonly #object: PresenceObject;
  readonly #context: WorldContext;
  readonly #incarnation: Incarnation;
  readonly #timer: NextTimer;

  constructor(
    channel: Channel,
    object: PresenceObject,
    context: WorldContext,
    incarnation: Incarnation,
  ) {
    this.#channel = channel;
    this.#object = object;
    this.#context = context;
    this.#incarnation = incarnation;
    this.#timer = new NextTimer(incarnation, () => object.acted());
    const { teller } = channel;
    if (teller !== undefined) context.presence.watch(teller);
  }

  /** Asks and calls what is due. */
  settle(): void {
    const { presenceMap, teller } = this.#channel;
    const { nowMs } = this.#object;
    if (presenceMap?.begins(nowMs) === true) this.#count(presenceMap);
    if (teller === undefined) return;
    for (const telling of teller.calls(nowMs)) this.#tell(telling);
    this.#timer.set(teller.retryInMs(nowMs));
  }

  /** Calls `then` once the keys may be read for these calls, or can't be; at once if none reads a map from its beginning. */
  readyFor(
    calls: readonly PresenceCall[],
    crashed: () => void,
    then: (outcome: "ready" | "failed") => void,
  ): void {
    const { presenceMap } = this.#channel;
    if (presenceMap === undefined || !calls.some(readsKeys)) {
      then("ready");
      return;
    }
    const done = this.#incarnation.busy(crashed);
    presenceMap.ready(this.#object.nowMs, (outcome) => {
      done();
      then(outcome);
    });
    this.#object.acted();
  }

  /** Lists the clients or users that the channel's presence map shows. */
  list(kind: PresenceKind, answer: Done<ChannelPresenceReply>): void {
    const { teller, relay, hub, name } = this.#channel;
    teller?.asked(kind);
    const done = this.#incarnation.busy(() => answer(undefined));
    const gate = (work: () => void): void => this.#object.gate(work);
    const { gateways } = relay;
    const caller = { name, incarnation: this.#incarnation, gateways, gate, shown: true };
    gatherPresence(this.#context, caller, (others) => {
      const listing = new PresenceListing(shownClients(hub.subscribers), others);
      const there: ClientInfo[] = [];
      while (!listing.over) there.push(...listing.next(limits.presenceSliceClients));
      const users = new Set(there.map(({ user }) => user));
      const clients = kind === "clients" ? there : [...users].map((user) => ({ user, client: "" }));
      this.#object.acted();
      gate(() => {
        if (this.#incarnation.over) return;
        done();
        answer({ outcome: "present", clients, complete: others.complete });
      });
    });
  }

  /** Takes what the channel that this presence map shows has told. */
  told({ source, changes }: PresenceTold, answer: Done<PresenceToldReply>): void {
    const { presenceMap, hub } = this.#channel;
    if (presenceMap === undefined || source !== presenceMap.shown.channel) {
      answer({ outcome: "left" });
      return;
    }
    const job = (): PresenceToldReply => {
      const { nowMs } = this.#object;
      if (hub.overloaded(nowMs)) return { outcome: "busy" };
      const reply = presenceMap.told(changes, nowMs);
      if (reply.outcome === "taken") this.#context.presence.told(this.#object.name, changes);
      return reply;
    };
    this.#object.job(job, answer);
  }

  #count(presenceMap: PresenceMap): void {
    const { kind, channel } = presenceMap.shown;
    this.#context.network.call<PresenceKind, ChannelPresenceReply>({
      kind: "count",
      from: this.#object.name,
      to: channel,
      request: kind,
      incarnation: this.#incarnation,
      waitMs: limits.presenceCountMs,
      carryOut: (asked, answer) => this.#context.channel(channel).shown(asked, answer),
      answered: (reply) => {
        // Whoever waits for a census that has failed is answered at once.
        this.#object.guard(() => {
          if (presenceMap.listed(reply, this.#object.nowMs)) this.#slice(presenceMap);
          this.#object.acted();
        });
      },
    });
  }

  #slice(presenceMap: PresenceMap): void {
    const turnMs = this.#context.turns(this.#object.name);
    this.#object.job(
      () => presenceMap.slice(this.#object.nowMs),
      (isOver) => {
        if (isOver === false) this.#incarnation.after(turnMs(), () => this.#slice(presenceMap));
        else if (!this.#incarnation.over) this.#object.acted();
      },
    );
  }

  #tell(telling: PresenceTelling): void {
    const { channel } = telling.map;
    this.#context.network.call<PresenceTold, PresenceToldReply>({
      kind: "tell",
      from: this.#object.name,
      to: channel,
      request: telling.told,
      incarnation: this.#incarnation,
      waitMs: limits.objectAnswerMs,
      carryOut: (told, answer) => this.#context.channel(channel).presenceTold(told, answer),
      answered: (reply) => {
        this.#channel.teller?.answered(telling, reply ?? "failed", this.#object.nowMs);
        this.#object.acted();
      },
    });
  }
}

/** A command or a request, as far as it says whether it reads a map from its beginning. */
type PresenceCall = {
  readonly method: string;
  readonly request?: unknown;
};

function readsKeys({ method, request }: PresenceCall): boolean {
  if (method !== "map_state") return method === "map_read_state" || method === "map_stats";
  return !(
    typeof request === "object" &&
    request !== null &&
    "since" in request &&
    request.since !== undefined
  );
}

/** Undefined unless the channel has presence maps, or is one. */
export function presenceHost(
  channel: Channel,
  object: PresenceObject,
  context: WorldContext,
  incarnation: Incarnation,
): PresenceHost | undefined {
  return channel.presenceMap === undefined && channel.teller === undefined
    ? undefined
    : new PresenceHost(channel, object, context, incarnation);
}
