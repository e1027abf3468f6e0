import { DurableObject } from "cloudflare:workers";
import type { Config } from "../../src/config/config.ts";
import { fullHeader, handoverHeader, parseHandover } from "../../src/contract/handover.ts";
import { keepaliveHeader } from "../../src/contract/keepalive.ts";
import type {
  AddedChannelCalls,
  AddedGatewayCalls,
  AddedHomeCalls,
  AddedSessionCalls,
  SessionCalls,
} from "../../src/contract/object-calls.ts";
import { sessionCalls } from "../../src/features/index.ts";
import type { Accepted } from "../../src/object/client-sockets.ts";
import type { Thrown } from "../../src/object/commit-queue.ts";
import type { CallAnswer, CallRequest } from "../../src/object/object-call.ts";
import type { ObjectHost } from "../../src/object/object-host.ts";
import type { CallsTo } from "../../src/object/part.ts";
import type { Platform } from "../../src/object/platform.ts";
import { agreedProtocol } from "../platform/agreed-protocol.ts";
import { configurationOf } from "../platform/configuration.ts";
import { placedEnv } from "../platform/placed-env.ts";
import { DurablePlatform } from "./durable-platform.ts";
import type { Env } from "../platform/env.ts";
import type { ObjectSql } from "../platform/object-sql.ts";
import type { SessionSecrets } from "../platform/session-secrets.ts";

/**
 * An object that holds clients' sockets, of either kind. Its host decides everything; this lends it the platform. Nothing
 * here survives hibernation: the constructor makes all of it again, from SQLite and the sockets' attachments (rules S1 to
 * S4).
 */
export abstract class SessionObject<Host extends ObjectHost>
  extends DurableObject<Env>
  implements WrittenCalls<SessionCalls>
{
  readonly host: Host;
  /** Counts the rows written since the object woke; tests read the count. */
  readonly sql: ObjectSql;
  readonly #secrets: SessionSecrets;

  /**
   * @param calls those that features add to the objects of this kind
   * @throws when the Worker's configuration is invalid
   */
  constructor(
    context: DurableObjectState,
    env: Env,
    newHost: (platform: Platform, config: Config) => Host,
    calls: CallsTo<Host>,
  ) {
    super(context, env);
    addCalls(new.target.prototype, calls);
    addCalls(new.target.prototype, sessionCalls);
    const configured = configurationOf(env);
    if (configured.outcome === "unconfigured") throw new Error(configured.problems.join("\n"));
    const platform = new DurablePlatform(context, placedEnv(env, configured.config), configured);
    this.sql = platform.sql;
    this.#secrets = configured.sessions;
    this.host = newHost(platform, configured.config);
  }

  /** Calls made to other objects since the object woke; tests read it. */
  get callsMade(): number {
    return this.host.callsMade;
  }

  /** Takes over a socket that the edge hands over. @returns 101 with the client's end of the socket, or {@link refuse} */
  override async fetch(request: Request): Promise<Response> {
    const handover = parseHandover(request.headers.get(handoverHeader) ?? "");
    const isEmulated = handover.emulated === true;
    const secret = isEmulated ? await this.#secrets.make(this.host.node) : undefined;
    const outcome = await new Promise<"enters" | "too-many">((resolve) => {
      this.host.arrive(resolve);
    });
    if (outcome !== "enters") return refuse(outcome);
    let webSocket: WebSocket | undefined;
    const accepted = this.host.accept(handover, secret, (tags) => {
      const { 0: clientEnd, 1: objectEnd } = new WebSocketPair();
      webSocket = clientEnd;
      this.ctx.acceptWebSocket(objectEnd, [...tags]);
      return objectEnd;
    });
    if (accepted.outcome !== "accepted") return refuse(accepted.outcome);
    return new Response(null, {
      status: 101,
      webSocket: webSocket ?? null,
      headers: {
        ...agreedProtocol(request, handover.codec ?? "json"),
        ...(isEmulated && { [keepaliveHeader]: "1" }),
      },
    });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    return new Promise((resolve) => this.host.message(socket, message, resolve));
  }

  override async webSocketClose(...closing: SocketClosing): Promise<void> {
    this.host.closed(...closing);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.host.failed(socket);
  }

  override alarm(): Promise<void> {
    return new Promise((resolve) => this.host.alarm(resolve));
  }

  // The calls' contract is in src/contract/object-calls.ts.
  post(session: string, frame: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.host.post(session, frame, resolve));
  }

  carryOut(...[user, orders]: CallRequest<"carryOut">): Promise<CallAnswer<"carryOut">> {
    return new Promise((resolve) => this.host.carryOut(user, orders, resolve));
  }

  async clientsOf(users: readonly string[]): Promise<readonly string[]> {
    return this.host.clientsOf(users);
  }

  async connections(key: string): Promise<CallAnswer<"connections">> {
    return this.host.connections(key);
  }

  async online(users: readonly string[]): Promise<CallAnswer<"online">> {
    return this.host.online(users);
  }

  async heldOf(home: string): Promise<CallAnswer<"heldOf">> {
    return this.host.heldOf(home);
  }

  async eventsAfter(since: number, limit: number): Promise<readonly string[]> {
    return this.host.eventsAfter(since, limit);
  }

  async closeOldestSilent(): Promise<boolean> {
    return this.host.sockets.closeOldestSilent();
  }
}

/** The calls that are written in a class of objects: all but those that features add to it. */
export type WrittenCalls<Calls> = Omit<
  Calls,
  keyof AddedSessionCalls | keyof AddedChannelCalls | keyof AddedGatewayCalls | keyof AddedHomeCalls
>;

/**
 * Gives a class of objects a method for each call, on the prototype, where the platform looks for it. The first object of
 * the class does that, so that nothing is done when an isolate starts.
 */
export function addCalls<Host>(prototype: object, calls: CallsTo<Host>): void {
  for (const [name, call] of Object.entries(calls)) {
    if (name in prototype) continue;
    Object.defineProperty(prototype, name, {
      value(this: { readonly host: Host }, ...request: readonly object[]) {
        return new Promise<object>((resolve) => call.answer(this.host, request, resolve));
      },
    });
  }
}

/** The answer of a call in which the storage may fail: then the call fails, too. */
export function answerOrThrow<Answer extends { readonly outcome: string }>(
  call: (done: (answer: Answer | Thrown) => void) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) =>
    call((answer) => {
      if (isThrown(answer)) reject(answer.error);
      else resolve(answer);
    }),
  );
}

function isThrown(answer: { readonly outcome: string }): answer is Thrown {
  return answer.outcome === "threw";
}

/** The runtime's report of a close; `wasClean` is false if the client sent no close frame. */
type SocketClosing = [socket: WebSocket, code: number, reason: string, wasClean: boolean];

/**
 * Refuses a socket: with 413 if the token's claims are too large to be kept, otherwise with 503. If the object is full,
 * the edge tries another one (rules G3, G4). It tries no other object for a socket that comes too fast (rule B23), or
 * from an address that has enough of them (rule B13). Otherwise such sockets would come as fast as before, and spread
 * over objects that stay nearly empty. Their answer names a random time to wait, so that they don't come together
 * again.
 */
function refuse(why: Exclude<Accepted["outcome"], "accepted"> | "too-many"): Response {
  if (why === "too-large")
    return new Response("The token says more than a session can keep", { status: 413 });
  const later = { "Retry-After": String(2 + Math.floor(Math.random() * 9)) };
  const headers: Record<typeof why, Record<string, string>> = {
    full: { "Retry-After": "5", [fullHeader]: "1" },
    "too-many": { ...later, [fullHeader]: "1" },
    "too-fast": later,
    "too-many-of-address": later,
  };
  return new Response("No room for another connection", { status: 503, headers: headers[why] });
}
