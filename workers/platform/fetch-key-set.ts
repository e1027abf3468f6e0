import { type ParsedKeySet, parseKeySet } from "../../src/access/parse-key-set.ts";
import { limits } from "../../src/limits.ts";

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
    const text = await boundedText(response);
    if (text === undefined) return { outcome: "bad", reason: "it is too large" };
    return parseKeySet(text);
  } catch {
    const reason = abortion.signal.aborted ? "it took too long" : "no answer that could be read";
    return { outcome: "bad", reason };
  } finally {
    clearTimeout(timer);
  }
}

/** The body's text, which must be UTF-8; undefined as soon as there is more than allowed. */
async function boundedText(response: Response): Promise<string | undefined> {
  if (response.body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > limits.keySetBytesMax) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
