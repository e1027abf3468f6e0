import {
  type DisconnectCode,
  disconnectCodes,
  type ErrorCode,
  errorCodes,
} from "../protocol/codes.ts";
import { limits } from "../limits.ts";
import {
  type Command,
  type SubscribeRequest,
  subRefreshTypes,
  subscriptionTypes,
} from "../protocol/command.ts";
import {
  asksBeforePublish,
  publish,
  readHistory,
  seePresence,
  callMethod,
  passMessage,
} from "./commands.ts";
import {
  channelOf,
  CommandQueue,
  orderedBy,
  readsOf,
  type ReceivedCommand,
  ReplyOrder,
} from "./command-queue.ts";
import { carryOutConnect } from "./connect.ts";
import {
  type Decision,
  type DecisionDone,
  disconnectWith,
  failWith,
  outOfTurn,
  refuseWith,
  whyFailed,
  type Why,
} from "./decision.ts";
import { optionsPlace } from "../config/name-parts.ts";
import { awaitedChannel } from "./dependence/dependents.ts";
import { pong } from "./liveness.ts";
import { refuseOnlooker } from "./onlooker.ts";
import { namerOf } from "./named-channels.ts";
import type { CommandSession, RunningCommand, VerifiedTokens } from "./ports.ts";
import { CommandRateLimit } from "./rate-limit.ts";
import { carryOutRefresh, carryOutSubRefresh, changeTracks } from "./refresh.ts";
import { asksBeforeSubscribe, carryOutSubscribe } from "./subscribe.ts";
import { toldClose, toldError } from "../access/told-reason.ts";
import { unidirectionalDisconnect } from "./unidirectional.ts";

/**
 * Carries out one session's commands in order (rule O6) and applies the decisions on them. `command-queue.ts` draws the
 * queues that a command passes. Connect, subscribe, refresh and the channel commands are carried out in files of their
 * own; the session sends, saves and disconnects.
 *
 * An object has thousands of sessions, of which few have a command under way: only these have an executor.
 */
export class CommandExecutor {
  readonly #session: CommandSession;
  /** Undefined while no command has to wait for another one. */
  #queue: CommandQueue | undefined;
  /** For each key whose commands let others have a turn: whether they go on then. Undefined before the first. */
  #turns: Map<string, boolean> | undefined;
  /** Undefined while no reply is outstanding. */
  #replyOrder: ReplyOrder | undefined;
  readonly #rateLimit: CommandRateLimit;
  /** How many reads are under way, of all commands (rule B16). */
  #reads = 0;

  constructor(session: CommandSession) {
    this.#session = session;
    const { config, userRates } = session.context;
    this.#rateLimit = new CommandRateLimit(config, userRates);
  }

  /** Carries out one command, or queues it; see `Session.receive`. */
  receive(command: Command, tokens: VerifiedTokens, nowMs: number, busy: boolean): void {
    if (this.#session.ignoresCommands) return;
    this.#session.context.counts?.command(command.method);
    const isOutOfTurn = (command.method === "connect") !== this.#session.awaitsConnect;
    const refused = isOutOfTurn ? outOfTurn : refuseOnlooker(this.#session, command);
    if (refused !== undefined) {
      this.#apply({ command, tokens, nowMs, busy }, refused);
      return;
    }
    const channel = channelOf(command) ?? "";
    const { user, connecting } = this.#session;
    const taken = this.#rateLimit.admit(command.method, user, channel, nowMs);
    const received = { command, tokens, nowMs, busy };
    if (user === "" && connecting) this.#admit(taken, { ...received, beforeUser: true });
    else this.#admit(taken === "granted" ? this.#takeChannel(command, nowMs) : taken, received);
  }

  /** Takes the channel that a command makes the server turn to, unless the connection is subscribed to it. */
  #takeChannel(command: Command, nowMs: number): ReturnType<CommandRateLimit["admit"]> {
    const channel = this.#unfamiliar(command);
    return channel === undefined ? "granted" : this.#takeNamed(channel, nowMs);
  }

  #takeNamed(channel: string, nowMs: number): ReturnType<CommandRateLimit["admit"]> {
    const { context, identity: namer } = this.#session;
    return this.#rateLimit.takeChannel(channel, context.namedChannels, namerOf(namer), nowMs);
  }

  /** Carries a command out, or queues it, unless it is over a rate. */
  #admit(taken: ReturnType<CommandRateLimit["admit"]>, received: ReceivedCommand): void {
    switch (taken) {
      case "granted":
        this.#enter(received);
        return;
      case "over":
        this.#apply(received, { outcome: "error", error: tooManyRequests, why: this.#exceeded() });
        return;
      case "far-over": {
        const code = disconnectCodes.tooManyRequests;
        this.#apply(received, { outcome: "disconnect", code, why: this.#exceeded() });
      }
    }
  }

  /** Whether a keep-alive text that reached the object is to be answered. It counts like a command (rule B7). */
  allowsKeepalive(nowMs: number): boolean {
    const taken = this.#rateLimit.admit("ping", this.#session.user, "", nowMs);
    if (taken === "far-over") this.#session.disconnect(disconnectCodes.tooManyRequests);
    return taken === "granted";
  }

  /**
   * Whether a new executor would do as well: no command waits, no reply is outstanding, and the buckets of the rate
   * limit are full.
   */
  isIdle(nowMs: number): boolean {
    const isWaiting =
      this.#queue !== undefined || this.#replyOrder !== undefined || this.#reads > 0;
    return !isWaiting && this.#rateLimit.isFull(nowMs);
  }

  /** What commands waited for has happened, unless a connect is under way: they are carried out, or wait on. */
  admitted(): void {
    if (!this.#session.connecting && this.#queue?.isOpen(connectKey) === true)
      this.#resume(connectKey);
  }

  /** The connection has ended: no command is carried out or answered any more. */
  clear(): void {
    this.#queue = undefined;
    this.#replyOrder?.clear();
  }

  /** Why a command is refused: it exceeds a rate of the configuration, or another one. */
  #exceeded(): Why {
    const { exceeded } = this.#rateLimit;
    return exceeded === undefined
      ? whyFailed(tooManyRequests)
      : { rule: "B22", reason: `client.rate_limit.${exceeded} is exceeded` };
  }

  /** The channel that a command makes the server turn to, unless the connection is subscribed to it. */
  #unfamiliar(command: Command): string | undefined {
    switch (command.method) {
      case "subscribe":
      case "publish":
      case "presence":
      case "presence_stats":
      case "history": {
        const { channel } = command.request;
        return this.#session.subscriptions.has(channel) ? undefined : channel;
      }
      case "connect":
      case "unsubscribe":
      case "refresh":
      case "sub_refresh":
      case "rpc":
      case "send":
      case "ping":
      case "pong":
        return undefined;
    }
  }

  #enter(received: ReceivedCommand): void {
    const { command } = received;
    if (command.method === "subscribe" && this.#isParallel(command.request)) {
      const reason = "another page of the map is being read";
      this.#apply(received, refuseWith(errorCodes.concurrentPagination, "Z16", reason));
      return;
    }
    const waits = this.#waitsForConnect(command);
    if (waits && this.#queue?.isOpen(connectKey) !== true) this.#open(connectKey);
    const channel = awaitedChannel(this.#session.context, this.#queue, channelOf(command));
    const key = waits ? connectKey : channel;
    // A subscribe reply can't wait in ReplyOrder, because publications follow it at once. So the subscribe itself waits
    // until all earlier commands for the channel are answered (rules O3, O6).
    const mustWait =
      key !== undefined && command.method === "subscribe" && this.#replyOrder?.isOpen(key) === true;
    if (mustWait && this.#queue?.isOpen(key) !== true) this.#open(key);
    if (key === undefined || this.#queue?.isOpen(key) !== true) {
      this.#carryOut(received);
    } else if (!this.#queue.enqueue(key, received)) {
      this.#apply(received, failWith(tooManyRequests));
    }
  }

  /** Whether another request of the same flow is being answered, so that this one is refused (docs/protocol.md 3.4). */
  #isParallel({ channel, type }: SubscribeRequest): boolean {
    return (
      type !== subscriptionTypes.stream &&
      this.#session.subscriptions.flow(channel)?.answering === true
    );
  }

  /**
   * Whether a command waits for the connect reply, for reads that are under way (rule B16), for the user's home (rule
   * U39), or behind a command that waits.
   *
   * Until the home has answered, the client's first subscribes go on, because all their effects are held back. But two
   * kinds wait. A subscribe with a token waits because the home may know that the token is invalid (rule U11), and then
   * nothing of the channel may reach the client. A subscribe about which a backend is asked waits because no backend is
   * asked for a blocked user.
   */
  #waitsForConnect(command: Command): boolean {
    const { connecting, held } = this.#session;
    if (command.method === "pong") return connecting;
    if (connecting || this.#queue?.isOpen(connectKey) === true) return true;
    const reads = this.#reads === 0 ? 0 : this.#reads + readsOf(command, this.#session.context);
    if (reads > limits.readsUnderWayMax) return true;
    if (!held) return false;
    if (command.method !== "subscribe" || command.request.token !== "") return true;
    return asksBeforeSubscribe(this.#session, command.request.channel);
  }

  #open(key: string): void {
    this.#queue ??= new CommandQueue();
    this.#queue.open(key);
  }

  /**
   * Carries out the commands that waited, in order and in turns (rule B17); one may make the rest wait again. After a
   * refused connect it drops them.
   */
  #resume(key: string): void {
    if (this.#turns?.has(key) === true) {
      this.#turns.set(key, true);
      return;
    }
    const { later } = this.#session.context;
    const all = this.#queue?.close(key) ?? [];
    if (this.#queue?.isOpen(connectKey) === true) {
      // All commands wait. Those for this channel that wait for the same came later.
      this.#queue.putFirst(connectKey, all);
      return;
    }
    if (this.#queue?.idle === true) this.#queue = undefined;
    const waited = later === undefined ? all : all.slice(0, limits.frameTurnCommands);
    for (const received of waited) {
      if (this.#session.identity.phase !== "connected") continue;
      const { beforeUser, ...counted } = received;
      const { command, nowMs } = counted;
      const { user } = this.#session;
      const taken =
        beforeUser === true && user !== ""
          ? this.#rateLimit.takeForUser(command.method, user, channelOf(command) ?? "", nowMs)
          : "granted";
      const isNew = beforeUser === true && taken === "granted";
      this.#admit(isNew ? this.#takeChannel(command, nowMs) : taken, counted);
    }
    const rest = all.slice(waited.length);
    if (waited.length === 0 || this.#session.ignoresCommands) return;
    // Behind a command that makes all others wait, the rest waits as well, or that one would come after it.
    const restKey = this.#queue?.isOpen(connectKey) === true ? connectKey : key;
    const isLeft = rest.length > 0 && this.#queue?.isOpen(restKey) !== true;
    if (isLeft) this.#open(restKey);
    for (const received of rest) this.#queue?.enqueue(restKey, received);
    if (this.#queue?.isOpen(key) === true) this.#giveTurn(key, isLeft);
  }

  /**
   * Others have a turn before waiting commands go on.
   *
   * @param goOn whether they go on then; otherwise what they wait for has to happen first, and it may in this event
   */
  #giveTurn(key: string, goOn: boolean): void {
    const { later } = this.#session.context;
    if (later === undefined) return;
    const turns = (this.#turns ??= new Map());
    turns.set(key, goOn);
    later(0, () => {
      const goesOn = turns.get(key);
      turns.delete(key);
      if (goesOn === true) this.#resume(key);
    });
  }

  #inOrder(channel: string, apply: DecisionDone): DecisionDone {
    this.#replyOrder ??= new ReplyOrder((emptied) => {
      if (this.#replyOrder?.idle === true) this.#replyOrder = undefined;
      this.#resume(emptied);
    });
    return this.#replyOrder.reserve(channel, apply);
  }

  #carryOut(given: ReceivedCommand): void {
    const { command } = given;
    const hasToken = (given.tokens.connection ?? given.tokens.subscription) !== undefined;
    // For its connect's own token, a session asks the token's home itself.
    const tokens =
      hasToken && command.method !== "connect" ? this.#validTokens(given) : given.tokens;
    const received = tokens === given.tokens ? given : { ...given, tokens };
    const apply = (decision: Decision): void => {
      this.#apply(received, decision);
    };
    const channel = orderedBy(command);
    const applyInOrder = channel === undefined ? apply : this.#inOrder(channel, apply);
    const taken = readsOf(command, this.#session.context);
    this.#reads += taken;
    this.#execute(received, (decision) => {
      if (decision.outcome === "disconnect") apply(decision);
      else applyInOrder(decision);
      if (taken === 0) return;
      this.#reads -= taken;
      this.admitted();
    });
  }

  #validTokens({ tokens, nowMs }: ReceivedCommand): VerifiedTokens {
    const { registrar } = this.#session.context;
    return registrar?.validTokens(this.#session, tokens, nowMs) ?? tokens;
  }

  #execute({ command, tokens, nowMs, busy }: ReceivedCommand, done: DecisionDone): void {
    const session = this.#session;
    const of = <Request>({ id, request }: Pick<RunningCommand<Request>, "id" | "request">) => {
      const running: RunningCommand<Request> = { session, id, request, nowMs, done };
      return running;
    };
    const turnTo = (channel: string): boolean =>
      session.subscriptions.has(channel) || this.#takeNamed(channel, nowMs) === "granted";
    switch (command.method) {
      case "connect":
        this.#open(connectKey);
        carryOutConnect(
          {
            ...of(command),
            done: (decision) => {
              done(decision);
              this.#resume(connectKey);
            },
          },
          tokens.connection,
        );
        return;
      case "subscribe":
        // Commands for the channel wait until the subscribe is answered, whether it succeeds or fails.
        this.#open(command.request.channel);
        carryOutSubscribe(of(command), tokens.subscription);
        return;
      case "unsubscribe":
        done(unsubscribe(session, command.id, command.request.channel));
        return;
      case "refresh":
        done(carryOutRefresh(session, command.id, tokens.connection, nowMs));
        return;
      case "sub_refresh":
        if (command.request.type === subRefreshTypes.token)
          done(
            carryOutSubRefresh(session, command.id, command.request, tokens.subscription, nowMs),
          );
        else changeTracks(of(command), tokens);
        return;
      case "publish":
        if (busy) {
          done(failWith(tooManyRequests));
          return;
        }
        // Commands for the channel wait until the backend has decided, or a later publish could come first (rule Q3).
        if (tokens.mayPublish === undefined && asksBeforePublish(session, command.request.channel))
          this.#open(command.request.channel);
        publish(of(command), tokens.mayPublish);
        return;
      case "presence":
      case "presence_stats":
        seePresence(of(command), command.method);
        return;
      case "history":
        readHistory(of(command));
        return;
      case "rpc":
        callMethod(of(command), turnTo);
        return;
      case "send":
        passMessage({ session, nowMs, done }, command.request.data, turnTo);
        return;
      case "ping":
        done(outOfTurn);
        return;
      case "pong":
        done(pong(session, nowMs));
    }
  }

  /** Reports a refused command to the log (rule A13), and gives the reason. */
  #report(command: Command, { code }: DisconnectCode | ErrorCode, why: Why): string {
    const { context, user } = this.#session;
    const { refused, config } = context;
    const channel = channelOf(command);
    const { rule, ofNamespace } = why;
    let { reason } = why;
    if (channel !== undefined && ofNamespace === true)
      reason = `${optionsPlace(channel, config.channel)}: ${reason}`;
    const named = channel === undefined ? {} : { channel };
    refused?.({ refused: command.method, rule, reason, code, user, ...named });
    return reason;
  }

  #apply({ command, nowMs }: ReceivedCommand, decision: Decision): void {
    const session = this.#session;
    if (session.closed) return;
    const { client } = session.context.config;
    switch (decision.outcome) {
      case "disconnect": {
        const reason = this.#report(command, decision.code, decision.why);
        session.disconnect(toldClose(decision.code, reason, client));
        return;
      }
      case "silent":
        session.change(decision.changes);
        return;
      case "error": {
        const why = decision.why ?? whyFailed(decision.error);
        const reason = this.#report(command, decision.error, why);
        if (session.unidirectional) {
          session.disconnect(toldClose(unidirectionalDisconnect(decision.error), reason, client));
          return;
        }
        session.context.counts?.replyError(command.method, decision.error);
        session.change(decision.changes);
        // `send` has no id, so it can't be answered with an error: it is over a limit.
        if (command.method === "send") session.disconnect(whyNotSent(session));
        else if (command.method !== "pong")
          session.reply(
            { id: command.id, error: toldError(decision.error, reason, client), to: command },
            nowMs,
          );
        return;
      }
      case "reply":
        session.change(decision.changes);
        if (command.method === "publish") this.#catchUp(command.request.channel);
        else if (decision.after !== undefined) this.#catchUp(decision.after);
        if (!session.reply(decision.reply, nowMs)) decision.refused?.();
    }
  }

  /** Sends the client the publication that it must get before the publish reply (rule O4). */
  #catchUp(channel: string): void {
    const { subscriptions, context } = this.#session;
    const subscription = subscriptions.get(channel);
    if (subscription !== undefined) context.channels.catchUp(subscription);
  }
}

function unsubscribe(session: CommandSession, id: number, channel: string): Decision {
  if (channel === "")
    return disconnectWith(disconnectCodes.badRequest, "W1", "the channel name is empty");
  session.leave(channel);
  return { outcome: "reply", reply: { id, method: "unsubscribe" } };
}

/** The code for a message over a limit: without a hook, messages aren't available at any rate. */
function whyNotSent({ context }: CommandSession): DisconnectCode {
  return context.config.hooks.message === undefined
    ? disconnectCodes.notAvailable
    : disconnectCodes.tooManyRequests;
}

const { tooManyRequests } = errorCodes;

/** The key of the connect, and of other things for which all commands wait. No channel has this name. */
const connectKey = "";
