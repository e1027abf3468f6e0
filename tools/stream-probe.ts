/**
 * How often idle HTTP streams are written to, in ms: outside Cloudflare the runtime notices that a client is gone only by
 * what it writes, once it was answered with a reset. Two of them are within the 2 s in which presence has to end (rule T6).
 */
export const streamProbeMs = 500;
