/**
 * How long the SDKs of Centrifugo wait before they connect again: full jitter, from half a second to 20 s.
 *
 * @param tries how often they were refused; 0 after a connection was lost
 * @returns ms
 */
export function backoffMs(tries: number): number {
  return Math.min(maxMs, minMs + Math.random() * Math.min(maxMs, minMs * 2 ** tries));
}

const minMs = 500;
const maxMs = 20_000;
