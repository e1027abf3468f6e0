import type { Pools } from "../../src/gateway/pool.ts";
import { limits } from "../../src/limits.ts";
import { overloadedRetrySeconds } from "../platform/object-call.ts";
import { handOver, type SocketTaker } from "./hand-over.ts";
import { busyRetrySeconds, respondBusy, respondInternalError } from "./respond.ts";

/** Objects of which any may take a client's socket. */
export interface Pool {
  /** What is known of it, under its name. */
  readonly pools: Pools;
  readonly name: string;
  /** One of them, by its place in the pool. */
  readonly objectAt: (index: number) => PoolObject;
}

interface PoolObject {
  readonly object: SocketTaker;
  /** Whether others are to be asked instead for a while when it fails, and not only when it is full. */
  readonly avoidWhenBroken: boolean;
}

/**
 * Asks one object of a pool after the other until one has room for the socket (rule G3). An object that fails or is silent
 * ends the search: the client comes again. All of it may take as long as one object may (rule B4).
 */
export async function findRoom(pool: Pool, handover: Request): Promise<Response> {
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
