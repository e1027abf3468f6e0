/** The limits of a namespace, in sentences: those of the configuration, and those of the server that it can't change. */
import type { NamespaceSettings, Settings } from "./answers.ts";
import { hasHistory } from "../../src/session/may.ts";
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
    ...(namespace.type === "stream" && hasHistory(namespace.options)
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

function ofMaps({ options: { map } }: NamespaceSettings, server: ServerLimits): readonly string[] {
  if (map === undefined) return [];
  const inMemory =
    map.mode === "ephemeral"
      ? [`Its keys and values have at most ${bytes(server.ephemeralStateBytesMax)} together.`]
      : [];
  const { minPageSize: min, maxPageSize: max } = map;
  const timeout = duration(map.subscribeCatchUpTimeoutMs);
  return [
    `A map has at most ${whole(server.mapKeysMax)} keys.`,
    ...inMemory,
    `A client reads the map in pages of ${whole(min)} to ${whole(max)} keys, and has ${timeout} for all of them.`,
  ];
}

function ofPolls({ options: { sharedPoll } }: NamespaceSettings): readonly string[] {
  if (sharedPoll === undefined) return [];
  return [`A connection tracks at most ${whole(sharedPoll.maxKeysPerConnection)} keys.`];
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
