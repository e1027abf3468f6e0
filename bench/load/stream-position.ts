/** A position in a stream. */
export interface StreamPosition {
  readonly epoch: string;
  readonly offset: number;
}

/** Reads the position from a reply to a subscribe; undefined where a frame has none. */
export function streamPosition(frame: string): StreamPosition | undefined {
  const line = frame.split("\n").find((text) => text.includes('"epoch":"'));
  // The reply may hold missed publications, each with an offset of its own.
  const reply = line?.replace(/"publications":\[[^\]]*\]/, "");
  const epoch = reply?.match(/"epoch":"([^"]*)"/)?.[1];
  if (epoch === undefined) return undefined;
  return { epoch, offset: Number(reply?.match(/"offset":(\d+)/)?.[1] ?? 0) };
}
