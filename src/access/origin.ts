import { matchesGlob } from "./glob.ts";

/** What a browser says of a request in its headers: null for each that is missing. */
export interface PageHeaders {
  /** `Origin`, which browsers leave out where a page only reads or leads elsewhere. */
  readonly origin: string | null;
  /** `Sec-Fetch-Site`, which browsers send wherever the connection is secure. */
  readonly site: string | null;
  /** `Sec-Fetch-Mode`. */
  readonly mode: string | null;
  /** `Accept`, by which older browsers, and those without TLS, tell that they open a page. */
  readonly accept: string | null;
}

/**
 * Why a browser's request may not connect (rule A6, docs/protocol.md 4.4); undefined if it may, and for every client but
 * a browser. Any page can lead its visitor to an address, or show it as an image: then the visitor's cookies come along,
 * and `Origin` doesn't.
 *
 * @param patterns globs, in which case doesn't matter
 */
export function pageRefusal(
  { origin, site, mode, accept }: PageHeaders,
  patterns: readonly string[],
): string | undefined {
  if (mode === "navigate" || accept?.toLowerCase().includes("text/html") === true)
    return "a browser opens the address as a page";
  if (origin === null)
    return site === null || site === "same-origin"
      ? undefined
      : "a page of another site sends no Origin";
  const text = origin.toLowerCase();
  return patterns.some((pattern) => matchesGlob(text, pattern.toLowerCase()))
    ? undefined
    : `origin ${origin} isn't in client.allowed_origins`;
}
