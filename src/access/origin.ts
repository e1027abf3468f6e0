import { compileGlob, matchesAny } from "./name-glob.ts";

/** The headers by which a browser describes a request: null for each that is missing. */
export interface PageHeaders {
  /** `Origin`, which browsers leave out where a page only reads or leads elsewhere. */
  readonly origin: string | null;
  /** `Sec-Fetch-Site`, which browsers send wherever the connection is secure. */
  readonly site: string | null;
  /** `Sec-Fetch-Mode`. */
  readonly mode: string | null;
  /** `Accept`, by which older browsers, and those without TLS, tell that they open a page. */
  readonly accept: string | null;
  /** The origin of the server itself, where it serves pages of its own; absent where it doesn't. */
  readonly own?: string;
}

/**
 * Why a browser's request may not connect (rule A6, docs/protocol.md 4.4); undefined if it may, and for every client
 * but a browser. Any page can lead its visitor to an address, or load it as an image. Such a request has the visitor's
 * cookies, and no `Origin`.
 *
 * @param patterns globs in lower case
 */
export function pageRefusal(
  { origin, site, mode, accept, own }: PageHeaders,
  patterns: readonly string[],
): string | undefined {
  if (mode === "navigate" || accept?.toLowerCase().includes("text/html") === true)
    return "a browser opens the address as a page";
  if (origin === null)
    return site === null || site === "same-origin"
      ? undefined
      : "a page of another site sends no Origin";
  return origin === own || matchesAny(origin.toLowerCase(), patterns)
    ? undefined
    : `origin ${origin} isn't in client.allowed_origins`;
}

/**
 * What is wrong with a pattern of origins, as a sentence whose subject is the pattern (rule A29). A pattern that no
 * browser's Origin header can match is a mistake that would show only when a page is refused.
 */
export function originFault(text: string): string | undefined {
  const pattern = text.toLowerCase();
  if (compileGlob(pattern) === undefined) return "is not a glob, or too large";
  // A class stands for one character, and an escaped character for itself.
  const plain = pattern.replaceAll(/\[[^\]]+\]/g, "x").replaceAll(/\\(.)/gsu, "$1");
  if (!/^[*?{]|^null$|:\/\//.test(plain))
    return 'can never match: write "*" or an origin such as "https://example.com"';
  if (/[^\u0021-\u007E]|[#@]/.test(plain))
    return "can never match: an Origin has ASCII characters only, no blank, # or @; browsers send Punycode";
  const afterScheme = plain.includes("{")
    ? plain.replaceAll("://", "")
    : plain.replace(/:\/\/|^\*\/\//, "");
  if (afterScheme.includes("/"))
    return 'can never match: an Origin has no path and no "/" at its end';
  if (/^(?:https:\/\/(?:.*:443)?|http:\/\/(?:.*:80)?)$/.test(plain))
    return "can never match: a browser sends a host, and leaves the default port out";
  return undefined;
}
