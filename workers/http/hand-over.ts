import { parseCallFailure } from "../platform/object-call.ts";
import { fullHeader } from "../../src/contract/handover.ts";
import { inTime } from "../platform/in-time.ts";

/** What can be asked to take a socket: the stub of an object. */
export interface SocketTaker {
  fetch(request: Request): Promise<Response>;
}

/** What became of a socket that one object was asked to take. */
export type HandedOver =
  /** It was taken, or refused for a reason that another object would have as well. */
  | { readonly outcome: "answered"; readonly response: Response }
  /** The object has no room, or too much to do. */
  | { readonly outcome: "full" }
  /** It said nothing in time; should it still take the socket, nobody is there to use it. */
  | { readonly outcome: "silent" }
  | { readonly outcome: "failed" };

/** Asks one object to take a socket, for at most so many ms. */
export async function handOver(
  object: SocketTaker,
  handover: Request,
  waitMs: number,
): Promise<HandedOver> {
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
