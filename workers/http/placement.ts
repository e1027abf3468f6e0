/**
 * The placement of a client's socket in an object that has room (rules G3 and G4): which objects are asked, what they
 * learn about the connection (rule A3), and what the client gets if none accepts.
 */
import type { ConnectionClaims } from "../../src/access/claims.ts";
import type { HookHeader } from "../../src/contract/session-snapshot.ts";
import type { CodecName } from "../../src/protocol/codec.ts";
import type { Pools } from "../../src/gateway/pool.ts";
import {
  firstKeepaliveTexts,
  keepaliveTexts,
  keepaliveHeader,
  type KeepaliveTexts,
} from "../../src/contract/keepalive.ts";
import { limits } from "../../src/limits.ts";
import {
  type CalledObject,
  overloadedRetrySeconds,
  parseCallFailure,
  inTime,
} from "../platform/object-call.ts";
import { busyRetrySeconds, respondBusy, respondInternalError } from "./responses.ts";
import {
  type AskedAtUpgrade,
  fullHeader,
  type Handover,
  encodeHandover,
  handoverHeader,
} from "../../src/contract/handover.ts";

/** Objects, each of which can hold a client's socket. */
export interface Pool {
  /** The state of pools as this isolate has observed it, by their names. */
  readonly pools: Pools;
  readonly name: string;
  /** An object of the pool, by its index. */
  readonly objectAt: (index: number) => PoolObject;
  /** Whether the client may turn to the pool now (rule B18); absent if there is no bound. */
  readonly admits?: (claims: ConnectionClaims | undefined, nowMs: number) => boolean;
  /** Called when an object has accepted a socket. */
  readonly placed?: () => void;
}

interface PoolObject {
  readonly object: ObjectStub;
  /** Whether to skip the object for a while not only when it is full, but also when it fails. */
  readonly avoidWhenBroken: boolean;
}

/**
 * Asks the objects of a pool in turn until one accepts the socket (rule G3). An object that fails or doesn't answer
 * ends the search: the client will try again. The whole search may take as long as one object may (rule B4).
 *
 * @param claims that are known of the client
 * @returns the object's response, or a refusal for the client
 */
export async function placeSocket(
  pool: Pool,
  handover: HandoverRequest,
  claims: ConnectionClaims | undefined,
): Promise<Response> {
  const { pools, name } = pool;
  const startedAtMs = Date.now();
  let nowMs = startedAtMs;
  if (pool.admits?.(claims, nowMs) === false) return respondBusy(busyRetrySeconds());
  for (const index of pools.candidates(name, startedAtMs)) {
    const waitMs = limits.objectAnswerMs - Math.abs(nowMs - startedAtMs);
    if (waitMs <= 0) break;
    const { object, avoidWhenBroken } = pool.objectAt(index);
    const handedOver = await handOver(object, handover, waitMs);
    nowMs = Date.now();
    const { outcome } = handedOver;
    if (outcome === "full" || (outcome !== "answered" && avoidWhenBroken)) {
      pools.full(name, index, nowMs + limits.poolFullMs);
    }
    switch (outcome) {
      case "answered": {
        const { response } = handedOver;
        if (response.status === 101) {
          pools.took(name, index);
          pool.placed?.();
        }
        return response;
      }
      case "full":
        continue;
      case "timeout":
        return respondBusy(overloadedRetrySeconds);
      case "failed":
        return respondInternalError();
    }
  }
  return respondBusy(busyRetrySeconds());
}

/** A socket between the edge and an object, or the response to the client if no object accepts one. */
type OpenedSocket =
  | {
      readonly outcome: "opened";
      readonly socket: WebSocket;
      /** The text by which the edge keeps the socket alive, and the answer, which wakes no object (rule K3). */
      readonly keepalive: KeepaliveTexts;
    }
  | { readonly outcome: "refused"; readonly response: Response };

/**
 * Opens a socket to an object for a client that has no WebSocket (rule T1). The object can hibernate with it as with
 * any other, because this request of the edge keeps nothing but the edge awake. The socket's messages wait until
 * `accept`.
 *
 * @param client what the client reads; the joins and leaves of a long poll aren't announced (rule T9)
 */
export async function openSocket(
  pool: Pool,
  codec: CodecName,
  { claims, headers, traceparent, asked, address }: Admitted,
  client: "stream" | "events" | "poll",
): Promise<OpenedSocket> {
  const handover = handoverRequest(
    { headers: new Headers({ Upgrade: "websocket" }) },
    {
      v: 1,
      keepalive: "client",
      ...emulatedTransport(codec, client),
      ...(client !== "poll" && { pongs: true }),
      ...(headers !== undefined && { headers }),
      ...(traceparent !== undefined && { traceparent }),
      ...(claims !== undefined && { claims }),
      ...(asked !== undefined && { asked }),
      ...(address !== undefined && { address }),
    },
  );
  const response = await placeSocket(pool, handover, claims);
  const { webSocket } = response;
  if (webSocket === null) return { outcome: "refused", response };
  webSocket.binaryType = "arraybuffer";
  return {
    outcome: "opened",
    socket: webSocket,
    keepalive: response.headers.has(keepaliveHeader) ? keepaliveTexts : firstKeepaliveTexts,
  };
}

/** How a client without a WebSocket is connected, in the words of the handover. */
export function emulatedTransport(
  codec: CodecName,
  client: "stream" | "events" | "poll",
): ClientTransport {
  return {
    emulated: true,
    ...(codec !== "json" && { codec }),
    ...(client === "events" && { events: true }),
    ...(client === "poll" && { passing: true }),
  };
}

/** The part of a handover that says how a client is connected. */
export type ClientTransport = Pick<Handover, "codec" | "emulated" | "events" | "passing">;

/** A socket that behaves as if an object had accepted it, and refuses the client (rules A12 and Q13). */
export function refusingSocket(socket: WebSocket): OpenedSocket {
  socket.binaryType = "arraybuffer";
  return { outcome: "opened", socket, keepalive: keepaliveTexts };
}

/** What the edge knows of a client that it admits. */
export interface Admitted {
  /** Of the token that came with the request, or with `asked` of a backend; absent if there are none. */
  readonly claims?: ConnectionClaims;
  /** The headers that hooks get; absent if there are none. */
  readonly headers?: readonly HookHeader[];
  /** The trace that the request belongs to; absent without one. */
  readonly traceparent?: string;
  /** A backend was asked at the upgrade (rule Q10); absent if none was. */
  readonly asked?: AskedAtUpgrade;
  /** The address of a client that came without a token; absent if it isn't known. */
  readonly address?: string;
}

/** The stub of an object that can hold sockets. */
interface ObjectStub extends CalledObject {
  fetch(address: string, request: HandoverRequest): Promise<Response>;
}

/** The outcome of asking one object to accept a socket. */
type HandoverOutcome =
  /** The object accepted, or refused for a reason that every object would have. */
  | { readonly outcome: "answered"; readonly response: Response }
  /** The object has no room or is overloaded. */
  | { readonly outcome: "full" }
  /** The object didn't answer in time. If it still accepts the socket, the other end is gone. */
  | { readonly outcome: "timeout" }
  | { readonly outcome: "failed" };

/** Asks one object to accept a socket, for at most so many ms. */
async function handOver(
  object: ObjectStub,
  handover: HandoverRequest,
  waitMs: number,
): Promise<HandoverOutcome> {
  try {
    const answer = object.fetch(handoverAddress, handover);
    const response = await inTime<Response | undefined>(answer, waitMs, undefined);
    if (response === undefined) return { outcome: "timeout" };
    if (!response.headers.has(fullHeader)) return { outcome: "answered", response };
    await response.body?.cancel();
    return { outcome: "full" };
  } catch (error) {
    const failure = parseCallFailure(error, object);
    if (failure.overloaded) return { outcome: "full" };
    console.error(`upgrade failed: ${failure.summary}`);
    return { outcome: "failed" };
  }
}

/**
 * Describes a request to the object, with the headers of the handshake and the handover only. So a client can't forge
 * the edge's decisions, and its token and cookies stay at the edge (rule A3). It can be sent more than once.
 *
 * @param request the client's request, or the edge's own for a client without a WebSocket
 */
export function handoverRequest(request: Handshake, handover: Handover): HandoverRequest {
  const headers: Record<string, string> = { [handoverHeader]: encodeHandover(handover) };
  for (const name of handshakeHeaders) {
    const value = request.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  return { headers };
}

/** A request to an object to take a socket, as `fetch` takes it: a `Request` and its `Headers` would take the edge longer. */
export interface HandoverRequest {
  readonly headers: Record<string, string>;
}

/** The address of every such request: the object is known already. */
export const handoverAddress = "https://object/websocket";

interface Handshake {
  readonly headers: Headers;
}

/** The headers of a client's handshake in RFC 6455, section 11.3. */
const handshakeHeaders = [
  "Upgrade",
  "Connection",
  "Sec-WebSocket-Key",
  "Sec-WebSocket-Version",
  "Sec-WebSocket-Protocol",
  "Sec-WebSocket-Extensions",
];
