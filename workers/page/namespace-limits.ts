/** The limits of a namespace, in sentences: those of the configuration, and those of the server that it can't change. */
import type { NamespaceSettings, Settings } from "./answers.ts";
import { isMap, keepsHistory } from "./channel-questions.ts";
import { bytes, counted, duration, whole } from "./text.ts";

/** The bounds of the server, which the build writes into the page. */
export interface ServerLimits {
  readonly frameBytesMax: number;
  readonly publicationBytesMax: number;
  readonly mapKeysMax: number;
  readonly ephemeralStateBytesMax: number;
}

/** What the server refuses in a namespace because it is too much. */
export function limitSentences(
  namespace: NamespaceSettings,
  settings: Settings,
  server: ServerLimits,
): readonly string[] {
  return [
    `The name of a channel has at most ${settings.max_length} bytes.`,
    ...ofPublications(namespace, server),
    ...ofMaps(namespace, server),
    ...ofPolls(namespace),
    ...(keepsHistory(namespace)
      ? [`A client reads up to ${whole(settings.history_max)} publications of the history at once.`]
      : []),
    ...ofRates(namespace),
  ];
}

function ofPublications({ type }: NamespaceSettings, server: ServerLimits): readonly string[] {
  const [frame, data] = [bytes(server.frameBytesMax), bytes(server.publicationBytesMax)];
  switch (type) {
    case "stream":
      return [
        `A message of a client has at most ${frame}, and the data of a backend's publication ${data}.`,
      ];
    case "map":
      return [
        `A message of a client has at most ${frame}, and the value that a backend sets ${data}.`,
      ];
    default:
      return [];
  }
}

function ofMaps(namespace: NamespaceSettings, server: ServerLimits): readonly string[] {
  if (!isMap(namespace)) return [];
  const { options } = namespace;
  const inMemory =
    options["map.mode"] === "ephemeral"
      ? [`Its keys and values have at most ${bytes(server.ephemeralStateBytesMax)} together.`]
      : [];
  const [min, max] = [options["map.min_page_size"], options["map.max_page_size"]];
  const timeout = duration(Number(options["map.subscribe_catch_up_timeout_ms"] ?? 0));
  return [
    `A map has at most ${whole(server.mapKeysMax)} keys.`,
    ...inMemory,
    `A client reads the map in pages of ${whole(Number(min))} to ${whole(Number(max))} keys, and has ${timeout} for all of them.`,
  ];
}

function ofPolls({ options }: NamespaceSettings): readonly string[] {
  const keys = options["shared_poll.max_keys_per_connection"];
  return keys === undefined ? [] : [`A connection tracks at most ${whole(Number(keys))} keys.`];
}

/** The rates that the configuration sets. Without one, a connection has those of the server. */
function ofRates({ rates }: NamespaceSettings): readonly string[] {
  return rates.flatMap(({ of, method, burst, perSecond }) => {
    const what = commands[method];
    if (what === undefined) return [];
    const who = of === "user" ? "All connections of a user together" : "A connection";
    return [
      `${who} may ${what} ${counted(burst, "time")} at once, and ${rate(perSecond)} after that.`,
    ];
  });
}

const commands: Readonly<Record<string, string>> = {
  total: "send a command of any kind",
  subscribe: "subscribe",
  publish: "publish",
  presence: "ask who is here",
  presence_stats: "ask how many are here",
  history: "read the history",
};

/** A rate in whole numbers: an interval has at most ten seconds, so there is one in a minute at least. */
function rate(perSecond: number): string {
  return Number.isInteger(perSecond)
    ? `${counted(perSecond, "time")} a second`
    : `${counted(Math.round(perSecond * 600) / 10, "time")} a minute`;
}
