import { errorOf } from "../../contract/channel-call.ts";
import { fullForDelta } from "../../delta/delta-chain.ts";
import { disconnectCodes, type ErrorCode, errorCodes } from "../../protocol/codes.ts";
import type { Message } from "../../protocol/codec.ts";
import { mapPhases, type SubscribeRequest, subscriptionTypes } from "../../protocol/command.ts";
import type { Publication, StreamPosition } from "../../protocol/publication.ts";
import { bareSubscribeResult, type SubscribeResult } from "../../protocol/reply.ts";
import {
  type Decision,
  type DecisionDone,
  disconnectWith,
  failWith,
  refuseWith,
  silent,
} from "../../session/decision.ts";
import { endOf, replyTtlSeconds } from "../../session/grant.ts";
import { MapFlow } from "./map-flow.ts";
import type { Subscribed } from "../../session/channels.ts";
import type { CommandSession, GrantedSubscribe, RunningCommand } from "../../session/ports.ts";
import { mayRead, readInVain } from "../../session/rate-limit.ts";

/**
 * Begins a client's synchronisation with a map, with the first request of its flow (docs/protocol.md 3.4).
 */
export function beginMapFlow(granted: GrantedSubscribe): void {
  const { session, request, grant, options, nowMs, done } = granted;
  const { map } = options;
  if (map === undefined) {
    done(failWith(errorCodes.notAvailable));
    return;
  }
  const subscription = session.newSubscription(grant.subscription);
  const { recover, epoch, offset, phase, type } = request;
  const since = recover && phase !== mapPhases.state ? { epoch, offset } : undefined;
  const flow = new MapFlow(grant, subscription, map, type, since, nowMs);
  session.subscriptions.addFlow(flow);
  new FlowStep(granted, flow).run();
}

/**
 * Goes on with a flow, if the request is a later one of it. Neither permissions, nor a token, nor a backend are asked
 * again.
 *
 * @returns whether the request is answered; false if it has to be treated as a first one
 */
export function continueMapFlow(command: RunningCommand<SubscribeRequest>): boolean {
  const { session, request, nowMs, done } = command;
  const { subscriptions } = session;
  const flow = subscriptions.flow(request.channel);
  const isOfMap = request.type !== subscriptionTypes.stream;
  if (!isOfMap || !(flow instanceof MapFlow)) return false;
  if (flow.isOver(nowMs)) {
    subscriptions.dropFlow(request.channel);
    done(
      disconnectWith(
        disconnectCodes.slow,
        "Z17",
        "the synchronisation with the map takes too long",
      ),
    );
    return true;
  }
  if (request.phase === mapPhases.state && request.cursor === "") {
    // The client starts again, as the SDK does when the epoch has changed.
    subscriptions.dropFlow(request.channel);
    return false;
  }
  new FlowStep(command, flow).run();
  return true;
}

/**
 * The decision on a request that belongs to a flow which the server doesn't have; undefined for a first request. If the
 * client has read a page, the flow was lost with the object's memory: after a temporary error the client starts again,
 * whatever it does when a position can't be recovered (rule Z16).
 */
export function lostFlow(
  { context }: CommandSession,
  request: SubscribeRequest,
): Decision | undefined {
  const { channel, phase, cursor, recover, epoch } = request;
  const isFirst = cursor === "" && (phase !== mapPhases.stream || recover);
  if (isFirst) return undefined;
  if (epoch === "") {
    const reason = "the cursor is of no page that the client has read";
    return refuseWith(errorCodes.permissionDenied, "Z16", reason);
  }
  context.counts?.mapSynchronised(channel, "lost");
  const reason = "the object has lost its memory of the pages";
  return refuseWith(errorCodes.concurrentPagination, "Z16", reason);
}

/**
 * One request of a flow. Pages of the state leave out what was changed after the first page was read. With the last one
 * the subscription begins as an ordinary subscribe that recovers from there. If the client has missed too many changes
 * for that, it reads them in pages of the stream first.
 */
class FlowStep {
  readonly #session: CommandSession;
  readonly #id: number;
  readonly #request: SubscribeRequest;
  readonly #flow: MapFlow;
  readonly #nowMs: number;
  readonly #done: DecisionDone;

  constructor(
    { session, id, request, nowMs, done }: RunningCommand<SubscribeRequest>,
    flow: MapFlow,
  ) {
    this.#session = session;
    this.#id = id;
    this.#request = request;
    this.#flow = flow;
    this.#nowMs = nowMs;
    this.#done = done;
  }

  run(): void {
    const { phase, epoch } = this.#request;
    const { position, hasStream } = this.#flow;
    this.#flow.answering = true;
    const isOther = epoch !== "" && position !== undefined && epoch !== position.epoch;
    if (!mayRead(this.#session, this.#nowMs)) this.#fail(errorCodes.tooManyRequests);
    else if (isOther) this.#fail(errorCodes.unrecoverablePosition);
    else if (phase === mapPhases.state) this.#readState();
    else if (phase === mapPhases.live) this.#goLive();
    else if (phase === mapPhases.stream && hasStream) this.#goLive();
    else this.#fail(errorCodes.badRequest);
  }

  #readState(): void {
    const { cursor, limit } = this.#request;
    const { channel, position: since } = this.#flow;
    const isFirst = since === undefined;
    const request = {
      cursor,
      limit: this.#flow.pageSize(limit),
      ...(isFirst ? {} : { since }),
    };
    const operation = { method: "map_state", request, bytesMax: this.#pageBytesMax } as const;
    const { channels } = this.#session.context;
    channels.request(channel, operation, undefined, this.#nowMs, (reply) => {
      if (!this.#goesOn()) return;
      if (reply.outcome !== "page") {
        this.#fail(errorOf(reply));
        return;
      }
      const { position } = reply;
      this.#flow.position ??= position;
      this.#flow.readOffset = position.offset;
      const state = this.#asReceived(reply.publications);
      if (position.epoch !== this.#flow.position.epoch)
        this.#fail(errorCodes.unrecoverablePosition);
      else if (reply.cursor === "") this.#goLive(state);
      else this.#sendPage(state, reply.cursor);
    });
  }

  /**
   * Begins the subscription, if the changes since the flow's position can be recovered at once.
   *
   * @param state the last page of the state; undefined if the client has it
   */
  #goLive(state?: readonly Publication[]): void {
    const { subscription, position: since, readOffset } = this.#flow;
    const { channels } = this.#session.context;
    const options = {
      positioned: true,
      mode: "stream",
      orFail: true,
      ...(since === undefined ? {} : { since }),
      ...(readOffset > (since?.offset ?? 0) ? { readOffset } : {}),
    } as const;
    this.#flow.joining = true;
    channels.subscribe(subscription, options, this.#nowMs, (reply) => {
      this.#flow.joining = false;
      if (reply.outcome === "failed") {
        if (!this.#goesOn()) return;
        // By number: an error that came from a channel's object is a copy.
        const isTooFar = reply.error.code === errorCodes.unrecoverablePosition.code;
        if (isTooFar) this.#stayBehind(state);
        else this.#fail(reply.error);
        return;
      }
      const subscribed = this.#subscribed(reply, state);
      if (subscribed === "answered") return;
      channels.unsubscribe(subscription);
      if (!this.#goesOn()) return;
      const half = firstHalf(state ?? []);
      // Without a stream, the only smaller reply is a shorter page of the state.
      const isCut = subscribed === "too-large" && half.length > 0 && !this.#flow.hasStream;
      if (isCut) this.#sendPage(half, lastKey(half));
      else this.#stayBehind(state);
    });
  }

  /** @returns why nothing was sent: the reply is too large, or has more changes than the namespace allows */
  #subscribed(
    reply: Subscribed,
    state: readonly Publication[] | undefined,
  ): "answered" | "too-large" | "too-many" {
    const session = this.#session;
    const { subscription, channel, map } = this.#flow;
    const { liveTransitionMaxPublicationLimit: most } = map;
    if (most > 0 && reply.publications.length > most) return "too-many";
    const message = this.#encode(this.#liveResult(reply, state));
    if (message.length > session.context.config.client.queueMaxSizeBytes) return "too-large";
    if (!this.#goesOn() || !this.#fitsBacklog(message)) {
      session.context.channels.unsubscribe(subscription);
      return "answered";
    }
    const { recovering: isRecovering } = this.#flow;
    const { recovered, publications } = reply;
    const { counts } = session.context;
    session.subscriptions.endFlow(channel);
    if (isRecovering) subscription.recoveredTo = reply.position?.offset;
    subscription.begin();
    counts?.subscribed(
      channel,
      isRecovering ? { recovered, publications: publications.length } : undefined,
    );
    if (state !== undefined) counts?.mapPage(channel, "state");
    counts?.mapSynchronised(channel, isRecovering ? "recovered" : "completed");
    session.reportBegun([subscription]);
    session.send(message);
    session.announce(subscription);
    this.#done(silent);
    return "answered";
  }

  /**
   * The client can't be subscribed yet. It gets what it asked for as a page, and asks for a page of the stream next. A
   * map without a stream has no such page: its client starts again.
   */
  #stayBehind(state: readonly Publication[] | undefined): void {
    const { position, hasStream } = this.#flow;
    if (position === undefined || !hasStream) this.#fail(errorCodes.unrecoverablePosition);
    else if (state === undefined) this.#readStream(position);
    else this.#sendPage(state, "");
  }

  #readStream(since: StreamPosition): void {
    const { channel } = this.#flow;
    const limit = this.#flow.pageSize(this.#request.limit);
    const { channels } = this.#session.context;
    const bytesMax = this.#pageBytesMax;
    const operation = { method: "map_stream", request: { since, limit }, bytesMax } as const;
    channels.request(channel, operation, undefined, this.#nowMs, (reply) => {
      if (!this.#goesOn()) return;
      if (reply.outcome === "history") this.#sendStream(reply.publications, reply.position.epoch);
      else this.#fail(errorOf(reply));
    });
  }

  /** Sends a page of the stream, of as many of the changes as fit into a reply. */
  #sendStream(publications: readonly Publication[], epoch: string): void {
    const last = publications.at(-1);
    if (last === undefined) {
      this.#fail(errorCodes.unrecoverablePosition);
      return;
    }
    const position = { epoch, offset: last.offset };
    const message = this.#encode({
      ...bareSubscribeResult,
      type: this.#flow.type,
      phase: mapPhases.stream,
      position,
      publications: this.#asReceived(publications),
    });
    const isTooLarge = message.length > this.#session.context.config.client.queueMaxSizeBytes;
    if (isTooLarge && publications.length > 1) this.#sendStream(firstHalf(publications), epoch);
    else if (isTooLarge) this.#fail(errorCodes.limitExceeded);
    else if (this.#fitsBacklog(message)) {
      this.#flow.position = position;
      this.#sendPart(message, "stream");
    }
  }

  /**
   * Sends a page of the state, of as many of the entries as fit into a reply.
   *
   * @param cursor of the page after it; "" if there is none
   */
  #sendPage(state: readonly Publication[], cursor: string): void {
    const { position } = this.#flow;
    const message = this.#encode({
      ...bareSubscribeResult,
      type: this.#flow.type,
      phase: mapPhases.state,
      ...(cursor === "" ? {} : { cursor }),
      ...(position === undefined ? {} : { position: this.#told(position) }),
      state,
    });
    const isTooLarge = message.length > this.#session.context.config.client.queueMaxSizeBytes;
    const half = firstHalf(state);
    if (isTooLarge && state.length > 1) this.#sendPage(half, lastKey(half));
    else if (isTooLarge) this.#fail(errorCodes.limitExceeded);
    else if (this.#fitsBacklog(message)) this.#sendPart(message, "state");
  }

  /** Sends a page after which the flow goes on. */
  #sendPart(message: Message, phase: "state" | "stream"): void {
    this.#flow.answering = false;
    this.#session.send(message);
    this.#session.context.counts?.mapPage(this.#flow.channel, phase);
    this.#done(silent);
  }

  #liveResult(reply: Subscribed, state: readonly Publication[] | undefined): SubscribeResult {
    const { grant, recovering, hasStream } = this.#flow;
    return {
      ttlSeconds: replyTtlSeconds(grant, this.#nowMs),
      type: this.#flow.type,
      recoverable: hasStream,
      // The reply to a client of a map doesn't say `positioned`: `recoverable` implies it.
      positioned: false,
      wasRecovering: recovering,
      recovered: recovering && reply.recovered,
      publications: this.#asReceived(reply.publications),
      ...(reply.position === undefined ? {} : { position: this.#told(reply.position) }),
      ...(state === undefined ? {} : { state }),
      ...(grant.subscription.delta === true ? { delta: true } : {}),
      ...(grant.data === undefined ? {} : { data: grant.data }),
    };
  }

  /** A position as the client gets it: without an offset if it can't recover. */
  #told({ epoch, offset }: StreamPosition): StreamPosition {
    return { epoch, offset: this.#flow.hasStream ? offset : 0 };
  }

  /**
   * Entries and changes as the client gets them: those that its filter lets through, and in full (docs/protocol.md 3.1
   * and 3.2).
   */
  #asReceived(publications: readonly Publication[]): readonly Publication[] {
    const { subscription, hasStream } = this.#flow;
    const { filter, delta, codec } = subscription;
    const passed =
      filter === undefined ? publications : publications.filter(({ tags }) => filter.matches(tags));
    if (!hasStream) return withoutOffsets(passed);
    return delta ? passed.map((publication) => fullForDelta(publication, codec.deltaForm)) : passed;
  }

  /** Half of what the client can be sent at once: its format may make more of the entries than they are in memory. */
  get #pageBytesMax(): number {
    return this.#session.context.config.client.queueMaxSizeBytes / 2;
  }

  #encode(result: SubscribeResult): Message {
    return this.#session.codec.encodeReply({ id: this.#id, method: "subscribe", result });
  }

  /** Whether the client's backlog has room for a reply. If not, the flow ends: the client starts again. */
  #fitsBacklog(message: Message): boolean {
    const fits = !this.#session.mustWait(message);
    if (!fits) this.#fail(errorCodes.tooManyRequests);
    return fits;
  }

  /** Whether the flow goes on. It ends with the connection, by an order, or when what allowed it ends (rule U2). */
  #goesOn(): boolean {
    const session = this.#session;
    const { channel, subscription } = this.#flow;
    if (session.subscriptions.flow(channel) !== this.#flow) return false;
    const ended = endOf(session, subscription.granted);
    if (ended !== undefined) this.#refuse(ended);
    return ended === undefined;
  }

  #fail(error: ErrorCode): void {
    if (error.code === errorCodes.unrecoverablePosition.code)
      this.#session.context.counts?.mapSynchronised(this.#flow.channel, "unrecoverable");
    this.#refuse(failWith(error));
  }

  #refuse(decision: Decision): void {
    const { channel } = this.#flow;
    this.#session.takeCancelled(channel);
    this.#flow.answering = false;
    this.#session.subscriptions.dropFlow(channel);
    readInVain(this.#session, this.#nowMs);
    this.#done(decision);
  }
}

/**
 * Publications without offsets. Clients that are sent the same page get the same list, so that it is made and encoded
 * once.
 */
function withoutOffsets(publications: readonly Publication[]): readonly Publication[] {
  const known = offsetless.get(publications);
  if (known !== undefined) return known;
  const made = publications.map((publication) => ({ ...publication, offset: 0 }));
  offsetless.set(publications, made);
  return made;
}

const offsetless = new WeakMap<readonly Publication[], readonly Publication[]>();

/** The first half of several publications; none of a single one. */
function firstHalf(publications: readonly Publication[]): readonly Publication[] {
  return publications.slice(0, Math.floor(publications.length / 2));
}

/** The cursor of the page after these entries. */
function lastKey(state: readonly Publication[]): string {
  return state.at(-1)?.key ?? "";
}
