import { limits } from "../limits.ts";

/**
 * The use of a server's file descriptors, by what is known of the client (rules B10 and B30):
 *
 * * `stranger`: a connection whose client has proved nothing
 * * `request`: any request
 * * `known`: a request with a key of the API, or with a valid token in it
 * * `call`: the call of a gateway, which may wake a channel's object for clients that are connected
 */
export type DescriptorUse = "stranger" | "request" | "known" | "call";

/** The descriptors of a server. */
export interface DescriptorCount {
  readonly max: number;
  /** Those that were open when they were last counted. */
  readonly used: number;
  /** Requests and calls since then that may open more. */
  readonly underWay: number;
}

/**
 * Whether there are descriptors for a use. Between two counts only half of what is free is given away: the runtime
 * accepts connections meanwhile.
 */
export function hasDescriptors(
  use: DescriptorUse,
  { max, used, underWay }: DescriptorCount,
): boolean {
  const left = max - Math.ceil(max * limits.descriptorsSpare) * shareOf[use] - used;
  return underWay * limits.descriptorsPerRequest <= left / 2;
}

/** What is kept from a use, in parts of `limits.descriptorsSpare`. */
const shareOf: Readonly<Record<DescriptorUse, number>> = {
  stranger: 2,
  request: 1,
  known: 0.5,
  call: 0.5,
};
