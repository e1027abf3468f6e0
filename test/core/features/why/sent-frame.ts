/** When the publication came whose way the tests follow, ms since 1970. */
export const publishedAtMs = 1_000_000;

/** A position in the channel's stream. */
export const at = (offset: number) => ({ epoch: "e", offset });

/** The frame in which it was sent to one subscriber. */
export const frame = {
  publications: 1,
  begunAtMs: publishedAtMs + 12,
  sentAtMs: publishedAtMs + 14,
  subscribers: 1,
  filtered: 0,
  leftOut: 0,
  slow: 0,
};
