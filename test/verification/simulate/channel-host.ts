import { publishes } from "../../../src/access/operations.ts";
import type { ConnectionClaims } from "../../../src/access/claims.ts";
import type { ChannelAnswers, ChannelOperation } from "../../../src/contract/channel-call.ts";
import type {
  PresenceKind,
  PresenceTold,
  PresenceToldReply,
} from "../../../src/contract/presence-call.ts";
import type { CarriedOut, NumberedOrder } from "../../../src/contract/user-order.ts";
import { executeAll } from "../../../src/api/execute.ts";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { SingleChannel } from "../../../src/session/single-channel.ts";
import { presenceSetup } from "../../../src/channel/channel-setup.ts";
import { storedTables } from "../../../src/channel/stored-tables.ts";
import type { ChannelOptions } from "../../../src/config/config.ts";
import { recoveryLimitOf } from "../../../src/channel/channel-map.ts";
import { historyOptionsOf } from "../../../src/channel/map-store.ts";
import { limits } from "../../../src/limits.ts";
import type { Publication, StreamPosition } from "../../../src/protocol/publication.ts";
import { replyToRequests } from "../../../src/channel/relay-replies.ts";
import type {
  RelayReplies,
  ChannelPresenceReply,
  RelayRequest,
} from "../../../src/contract/relay-request.ts";
import { Alarm } from "./alarm.ts";
import { presenceReply } from "./channel-jobs.ts";
import type { ChannelMemory as Memory } from "./channel-memory.ts";
import { CommitTurns } from "./commit-turns.ts";
import { deliver } from "./deliver-batch.ts";
import { Holder } from "./holder.ts";
import { Incarnation, NextTimer, TurnTimer } from "./incarnation.ts";
import { MapModel, modelledMap } from "./map-model.ts";
import { Model } from "./model.ts";
import { ObjectSockets, type SocketMemory } from "./object-sockets.ts";
import type { Done, ChannelCalls, WorldContext } from "./world-context.ts";
import type { ClientEnd, Socket } from "./socket.ts";
import { Storage } from "./storage.ts";
import { WatchedChannel } from "./watched-channel.ts";
import { ownSessions } from "./own-sessions.ts";
import { pollHost } from "./poll-host.ts";
import { presenceHost } from "./presence-host.ts";
import { presenceKindOf } from "./presence-kinds.ts";
import { sharedPresence } from "./shared-presence-host.ts";

/**
 * A simulated channel object: storage, an alarm and sockets that outlive its memory, and the memory. It drives the core
 * as the real object does.
 */
export class ChannelHost implements ChannelCalls {
  readonly name: string;
  readonly #context: WorldContext;
  readonly #options: ChannelOptions;
  readonly #storage: Storage;
  readonly #sockets: ObjectSockets;
  readonly #turnMs: () => number;
  readonly #model: Model;
  readonly #mapModel: MapModel | undefined;
  readonly #alarm: Alarm;
  #memory: Memory | undefined;
  #incarnations = 0;
  #epochs = 0;
  #upAtMs = 0;
  #newestInstanceMs = 0;
  /** The object crashes at its next commit: nothing that the commit causes leaves the object. */
  crashesAtCommit = false;
  /** The error of the clock of the object's machine, ms. */
  skewMs = 0;
  failedWrites = 0;

  constructor(name: string, context: WorldContext) {
    this.name = name;
    this.#context = context;
    const { config, timeline } = context;
    const resolved = resolveChannel(name, config.channel);
    if (resolved.outcome !== "resolved") throw new Error(resolved.outcome);
    this.#options = resolved.options;
    const owner = {
      save: () => this.#save(),
      committed: () => this.#committed(),
      failed: () => {
        this.failedWrites++;
        timeline.after(brokenMs, () => {
          if (this.#storage.broken) this.crash();
        });
      },
    };
    this.#turnMs = context.turns(name);
    this.#alarm = new Alarm(timeline, () => this.reach((memory) => this.#runAlarm(memory)));
    this.#storage = new Storage(timeline, owner, context.commits(name), context.database());
    this.#sockets = new ObjectSockets(context, this);
    const { size, ttlMs, metaTtlMs } = historyOptionsOf(resolved.options);
    this.#model = new Model(
      { historySize: size, historyTtlMs: ttlMs, historyMetaTtlMs: metaTtlMs },
      recoveryLimitOf(resolved.options, config.client),
      () => `epoch${this.#epochs}`,
    );
    const map = modelledMap(resolved.options);
    this.#mapModel = map && new MapModel(this.#model, map);
  }

  /** The time by the object's clock, ms since 1970. */
  get nowMs(): number {
    return this.#context.timeline.nowMs + this.skewMs;
  }

  /** The gateways that follow the channel. */
  get gateways(): readonly string[] {
    return this.#awake().channel.relay.gateways;
  }

  /** The top of the stream. */
  get top(): StreamPosition | undefined {
    return this.#awake().channel.top;
  }

  get hasHistory(): boolean {
    return this.#awake().channel.hasHistory;
  }

  execute(commands: readonly ChannelOperation[], answer: Done<ChannelAnswers>): void {
    this.#whenReady(commands, answer, (memory) => ({
      outcome: "answers",
      answers: executeAll(memory.channel, commands, this.nowMs),
    }));
  }

  ask(gateway: string, requests: readonly RelayRequest[], answer: Done<RelayReplies>): void {
    this.#whenReady(requests, answer, (memory) => ({
      outcome: "answers",
      answers: replyToRequests(memory.channel, gateway, requests, this.nowMs),
    }));
  }

  present(answer: Done<ChannelPresenceReply>): void {
    this.reach((memory) => {
      const done = memory.incarnation.busy(() => answer(undefined));
      memory.presence.ask({
        codec: undefined,
        done: (present) => {
          this.#storage.gate(() => {
            if (memory.incarnation.over) return;
            done();
            answer(presenceReply(present));
          });
        },
      });
    });
  }

  shown(kind: PresenceKind, answer: Done<ChannelPresenceReply>): void {
    this.reach(({ presenceMaps }) => presenceMaps?.list(kind, answer));
  }

  presenceTold(told: PresenceTold, answer: Done<PresenceToldReply>): void {
    this.reach(({ presenceMaps }) => presenceMaps?.told(told, answer));
  }

  carryOut(user: string, orders: readonly NumberedOrder[], answer: Done<CarriedOut>): void {
    this.reach(({ holder, sessions }) => holder?.carryOut(sessions, user, orders, answer));
  }

  /** A client connects to the object. `claims` are those of the token that the client will connect with. */
  open(client: ClientEnd, claims: ConnectionClaims): Socket {
    return this.#sockets.open(client, claims);
  }

  /** The memory and the sockets are lost in the middle of all work. The object is available again a little later. */
  crash(): void {
    const { timeline, eventLog } = this.#context;
    this.#memory?.incarnation.end();
    this.#memory = undefined;
    this.#storage.crash();
    this.#sockets.die();
    if (this.#mapModel?.wake() === true) this.#noteForgotten();
    this.#upAtMs = timeline.nowMs + downMs;
    if (this.#mapModel === undefined && this.#options.sharedPoll === undefined)
      eventLog.note({ process: this.name, type: "info", f: "crash", channel: this.name });
  }

  /** The memory is discarded, if nothing is in progress. */
  evict(): void {
    const memory = this.#memory;
    const isIdle = memory?.incarnation.idle === true && this.#storage.clean;
    if (!isIdle || memory.wokeAtMs === this.#context.timeline.nowMs) return;
    memory.incarnation.end();
    this.#memory = undefined;
    if (this.#mapModel?.wake() !== true) return;
    this.#context.publicationLog.complain(`${this.name} slept before it had written its keys down`);
  }

  /** The write after so many others fails, and the object loses its memory; undefined: no write fails. */
  failAfter(writes: number | undefined): void {
    this.#storage.failAfter(writes);
  }

  /** The connections of all the object's own sockets break; the object lives on. */
  close(): void {
    this.#sockets.break();
  }

  /**
   * The object's clock jumps, but never to before the object's last start: a gateway ignores an instance that seems
   * older than the one before it (rule L1).
   */
  turnClock(byMs: number): void {
    const leastMs = this.#newestInstanceMs + 1 - this.#context.timeline.nowMs;
    this.skewMs = Math.max(this.skewMs + byMs, leastMs);
  }

  /** The keys of a map, and whether it has subscribers. */
  get keys(): readonly string[] {
    return this.#mapModel?.present.map(([key]) => key) ?? [];
  }

  get isHeld(): boolean {
    return this.#awake().channel.isHeld;
  }

  /** At rest no key of a map is left that has ended long before. */
  checkKeys(when: string): void {
    for (const [key, entry] of this.#mapModel?.entries ?? []) {
      if (this.#mapModel?.isOverdue(entry, this.nowMs) === true)
        this.#context.publicationLog.complain(`${this.name} still has ${key} ${when}`);
    }
  }

  /** Returns the database. The world has ended. */
  end(): void {
    this.#storage.close();
  }

  reach(work: (memory: Memory) => void): void {
    const { timeline } = this.#context;
    if (timeline.nowMs < this.#upAtMs) {
      timeline.after(this.#upAtMs - timeline.nowMs, () => this.reach(work));
    } else this.guard(() => work(this.#awake()));
  }

  gate(work: () => void): void {
    this.#storage.gate(work);
  }

  commit(_: SocketMemory, work: () => void, after: () => void): void {
    this.#awake().commits.add({ publishes: true, work, after });
  }

  job<Answer>(job: () => Answer, answer: Done<Answer>): void {
    this.guard(() => this.#work(this.#awake(), true, job, answer));
  }

  acted(): void {
    this.guard(() => this.#settle());
  }

  /** After a failed write, any work may fail: the object is reset soon. */
  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.#storage.broken) throw error;
    }
  }

  #awake(): Memory {
    return (this.#memory ??= this.#wake());
  }

  #wake(): Memory {
    const { config, timeline, users } = this.#context;
    const incarnation = new Incarnation(timeline);
    const sessions = ownSessions(this.name);
    const holder = users && new Holder(this.#context, users, sessions.node, this, incarnation);
    this.#incarnations++;
    const channel = this.#newChannel();
    this.#newestInstanceMs = Math.max(this.#newestInstanceMs, channel.relay.instance);
    const turnMs = this.#turnMs;
    const presence = sharedPresence(channel, this, this.#context, incarnation, turnMs);
    const presenceMaps = presenceHost(channel, this, this.#context, incarnation);
    const polls = pollHost(channel, config, this, this.#context, incarnation);
    const clock = (): number => this.nowMs;
    const memory: Memory = {
      incarnation,
      wokeAtMs: timeline.nowMs,
      channel,
      sendTimer: new TurnTimer(incarnation, this.#turnMs, () => {
        channel.hub.sendSlice();
        this.guard(() => this.#settle());
      }),
      retryTimer: new NextTimer(incarnation, () => this.guard(() => this.#settle())),
      restTimer: new NextTimer(incarnation, () => {
        this.guard(() => {
          channel.map?.rest(this.nowMs);
          this.#settle();
        });
      }),
      commits: new CommitTurns(incarnation, channel, {
        guard: (work) => this.guard(work),
        settle: () => this.#settle(),
        gate: (work) => this.#storage.gate(work),
        nowMs: clock,
      }),
      presence,
      presenceMaps,
      polls,
      hadStorage: storedTables(this.#storage).size > 0,
      sessions: new Map(),
      turns: new Map(),
      context: {
        config,
        channels: new SingleChannel(
          channel,
          config.channel,
          presence,
          clock,
          undefined,
          polls?.tracking,
        ),
        ...sessions,
        ...(holder === undefined ? {} : { users: holder.users }),
      },
      ...(holder === undefined ? {} : { holder }),
    };
    this.#sockets.restore(memory);
    return memory;
  }

  #newChannel(): WatchedChannel {
    const { name, nowMs } = this;
    const { config, publicationLog, eventLog, fanOut } = this.#context;
    const sql = this.#storage;
    const newEpoch = (): string => `epoch${++this.#epochs}`;
    const setup = { name, options: this.#options, client: config.client, fanOut: fanOut(name) };
    const incarnation = this.#incarnations;
    return new WatchedChannel(
      { ...setup, ...presenceSetup(name, config.channel), sql, newEpoch, instance: nowMs, nowMs },
      {
        model: this.#model,
        broken: () => sql.broken,
        changed: (publication) => this.#noteChange(publication),
        published: (json, position) => {
          const data: string = JSON.parse(json);
          publicationLog.publish(name, {
            data,
            incarnation,
            ...(position === undefined ? {} : { position }),
          });
        },
        forgot: (what) => {
          if (this.#mapModel !== undefined) {
            this.#noteForgotten();
            return;
          }
          eventLog.note({ process: name, type: "info", f: "forget", channel: name, what });
        },
        complain: (what) => publicationLog.complain(`${name} ${what}`),
      },
    );
  }

  /** Restores the state besides the rows when a write that isn't durable is undone. */
  #save(): () => void {
    const { publicationLog } = this.#context;
    const alarm = this.#alarm.time;
    const { state } = this.#model;
    const count = publicationLog.count(this.name);
    return () => {
      this.#alarm.restore(alarm);
      this.#model.state = state;
      publicationLog.undo(this.name, count);
    };
  }

  #committed(): boolean {
    if (!this.crashesAtCommit) return true;
    this.crashesAtCommit = false;
    this.crash();
    return false;
  }

  #noteChange(publication: Publication): void {
    if (presenceKindOf(this.name) === undefined) return;
    const hasEnded = this.#mapModel?.hasEnded(publication.key ?? "", this.nowMs) === true;
    this.#context.presence.changed(this.name, publication, hasEnded);
  }

  #noteForgotten(): void {
    const { eventLog } = this.#context;
    if (presenceKindOf(this.name) !== undefined) return;
    eventLog.note({ process: this.name, type: "info", f: "map-forget", channel: this.name });
  }

  /** Carries calls out; those that read a presence map wait for its census (rule Z22). */
  #whenReady<Answers extends ChannelAnswers | RelayReplies>(
    calls: readonly { readonly method: string; readonly request?: unknown }[],
    answer: Done<Answers | Busy>,
    carryOut: (memory: Memory) => Answers,
  ): void {
    this.reach((memory) => {
      const work = (outcome: "ready" | "failed"): void => {
        const job = (): Answers | Busy => (outcome === "ready" ? carryOut(memory) : busy);
        this.#work(memory, calls.some(publishes), job, answer);
      };
      const { presenceMaps } = memory;
      if (presenceMaps === undefined) work("ready");
      else presenceMaps.readyFor(calls, () => answer(undefined), work);
    });
  }

  /** Does a job in its turn, and answers when the job's writes are durable. */
  #work<Answer>(memory: Memory, waits: boolean, job: () => Answer, answer: Done<Answer>): void {
    const done = memory.incarnation.busy(() => answer(undefined));
    const work = (): void => {
      const result = job();
      // The alarm is in the same commit as what the job wrote (rule L4).
      this.#schedule(memory);
      this.#storage.gate(() => {
        if (memory.incarnation.over) return;
        done();
        answer(result);
      });
    };
    memory.commits.add({ publishes: waits, work, after: nothing });
  }

  /** Makes the calls that are due, and sets the alarm for the next ones (rule L4). */
  #settle(): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    const { hub, map } = memory.channel;
    map?.tellLoss(this.nowMs);
    if (map !== undefined) memory.restTimer.set(map.restInMs(this.nowMs));
    memory.presenceMaps?.settle();
    memory.polls?.settle();
    if (!memory.commits.committing) this.#send(memory);
    if (hub.sending) memory.sendTimer.set();
    if (!hub.full) memory.commits.resume();
    this.#schedule(memory);
  }

  #send(memory: Memory): void {
    const { relay, top, hub } = memory.channel;
    const caller = { object: this, relay, incarnation: memory.incarnation };
    for (const delivery of relay.deliveries(top, this.nowMs))
      deliver(delivery, caller, this.#context);
    memory.retryTimer.set(relay.retryInMs(this.nowMs));
    hub.begin();
  }

  #schedule(memory: Memory): void {
    const { channel } = memory;
    const { nowMs } = this;
    channel.noteHolders(nowMs);
    memory.hadStorage ||= !channel.storesNothing;
    const cleanupMs = channel.cleanupDueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    const firstMs = Math.min(
      cleanupMs,
      channel.relay.alarmAtMs(nowMs),
      this.#sockets.dueAtMs(memory),
      memory.polls?.alarmAtMs() ?? Number.POSITIVE_INFINITY,
      channel.presenceMap?.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY,
    );
    if (this.#alarm.covers(firstMs)) return;
    this.#storage.write();
    this.#alarm.set(firstMs, nowMs);
  }

  #runAlarm(memory: Memory): void {
    const { channel } = memory;
    // If the object crashes before this work is durable, the alarm runs again.
    this.#storage.write();
    this.#alarm.restore(undefined);
    const { nowMs } = this;
    this.#sockets.tick(memory);
    if (nowMs - (channel.newestMs ?? 0) < limits.crashCheckMs) channel.relay.checkAfterWaking();
    channel.map?.expire(nowMs);
    channel.presenceMap?.ring(nowMs);
    channel.deleteExpired(nowMs);
    this.#settle();
    if ((channel.presenceMap?.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY) <= nowMs)
      this.#context.publicationLog.complain(`${this.name} has its alarm ring in vain`);
    if (channel.storesNothing && memory.hadStorage) {
      this.#storage.deleteAll();
      memory.hadStorage = false;
    }
  }
}

function nothing(): void {
  // Most jobs need nothing besides their answer.
}

/** What an object answers that can't find out the keys of a presence map. */
const busy = { outcome: "overloaded", retryAfterSeconds: 1 } as const;
type Busy = typeof busy;

/** How long a crashed object is unavailable. */
const downMs = 20;
/** How long an object whose write failed goes on before it is reset. */
const brokenMs = 2;
