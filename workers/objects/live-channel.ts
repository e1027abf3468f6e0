import type { CollectedMetrics, CollectorNews } from "../../src/contract/metrics-report.ts";
import { collectorName } from "../../src/contract/object-names.ts";
import { liveCollector, liveHeader } from "../../src/contract/own-channel.ts";
import { limits } from "../../src/limits.ts";
import { LiveFigures } from "../../src/metrics/live-figures.ts";
import { answerPage, encodeLive } from "../../src/metrics/live-session.ts";
import type { Message } from "../../src/protocol/codec.ts";
import { disconnectCodes } from "../../src/protocol/codes.ts";
import { disconnectSocket } from "../platform/close-socket.ts";
import type { Env } from "../platform/env.ts";
import { answerInTime } from "../platform/object-call.ts";

/**
 * The server's own channel (rule N7): the sockets of operators' pages, and what they are told. As long as a page
 * answers its pings, the channel asks the other collecting objects for their counts, and tells the pages once in
 * `limits.liveTellMs` what has changed. Without a page it has no timer, makes no call and sends nothing.
 */
export class LiveChannel {
  readonly #object: LiveObject;
  readonly #figures = new LiveFigures();
  /** Whether {@link #tick} is due. The object can't hibernate then. */
  #isTicking = false;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #pingedAtMs = Number.NEGATIVE_INFINITY;
  /** When each page was last heard, ms since 1970. Absent: before this instance, which hears it soon or never. */
  readonly #heardAtMs = new WeakMap<WebSocket, number>();
  /** The pages that this instance has told everything. */
  readonly #told = new WeakSet<WebSocket>();

  constructor(object: LiveObject) {
    this.#object = object;
    this.#begin();
  }

  /** Takes over the socket of a page. The edge has checked the login, and says when it ends. */
  accept(request: Request): Response {
    const open = this.#sockets().filter(({ readyState }) => readyState === WebSocket.OPEN);
    if (open.length >= limits.livePagesMax)
      return new Response("Service Unavailable", { status: 503 });
    const { 0: clientEnd, 1: objectEnd } = new WebSocketPair();
    const attachment: PageAttachment = {
      client: crypto.randomUUID(),
      endsAtMs: Number(request.headers.get(liveHeader)) * 1_000,
      hasConnected: false,
    };
    this.#object.context.acceptWebSocket(objectEnd);
    objectEnd.serializeAttachment(attachment);
    this.#begin();
    return new Response(null, { status: 101, webSocket: clientEnd });
  }

  /** Answers a frame of a page. */
  message(socket: WebSocket, frame: string | ArrayBuffer): void {
    const attachment = attachmentOf(socket);
    this.#heardAtMs.set(socket, Date.now());
    const message = typeof frame === "string" ? frame : new Uint8Array(frame);
    const answer = answerPage(message, attachment.client, attachment.hasConnected);
    if (answer.outcome === "closed") return disconnectSocket(socket, answer.code);
    for (const reply of answer.replies) send(socket, reply);
    if (!answer.connects) return;
    socket.serializeAttachment({ ...attachment, hasConnected: true });
    this.#tell(Date.now());
  }

  /** Takes what was reported to a collecting object. */
  take({ collector, collected, refusals }: CollectorNews): void {
    if (!this.#isTicking) return;
    this.#figures.take(collector, collected);
    this.#figures.refused(refusals);
  }

  #sockets(): readonly WebSocket[] {
    return this.#object.context.getWebSockets();
  }

  /** Begins, if there is a page. */
  #begin(): void {
    if (this.#isTicking || this.#sockets().length === 0) return;
    this.#isTicking = true;
    this.#tickLater(0);
  }

  #tickLater(waitMs: number): void {
    setTimeout(() => this.#tick(Date.now()), waitMs);
  }

  #tick(nowMs: number): void {
    const pages = this.#sockets().filter((page) => !this.#ends(page, nowMs));
    if (pages.length === 0) {
      this.#isTicking = false;
      this.#renewedAtMs = Number.NEGATIVE_INFINITY;
      this.#figures.forget();
      return;
    }
    this.#tickLater(limits.liveTellMs);
    if (nowMs - this.#renewedAtMs >= limits.liveLeaseMs / 2) {
      this.#renewedAtMs = nowMs;
      void this.#renew();
    }
    this.#tell(nowMs);
    if (nowMs - this.#pingedAtMs < limits.livePingMs) return;
    this.#pingedAtMs = nowMs;
    for (const page of pages) if (attachmentOf(page).hasConnected) send(page, "{}");
  }

  /** Closes a page whose login has ended, or that doesn't answer. @returns whether it has ended */
  #ends(page: WebSocket, nowMs: number): boolean {
    if (page.readyState !== WebSocket.OPEN) return true;
    const heardAtMs = this.#heardAtMs.get(page);
    if (heardAtMs === undefined) this.#heardAtMs.set(page, nowMs);
    if (attachmentOf(page).endsAtMs <= nowMs)
      disconnectSocket(page, disconnectCodes.connectionExpired);
    else if (nowMs - (heardAtMs ?? nowMs) > limits.liveSilentMs)
      disconnectSocket(page, disconnectCodes.noPong);
    else return false;
    return true;
  }

  /** Tells new pages everything, and the others what has changed. */
  #tell(nowMs: number): void {
    if (!this.#figures.isComplete) return;
    const changes = this.#figures.changes(nowMs);
    const changed = changes === undefined ? undefined : encodeLive(changes);
    let all: Message | undefined;
    for (const page of this.#sockets()) {
      if (!attachmentOf(page).hasConnected) continue;
      if (this.#told.has(page)) {
        if (changed !== undefined) send(page, changed);
        continue;
      }
      all ??= encodeLive(this.#figures.all(nowMs));
      send(page, all);
      this.#told.add(page);
    }
  }

  /** Asks the other collecting objects to go on telling what is reported to them, and takes what they know. */
  async #renew(): Promise<void> {
    const { collectors } = this.#object;
    if (collectors === undefined) return;
    this.#figures.take(liveCollector, this.#object.lookedAt());
    const others = Array.from({ length: limits.metricsCollectors }, (_, number) => number).filter(
      (number) => number !== liveCollector,
    );
    await Promise.all(
      others.map(async (collector) => {
        this.#object.called();
        const collected = await answerInTime(
          "question for the console",
          limits.metricsAnswerMs,
          () => collectors.getByName(collectorName(collector)).lookedAt(),
        );
        if (collected !== undefined) this.take({ collector, collected, refusals: [] });
      }),
    );
    this.#tell(Date.now());
  }
}

/** The collecting object that operators look at. */
interface LiveObject {
  readonly context: DurableObjectState;
  readonly collectors: Env["METRICS"];
  /** Counts a call. */
  called(): void;
  /** The object's own totals; it is looked at from now on. */
  lookedAt(): CollectedMetrics;
}

/** The attachment that the platform keeps with the socket of a page. */
interface PageAttachment {
  /** The ID of its connection. */
  readonly client: string;
  /** When the operator's login ends, ms since 1970. */
  readonly endsAtMs: number;
  readonly hasConnected: boolean;
}

function attachmentOf(socket: WebSocket): PageAttachment {
  const attachment: PageAttachment = socket.deserializeAttachment();
  return attachment;
}

function send(socket: WebSocket, message: Message): void {
  try {
    socket.send(message);
  } catch {
    // `send` throws only when the socket is closing.
  }
}
