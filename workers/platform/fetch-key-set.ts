import { type ParsedKeySet, parseKeySet } from "../../src/access/parse-key-set.ts";
import { limits } from "../../src/limits.ts";
import { utf8Text } from "../../src/protocol/bytes.ts";
import { boundedBytes } from "./bounded-bytes.ts";

/**
 * Fetches a JWKS: two attempts of a second each. Nothing is followed anywhere else, so that the address in the
 * configuration alone says whose keys are believed, and no answer is read beyond its limit (rule A9).
 *
 * @param url as the configuration has it
 * @returns never throws; the reason of a failure quotes neither the address nor the answer
 */
export async function fetchKeySet(url: string): Promise<ParsedKeySet> {
  const first = await attempt(url);
  return first.outcome === "keys" ? first : attempt(url);
}

async function attempt(url: string): Promise<ParsedKeySet> {
  const abortion = new AbortController();
  const timer = setTimeout(() => abortion.abort(), limits.keySetAttemptMs);
  try {
    const response = await fetch(url, {
      headers: { Accept: "application/json" },
      redirect: "manual",
      signal: abortion.signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { outcome: "bad", reason: `status ${response.status}` };
    }
    const bytes = await boundedBytes(response.body, limits.keySetBytesMax);
    if (bytes === undefined) return { outcome: "bad", reason: "it is too large" };
    const text = utf8Text(bytes);
    return text === undefined ? { outcome: "bad", reason: unreadable } : parseKeySet(text);
  } catch {
    const reason = abortion.signal.aborted ? "it took too long" : unreadable;
    return { outcome: "bad", reason };
  } finally {
    clearTimeout(timer);
  }
}

const unreadable = "no answer that could be read";
