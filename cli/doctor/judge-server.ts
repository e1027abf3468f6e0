/** Judges what was seen of a server and of what lies before it: facts in, verdicts and the lines that mend out. */
import { good, note, skipped, wrong, type Finding } from "./findings.ts";
import { doctorLimits } from "./limits.ts";

/** What the server did with keys and tokens that anybody can guess. */
export interface Guesses {
  /** Whether the server is on this machine, as under `npm start`. */
  readonly isLocal: boolean;
  /** Guesses of the API's key that were accepted; "" is none at all. */
  readonly keys: readonly string[];
  /** Guesses of the secret of tokens that were accepted, in words. */
  readonly tokens: readonly string[];
}

/** Whether secrets are good, as far as the server shows by what it refuses. */
export function judgeSecrets({ isLocal, keys, tokens }: Guesses): readonly Finding[] {
  const putKey = "openssl rand -hex 32 | npx wrangler secret put API_KEY";
  const putToken = "openssl rand -hex 32 | npx wrangler secret put TOKEN_HMAC_SECRET_KEY";
  const key = (text: string) =>
    isLocal
      ? note("API key", `${text}, which is good enough on this machine only`)
      : wrong("API key", text, putKey);
  const token = (text: string) =>
    isLocal
      ? note("token secret", `${text}, which is good enough on this machine only`)
      : wrong("token secret", text, putToken);
  return [
    keys.includes("")
      ? wrong(
          "API key",
          "the API answers without a key",
          "don't pass a key on in the proxy before the server: backends send theirs",
        )
      : keys.length > 0
        ? key("the server's key is the public one of .dev.vars.example")
        : good(
            "API key",
            "the server refuses calls without a key, with a wrong one and with the one of .dev.vars.example",
          ),
    tokens.length > 0
      ? token(`the server accepts a token that is signed with ${tokens.join(", and with ")}`)
      : good(
          "token secret",
          "the server refuses tokens without a signature and with guessed secrets",
        ),
  ];
}

/**
 * Whether the WebSocket is compressed.
 *
 * @param isDevelopment whether it is `npm start`, whose proxy compresses
 */
export function judgeCompression(extensions: string, isDevelopment: boolean): Finding {
  const name = "compression";
  if (!extensions.includes("permessage-deflate"))
    return good(name, "the WebSocket isn't compressed when a browser offers it");
  if (isDevelopment) return note(name, "the WebSocket is compressed, by the proxy of npm start");
  return wrong(
    name,
    "the WebSocket is compressed: each socket takes some 220 KiB, and each frame is compressed once for each subscriber",
    'compatibility_flags = ["no_web_socket_compression"] in wrangler\'s file, or no permessage-deflate in the proxy before the server',
  );
}

/**
 * How far the clocks of this machine and of the server are apart.
 *
 * @param aheadMs by which the server's clock is ahead, as far as it is certain; negative if it is behind
 */
export function judgeClock(aheadMs: number | undefined): Finding {
  const name = "clock";
  if (aheadMs === undefined)
    return skipped(name, "the key doesn't admit inspect, which tells the server's time");
  const apart = Math.abs(aheadMs);
  if (apart < doctorLimits.clockNoteMs)
    return good(name, "the server's clock and this machine's agree within a second");
  const text = `the server's clock is ${secondsOf(apart)} ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  return apart < doctorLimits.clockWrongMs
    ? note(name, text)
    : wrong(
        name,
        `${text}: tokens that are signed here begin or end at another time`,
        "timedatectl set-ntp true",
      );
}

/** What became of an upgrade with an Origin. */
export type OriginOutcome = "accepted" | "refused" | "another refusal";

/** Which pages the server admits. */
export function judgeOrigins(
  foreign: OriginOutcome,
  own: { readonly origin: string; readonly outcome: OriginOutcome } | undefined,
): readonly Finding[] {
  const name = "origins";
  const first =
    foreign === "accepted"
      ? wrong(
          name,
          "a page of any origin may connect",
          `allowed_origins = ["${own?.origin ?? "https://app.example.com"}"] under [vars.config.client]`,
        )
      : foreign === "refused"
        ? good(name, "a page of another origin is refused")
        : note(name, "a page of another origin is refused, but not with status 403");
  if (own === undefined)
    return [first, skipped("own origin", "name your page's with --origin https://app.example.com")];
  return [
    first,
    own.outcome === "accepted"
      ? good("own origin", `a page of ${own.origin} may connect`)
      : wrong(
          "own origin",
          `a page of ${own.origin} is refused`,
          `allowed_origins = ["${own.origin}"] under [vars.config.client]`,
        ),
  ];
}

/** Headers by which proxies tell of themselves. */
const proxyHeaders = [
  "via",
  "x-cache",
  "x-served-by",
  "x-varnish",
  "x-amz-cf-pop",
  "x-envoy-upstream-service-time",
];

/** What lies between this machine and the server, by the headers of an answer. */
export function judgeHeaders(headers: Readonly<Record<string, string>>): Finding {
  const name = "proxies";
  const signs = proxyHeaders.flatMap((header) =>
    headers[header] === undefined ? [] : [`${header}: ${headers[header]}`],
  );
  const { server } = headers;
  if (server !== undefined) signs.push(`server: ${server}`);
  const age = Number(headers["age"] ?? 0);
  if (age > 0)
    return wrong(
      name,
      `an answer comes from a cache, ${age} s old`,
      "no cache before the server, for any of its paths",
    );
  return signs.length === 0
    ? good(name, "the headers tell of none")
    : note(name, `the headers tell of one: ${signs.join(", ")}`);
}

/** How a stream of HTTP came. */
export type StreamOutcome =
  | { readonly outcome: "off" }
  | { readonly outcome: "refused"; readonly status: number }
  /** `encoding` is the Content-Encoding; "" for none. `lateMs` is how long a publication took; undefined: too long. */
  | {
      readonly outcome: "stream";
      readonly transport: string;
      readonly encoding: string;
      readonly lateMs: number | undefined;
    };

/** Whether something in between buffers or compresses a stream. */
export function judgeStream(stream: StreamOutcome): Finding {
  const name = "buffering";
  switch (stream.outcome) {
    case "off":
      return skipped(
        name,
        "http_stream.enabled and sse.enabled are off: WebSockets aren't buffered",
      );
    case "refused":
      return skipped(name, `a stream is answered with status ${stream.status}`);
    case "stream": {
      const { transport, encoding, lateMs } = stream;
      if (lateMs === undefined)
        return wrong(
          name,
          `a publication doesn't come over ${transport} within ${secondsOf(doctorLimits.streamLateMs)}: something in between buffers`,
          "in nginx proxy_buffering off; proxy_http_version 1.1; proxy_read_timeout 1h;",
        );
      if (encoding !== "" && encoding !== "identity")
        return wrong(
          name,
          `something in between compresses ${transport} (${encoding}), and so may hold it back`,
          "in nginx gzip off; in Caddy no encode for this site",
        );
      return good(name, `a publication comes over ${transport} at once, uncompressed`);
    }
  }
}

/** What became of a message of some size. */
export interface SizedMessage {
  readonly what: "a publication" | "a client's frame";
  readonly bytes: number;
  /** "" if it came whole; else what happened, in words. */
  readonly problem: string;
}

/** Whether messages of the sizes that the server takes come through. */
export function judgeSizes(messages: readonly SizedMessage[]): Finding {
  const name = "message sizes";
  const bad = messages.find(({ problem }) => problem !== "");
  if (bad !== undefined)
    return wrong(
      name,
      `${bad.what} of ${kibOf(bad.bytes)} doesn't come through: ${bad.problem}`,
      "in nginx client_max_body_size 8m; in other proxies no limit below 8 MiB for requests and 1 MiB for frames",
    );
  const largest = messages.map(({ what, bytes }) => `${what} of ${kibOf(bytes)}`);
  return good(name, `${largest.join(" and ")} come through`);
}

function kibOf(bytes: number): string {
  return `${Math.round(bytes / 1_024)} KiB`;
}

/** A duration in words. */
export function secondsOf(ms: number): string {
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`;
}
