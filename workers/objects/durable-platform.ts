import type { Refusal } from "../../src/access/refusal.ts";
import type { BackendQuestion, BackendReply } from "../../src/contract/backend-call.ts";
import type { KeepaliveTexts } from "../../src/contract/keepalive.ts";
import { limits } from "../../src/limits.ts";
import type { CallName, CallReply, CallRequest } from "../../src/object/object-call.ts";
import type {
  Platform,
  PlatformSocket,
  PlatformSockets,
  TracedPublication,
  Timer,
  Verifier,
} from "../../src/object/platform.ts";
import type { SilentConnections } from "../../src/access/server-descriptors.ts";
import type { Configured } from "../platform/configuration.ts";
import { descriptorsOf } from "../platform/descriptors.ts";
import { makeCall } from "./durable-calls.ts";
import type { Env } from "../platform/env.ts";
import { sendEvents } from "../platform/event-target.ts";
import { isSigned, namedSigner } from "../platform/named-signatures.ts";
import { inTime, parseCallFailure } from "../platform/object-call.ts";
import { ObjectSql } from "../platform/object-sql.ts";
import { noteRefusal } from "../platform/refusal-log.ts";
import { inSpan } from "../platform/spans.ts";

/** Cloudflare's platform, as one Durable Object has it. */
export class DurablePlatform implements Platform {
  readonly name: string;
  readonly sql: ObjectSql;
  readonly sockets: PlatformSockets;
  readonly verifier: Verifier;
  readonly silent?: SilentConnections;
  readonly #context: DurableObjectState;
  readonly #env: Env;
  readonly #configured: Configured;

  constructor(context: DurableObjectState, env: Env, configured: Configured) {
    this.name = context.id.name ?? "";
    this.sql = new ObjectSql(context.storage);
    this.sockets = new DurableSockets(context);
    this.verifier = verifierOf(configured);
    const descriptors = descriptorsOf(env);
    if (descriptors !== undefined) this.silent = descriptors.silent;
    this.#context = context;
    this.#env = env;
    this.#configured = configured;
  }

  nowMs(): number {
    return Date.now();
  }

  after(waitMs: number, work: () => void): Timer {
    const timer = setTimeout(work, waitMs);
    return { cancel: () => clearTimeout(timer) };
  }

  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      console.error(`An event failed: ${error instanceof Error ? error.name : "unknown error"}`);
    }
  }

  sync(done: (isDurable: boolean) => void): void {
    void this.#sync(done);
  }

  async #sync(done: (isDurable: boolean) => void): Promise<void> {
    let isDurable = true;
    try {
      await this.#context.storage.sync();
    } catch {
      isDurable = false;
    }
    done(isDurable);
  }

  deleteAll(done: () => void): void {
    void passOn(this.#context.storage.deleteAll(), done);
  }

  storedBytes(): number {
    return this.#context.storage.sql.databaseSize;
  }

  readAlarm(done: (atMs: number) => void): void {
    void this.#readAlarm(done);
  }

  readAlarmFirst(done: (atMs: number) => void): void {
    void this.#context.blockConcurrencyWhile(() => this.#readAlarm(done));
  }

  async #readAlarm(done: (atMs: number) => void): Promise<void> {
    done((await this.#context.storage.getAlarm()) ?? Number.POSITIVE_INFINITY);
  }

  setAlarm(atMs: number, failed: () => void): void {
    this.#context.storage.setAlarm(atMs).catch((error: unknown) => {
      failed();
      console.error(`The alarm wasn't set: ${parseCallFailure(error).summary}`);
    });
  }

  readonly call = <Name extends CallName>(
    name: Name,
    to: string,
    request: CallRequest<Name>,
    waitMs: number,
    done: (reply: CallReply<Name>) => void,
  ): void => {
    if (waitMs <= 0) done({ outcome: "failed", overloaded: false });
    else void passOn(makeCall(this.#env, name, to, request, waitMs), done);
  };

  askBackend(...[question, timeoutMs, done]: Parameters<Platform["askBackend"]>): void {
    void passOn(this.#askBackend(question, timeoutMs), done);
  }

  async #askBackend(question: BackendQuestion, timeoutMs: number): Promise<BackendReply> {
    try {
      const reply = this.#context.exports.BackendEntrypoint.ask(question);
      const late = { outcome: "failed", reason: "the entrypoint didn't answer in time" } as const;
      return await inTime<BackendReply>(reply, timeoutMs + limits.hookMarginMs, late);
    } catch (error) {
      const { summary } = parseCallFailure(error);
      return { outcome: "failed", reason: `the call to the entrypoint failed: ${summary}` };
    }
  }

  sendEvents(...[body, done, to]: Parameters<Platform["sendEvents"]>): void {
    const { config, hookSigner, secrets } = this.#configured;
    const endpoint = to?.endpoint ?? config.events?.target;
    const signer = to === undefined ? hookSigner : namedSigner(secrets.given, to);
    if (endpoint === undefined) done(false);
    else void passOn(sendEvents(endpoint, this.#env, signer, body), done);
  }

  newClient(): string {
    return crypto.randomUUID();
  }

  /** Eight letters, as in Centrifugo's memory engine. */
  newEpoch(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(8));
    return Array.from(bytes, (byte) => letters.charAt(byte % letters.length)).join("");
  }

  span(
    name: "publish" | "commit",
    { traceparent, channel }: TracedPublication,
    work: (over: () => void) => void,
  ): void {
    void inSpan(
      name,
      { traceparent, channel },
      () => new Promise<void>((resolve) => work(resolve)),
    );
  }

  log(level: "warn" | "error", line: string): void {
    console[level](line);
  }

  noteRefusal(refusal: Refusal, node: string): void {
    noteRefusal(refusal, node);
  }

  abandon(reason: string): void {
    // An alarm that rings has to end first, or the platform would repeat it.
    this.sync(() => setTimeout(() => this.#context.abort(reason), 0));
  }
}

class DurableSockets implements PlatformSockets {
  readonly #context: DurableObjectState;

  constructor(context: DurableObjectState) {
    this.#context = context;
  }

  all(tag?: string): readonly WebSocket[] {
    return this.#context.getWebSockets(tag);
  }

  tagsOf(socket: PlatformSocket): readonly string[] {
    return isWebSocket(socket) ? this.#context.getTags(socket) : [];
  }

  answeredAtMs(socket: PlatformSocket): number | undefined {
    if (!isWebSocket(socket)) return undefined;
    return this.#context.getWebSocketAutoResponseTimestamp(socket)?.getTime();
  }

  setAnswering(texts: KeepaliveTexts | undefined): void {
    if (texts === undefined) this.#context.setWebSocketAutoResponse();
    else {
      const { request, answer } = texts;
      this.#context.setWebSocketAutoResponse(new WebSocketRequestResponsePair(request, answer));
    }
  }
}

/** All sockets here are the platform's. */
function isWebSocket(socket: PlatformSocket): socket is WebSocket {
  return socket instanceof WebSocket;
}

function verifierOf(configured: Configured): Verifier {
  const { verifier } = configured;
  return {
    connection: (token, nowMs, done) => void passOn(verifier.connection(token, nowMs), done),
    subscription: (token, nowMs, done) => void passOn(verifier.subscription(token, nowMs), done),
    tracks: (batches, user, channel, nowMs, done) =>
      void passOn(verifier.tracks(batches, user, channel, nowMs), done),
    signed: (secret, text, signature, done) =>
      void passOn(isSigned(configured.secrets.given, secret, text, signature), done),
  };
}

/** Hands on what a promise that doesn't reject comes to. */
async function passOn<Result>(
  result: Promise<Result>,
  done: (result: Result) => void,
): Promise<void> {
  done(await result);
}

/** 52 letters don't divide 256 evenly, and some are likelier: no harm for a value that only has to be new. */
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
