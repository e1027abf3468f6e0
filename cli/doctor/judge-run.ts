/** Judges what became of the run's clients and channels: facts in, verdicts and the lines that mend out. */
import { good, note, skipped, wrong, type Finding } from "./findings.ts";
import { secondsOf } from "./judge-server.ts";
import { doctorLimits } from "./limits.ts";

/** What became of a connection on which nothing was sent. */
export type Quiet =
  | { readonly outcome: "open"; readonly quietMs: number }
  /** Open, but its end doesn't answer any more: something in between has forgotten it. */
  | { readonly outcome: "dead"; readonly quietMs: number }
  | { readonly outcome: "cut"; readonly quietMs: number; readonly code: number };

/** @param pingMs the interval of the server's pings, which keep a connection from being quiet; 0 if it isn't known */
export function judgeQuiet(quiet: Quiet, pingMs: number): Finding {
  const name = "idle time-out";
  const time = secondsOf(quiet.quietMs);
  switch (quiet.outcome) {
    case "open":
      return good(name, `a connection on which nothing is sent for ${time} stays open`);
    case "dead":
      return wrong(
        name,
        `a connection on which nothing was sent for ${time} is open here and forgotten in between`,
        pingLine(quiet.quietMs),
      );
    case "cut":
      // The server does so itself, to a client that has promised to send something.
      if (quiet.code === 3012)
        return good(name, `the server ends a client that is silent for ${time}, as it should`);
      return pingMs > 0 && quiet.quietMs > pingMs * 1.2
        ? note(
            name,
            `something in between ends a connection on which nothing is sent for ${time} (code ${quiet.code}); pings come every ${secondsOf(pingMs)}`,
          )
        : wrong(
            name,
            `something in between ends a connection on which nothing is sent for ${time} (code ${quiet.code})`,
            pingLine(quiet.quietMs),
          );
  }
}

/** Half of the time-out, so that one late ping isn't the end. */
function pingLine(quietMs: number): string {
  const seconds = Math.max(1, Math.floor(quietMs / 2_000));
  return `a longer time-out in the proxy, or ping_interval = "${seconds}s" under [vars.config.client]`;
}

/** Objects that had only clients whose texts the platform answers. */
export interface Sleep {
  readonly sleepMs: number;
  readonly objects: number;
  /** Those that had slept; undefined if nobody may ask. */
  readonly slept: number | undefined;
  readonly textsSent: number;
  readonly textsAnswered: number;
}

/** Whether automatic answers let objects sleep. */
export function judgeSleep(sleep: Sleep): readonly Finding[] {
  const { sleepMs, objects, slept, textsSent, textsAnswered } = sleep;
  const name = "automatic answers";
  const missing = textsSent - textsAnswered;
  const answers =
    missing > 0
      ? wrong(
          name,
          `${missing} of ${textsSent} texts that the platform answers weren't answered`,
          "a proxy that passes WebSocket messages on as they come",
        )
      : good(name, `all ${textsSent} texts that the platform answers were answered`);
  if (slept === undefined)
    return [
      answers,
      skipped("sleep", "the key doesn't admit inspect, which tells if an object has slept"),
    ];
  if (slept === objects)
    return [answers, good("sleep", `automatic answers wake no object: all ${objects} slept`)];
  const text = `${objects - slept} of ${objects} objects were awake after ${secondsOf(sleepMs)} with automatic answers only`;
  return [
    answers,
    sleepMs < doctorLimits.sleepMsMin
      ? note("sleep", `${text}, which is too short to tell (--sleep 30s)`)
      : wrong(
          "sleep",
          `${text}: time awake is billed`,
          "dormouse inspect CHANNEL names what wakes an object: see woken_by and events",
        ),
  ];
}

/** What a client that was away has got. */
export interface Recovery {
  readonly missed: number;
  /** undefined if the subscription can't be recovered. */
  readonly got: number | undefined;
  readonly isRecovered: boolean;
  /** Publications that the namespace keeps; undefined if it isn't known. */
  readonly historySize: number | undefined;
}

/** @param namespace of the channel, "" for none */
export function judgeRecovery(recovery: Recovery, namespace: string): Finding {
  const { missed, got, isRecovered, historySize } = recovery;
  const name = "recovery";
  if (got === undefined)
    return skipped(
      name,
      historySize === 0
        ? "the namespace has no history (history_size and history_ttl)"
        : "no subscription here is recoverable (force_recovery or allow_recovery)",
    );
  if (isRecovered && got === missed)
    return good(name, `a client that missed ${missed} got all of them`);
  const place =
    namespace === "" ? "[vars.config.channel.without_namespace]" : `the namespace ${namespace}`;
  return historySize !== undefined && historySize < missed
    ? note(
        name,
        `the history keeps ${historySize} publications: a client that misses ${missed} isn't recovered`,
      )
    : wrong(
        name,
        `a client that missed ${missed} publications got ${got} of them`,
        `history_size = ${missed * 3} and history_ttl = "5m" in ${place}`,
      );
}

/** Whether all subscribers got all publications. */
export function judgeDeliveries(expected: number, got: number): Finding {
  const name = "deliveries";
  return got === expected
    ? good(name, `all ${expected} came`)
    : wrong(
        name,
        `${expected - got} of ${expected} didn't come within ${secondsOf(doctorLimits.receiveMs)}`,
        "dormouse why CHANNEL --client ID for one that got nothing, and dormouse inspect for objects that are behind",
      );
}

/** Clients that came back at the same time. */
export interface Return {
  readonly clients: number;
  readonly back: number;
  /** Attempts that were refused, after which a client tried again. */
  readonly refusals: number;
  readonly lastRefusal: string;
}

/** Whether all clients came back. */
export function judgeReturn({ clients, back, refusals, lastRefusal }: Return): Finding {
  const name = "coming back";
  if (back < clients)
    return wrong(
      name,
      `${clients - back} of ${clients} clients didn't come back in ${doctorLimits.triesMax} attempts: ${lastRefusal}`,
      "tokens that come with the upgrade, and a higher client.connection_rate_limit if there is one",
    );
  return refusals === 0
    ? good(name, `all ${clients} clients came back at the first attempt`)
    : note(
        name,
        `all ${clients} clients came back, after ${refusals} refusals such as ${lastRefusal}`,
      );
}

/** What was left of the run after its end. */
export interface Leftovers {
  /** Subscribers that channels still had. */
  readonly subscribers: number;
  /** Publications that channels still kept. */
  readonly publications: number;
  /** Questions that the server didn't answer, in words. */
  readonly unknown: readonly string[];
}

/** @param channelPrefix what the names of the run's channels begin with */
export function judgeLeftovers(
  { subscribers, publications, unknown }: Leftovers,
  channelPrefix: string,
): Finding {
  const name = "left behind";
  const left = [
    ...(subscribers > 0 ? [`${subscribers} subscribers`] : []),
    ...(publications > 0 ? [`${publications} publications`] : []),
  ];
  if (left.length > 0)
    return wrong(
      name,
      `channels ${channelPrefix}… still have ${left.join(" and ")}`,
      `dormouse history ${channelPrefix}… --remove, and dormouse inspect ${channelPrefix}…`,
    );
  if (unknown.length > 0)
    return note(name, `nothing that could be asked for; ${unknown.join("; ")}`);
  return good(name, "nothing: no subscriber, no publication");
}

/** A connection that ended where it shouldn't have. */
export function judgeLost(part: string, code: number, openMs: number): Finding {
  return wrong(
    part,
    `a connection ended with code ${code} ${secondsOf(openMs)} after it was opened, before this was measured`,
    "a proxy in between that doesn't end WebSockets: in nginx proxy_read_timeout 1h; in HAProxy timeout tunnel 1h",
  );
}
