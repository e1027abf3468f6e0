import type { ConnectionClaims } from "../../src/access/claims.ts";
import type { CodecName } from "../../src/protocol/codec.ts";
import type { Pools } from "../../src/gateway/pool.ts";
import { limits } from "../../src/limits.ts";
import { overloadedRetrySeconds, parseCallFailure, inTime } from "../platform/object-call.ts";
import { busyRetrySeconds, respondBusy, respondInternalError } from "./respond.ts";
import {
  fullHeader,
  type Handover,
  encodeHandover,
  handoverHeader,
} from "../../src/contract/handover.ts";

/** Objects of which any may take a client's socket. */
export interface Pool {
  /** What is known of it, under its name. */
  readonly pools: Pools;
  readonly name: string;
  /** One of them, by its place in the pool. */
  readonly objectAt: (index: number) => PoolObject;
}

interface PoolObject {
  readonly object: ObjectStub;
  /** Whether others are to be asked instead for a while when it fails, and not only when it is full. */
  readonly avoidWhenBroken: boolean;
}

/**
 * Asks one object of a pool after the other until one has room for the socket (rule G3). An object that fails or is silent
 * ends the search: the client comes again. All of it may take as long as one object may (rule B4).
 */
export async function placeSocket(pool: Pool, handover: Request): Promise<Response> {
  const { pools, name } = pool;
  const startedAtMs = Date.now();
  let nowMs = startedAtMs;
  for (const index of pools.candidates(name, startedAtMs)) {
    const waitMs = startedAtMs + limits.objectAnswerMs - nowMs;
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
        if (response.status === 101) pools.took(name, index);
        return response;
      }
      case "full":
        continue;
      case "silent":
        return respondBusy(overloadedRetrySeconds);
      case "failed":
        return respondInternalError();
    }
  }
  return respondBusy(busyRetrySeconds());
}

/** A socket between the edge and an object, or the response to the client when nobody takes it. */
type OpenedSocket =
  | { readonly outcome: "opened"; readonly socket: WebSocket }
  | { readonly outcome: "refused"; readonly response: Response };

/**
 * Opens a socket to an object for a client that has none of its own (rule T1). The object lets it sleep like any other: what
 * keeps awake for the client is this request. Its messages wait until `accept`.
 */
export async function openSocket(
  pool: Pool,
  codec: CodecName,
  claims: ConnectionClaims | undefined,
  stay: "lasting" | "transient" = "lasting",
): Promise<OpenedSocket> {
  const handover = handoverRequest(
    { headers: new Headers({ Upgrade: "websocket" }) },
    {
      v: 1,
      keepalive: "client",
      emulated: true,
      ...(codec !== "json" && { codec }),
      ...(stay === "transient" && { passing: true }),
      ...(claims !== undefined && { claims }),
    },
  );
  const response = await placeSocket(pool, handover);
  const { webSocket } = response;
  if (webSocket === null) return { outcome: "refused", response };
  webSocket.binaryType = "arraybuffer";
  return { outcome: "opened", socket: webSocket };
}

/** What can be asked to take a socket: the stub of an object. */
interface ObjectStub {
  fetch(request: Request): Promise<Response>;
}

/** What became of a socket that one object was asked to take. */
type HandoverOutcome =
  /** It was taken, or refused for a reason that another object would have as well. */
  | { readonly outcome: "answered"; readonly response: Response }
  /** The object has no room, or too much to do. */
  | { readonly outcome: "full" }
  /** It said nothing in time; should it still take the socket, nobody is there to use it. */
  | { readonly outcome: "silent" }
  | { readonly outcome: "failed" };

/** Asks one object to take a socket, for at most so many ms. */
async function handOver(
  object: ObjectStub,
  handover: Request,
  waitMs: number,
): Promise<HandoverOutcome> {
  try {
    const response = await inTime<Response | undefined>(object.fetch(handover), waitMs, undefined);
    if (response === undefined) return { outcome: "silent" };
    if (!response.headers.has(fullHeader)) return { outcome: "answered", response };
    await response.body?.cancel();
    return { outcome: "full" };
  } catch (error) {
    const failure = parseCallFailure(error);
    if (failure.overloaded) return { outcome: "full" };
    console.error(`upgrade failed: ${failure.summary}`);
    return { outcome: "failed" };
  }
}

/**
 * The request that the object sees, built from scratch: the handshake's headers and our own one. So a client can't
 * forge what the edge decided, and neither its token nor its cookies travel further (rule A3). It has no body, so that it
 * may be made more than once.
 *
 * @param request the client's, or the edge's own where the client has no WebSocket
 */
export function handoverRequest(request: Handshake, handover: Handover): Request {
  const headers = new Headers({ [handoverHeader]: encodeHandover(handover) });
  for (const name of handshakeHeaders) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Request("https://object/websocket", { headers });
}

interface Handshake {
  readonly headers: Headers;
}

/** All of RFC 6455 that a client sends, section 11.3. */
const handshakeHeaders = [
  "Upgrade",
  "Connection",
  "Sec-WebSocket-Key",
  "Sec-WebSocket-Version",
  "Sec-WebSocket-Protocol",
  "Sec-WebSocket-Extensions",
];
