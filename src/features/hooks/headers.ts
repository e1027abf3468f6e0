import type { HookTarget } from "../../config/config.ts";
import type { HookHeader, KeptHeaders } from "../../contract/session-snapshot.ts";
import { hookLimits } from "./limits.ts";

/** Targets of hooks, as the configuration has them. */
type Targets = ReadonlyMap<string, HookTarget>;

/**
 * The headers of a handshake that hooks get.
 *
 * @param header gives the value of a header; undefined or null if the handshake doesn't have it
 * @returns undefined if there is none
 */
export function handshakeHeaders(
  targets: Targets,
  header: (name: string) => string | null | undefined,
): readonly HookHeader[] | undefined {
  const names = new Set([...targets.values()].flatMap(({ httpHeaders }) => httpHeaders));
  const headers = [...names].flatMap((name): readonly HookHeader[] => {
    const value = header(name) ?? "";
    return value === "" ? [] : [[name, value]];
  });
  return headers.length === 0 ? undefined : headers;
}

/**
 * The headers of a connection with those of its connect command, as far as hooks get them.
 *
 * @param emulated as the client wrote them
 */
export function withEmulated(
  targets: Targets,
  { http }: KeptHeaders,
  emulated: ReadonlyMap<string, string>,
): KeptHeaders {
  const names = new Set([...targets.values()].flatMap(({ emulatedHeaders }) => emulatedHeaders));
  const kept = [...emulated].flatMap(([name, value]): readonly HookHeader[] => {
    const lower = name.toLowerCase();
    return names.has(lower) && isHeaderValue(value) ? [[lower, value]] : [];
  });
  return {
    ...(http === undefined ? {} : { http }),
    ...(kept.length === 0 ? {} : { emulated: kept }),
  };
}

/** Those of a connection's headers that its hooks get after connect; undefined if there is none. */
export function afterConnect(targets: Targets, kept: KeptHeaders): KeptHeaders | undefined {
  const later = [...targets.values()].filter(({ name }) => name !== "client.proxy.connect");
  const http = kept.http?.filter(([name]) => later.some((one) => one.httpHeaders.includes(name)));
  const emulated = kept.emulated?.filter(([name]) =>
    later.some((one) => one.emulatedHeaders.includes(name)),
  );
  const [first] = [...(http ?? []), ...(emulated ?? [])];
  if (first === undefined) return undefined;
  return {
    ...(http === undefined || http.length === 0 ? {} : { http }),
    ...(emulated === undefined || emulated.length === 0 ? {} : { emulated }),
  };
}

/**
 * The headers of a connection that a target gets. One of the handshake goes before one of the client's with the same name:
 * a proxy in front may have set it.
 */
export function headersFor(
  { httpHeaders, emulatedHeaders }: HookTarget,
  { http = [], emulated = [] }: KeptHeaders,
): readonly HookHeader[] {
  const real = http.filter(([name]) => httpHeaders.includes(name));
  const isFree = (name: string) => !real.some(([other]) => other === name);
  const others = emulated.filter(([name]) => emulatedHeaders.includes(name) && isFree(name));
  return [...real, ...others];
}

/** The same headers with the trace of the handshake, as hooks get it in any case (rule X1). */
export function withTrace(
  headers: readonly HookHeader[],
  traceparent: string | undefined,
): readonly HookHeader[] {
  if (traceparent === undefined) return headers;
  return [...headers.filter(([name]) => name !== "traceparent"), ["traceparent", traceparent]];
}

/** Whether headers fit into a session (rule B2). */
export function fitHeaders({ http = [], emulated = [] }: KeptHeaders): boolean {
  const lengths = [...http, ...emulated].map(([name, value]) => name.length + value.length);
  return lengths.reduce((sum, one) => sum + one, 0) <= hookLimits.hookHeadersLengthMax;
}

/** Whether a text can be the value of a header: line breaks in it would be other headers. */
function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() === text;
}
