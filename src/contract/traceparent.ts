/**
 * Reads a header `traceparent` (W3C Trace Context, level 1), in which a backend or a client names the trace of its
 * request (rule X1). The edge passes the returned text to the objects, and they store it (rule V1).
 *
 * @param header null or undefined without one
 * @returns the header as version 00; undefined if it is absent or invalid, which is the same
 */
export function parseTraceparent(header: string | null | undefined): string | undefined {
  if (header === null || header === undefined) return undefined;
  const [, version = "", trace = "", parent = "", flags = "", rest = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header.trim()) ?? [];
  if (version === "" || version === "ff" || /^0+$/.test(trace) || /^0+$/.test(parent))
    return undefined;
  if (version === "00") return rest === "" ? `00-${trace}-${parent}-${flags}` : undefined;
  // Of a later version, only what version 00 has is known: the sampled bit is all that may be kept of its flags.
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return `00-${trace}-${parent}-${isSampled ? "01" : "00"}`;
}

/** Names the trace that a command belongs to in its request (rule X1). */
export function traced<Command extends { readonly request: { readonly traceparent?: string } }>(
  command: Command,
  traceparent: string,
): Command {
  return { ...command, request: { ...command.request, traceparent } };
}
