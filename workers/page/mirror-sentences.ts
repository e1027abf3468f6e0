/** What is said of maps whose keys the server takes from other channels: presence maps, and receipts. */
import { maySeeMarks } from "../../src/features/cursors/may.ts";
import type { NamespaceSettings, Settings, ShownOptions } from "./answers.ts";
import { isMirror, knownChannel } from "./channel-questions.ts";
import { duration, listed } from "./text.ts";
import { type Ask, isForNobody, whyNobody } from "./who-may.ts";

/** A channel whose mirror has a name that begins with a prefix. */
interface Source {
  readonly namespace: NamespaceSettings;
  /** The names of such channels and of their mirrors, with "…" for what stands behind the namespace. */
  readonly channel: string;
  readonly mirror: string;
}

/** The prefix that makes a channel's name that of its mirror, by the type of the mirror; undefined if there is none. */
function prefixOf(type: string, { presenceMaps, cursors }: ShownOptions): string | undefined {
  switch (type) {
    case "map_clients":
      return presenceMaps?.clients;
    case "map_users":
      return presenceMaps?.users;
    case "map_receipts":
      return cursors?.receiptsPrefix;
    default:
      return undefined;
  }
}

/** What the channels of a namespace show; nothing if they aren't mirrors. */
export function mirrorSentences(
  namespace: NamespaceSettings,
  settings: Settings,
): readonly string[] {
  const { type, options } = namespace;
  if (!isMirror(namespace)) return [];
  const sources = settings.namespaces.flatMap((one) => sourceOf(one, type, settings));
  const here = sources.filter((one) => isIn(one, namespace, settings));
  const shown = here.map(({ channel, mirror }) => `“${mirror}” shows “${channel}”`);
  const ttl = options.map?.keyTtlMs ?? 0;
  return [
    ...whatTheyAre(type),
    here.length === 0
      ? "No namespace names a prefix for such channels, so they show nothing."
      : `${listed(shown)}.`,
    ...howLong(type, ttl),
    ...whoSees(type, here),
  ];
}

/** The presence maps and receipts that show the channels of a namespace. */
export function shownBySentences(
  namespace: NamespaceSettings,
  settings: Settings,
): readonly string[] {
  const of = (type: string) => sourceOf(namespace, type, settings);
  const presence = [...of("map_clients"), ...of("map_users")].map(quoted);
  const receipts = of("map_receipts").map(quoted);
  return [
    ...(presence.length === 0
      ? []
      : [
          `Whoever may subscribe to ${listed(presence)} sees there who is subscribed, and hears who comes and goes.`,
        ]),
    ...(receipts.length === 0
      ? []
      : [`What others have read is shown by ${listed(receipts)}, to clients that may see it.`]),
  ];
}

function quoted({ mirror }: Source): string {
  return `“${mirror}”`;
}

function whatTheyAre(type: string): readonly string[] {
  switch (type) {
    case "map_clients":
      return [
        "Each channel is a presence map: its keys are the IDs of the connections that are subscribed to another channel, each with its user and info.",
      ];
    case "map_users":
      return [
        "Each channel is a presence map: its keys are the IDs of the users who are subscribed to another channel, each once. Anonymous clients aren't shown.",
      ];
    default:
      return [
        "Each channel shows the receipts of another channel: its keys are users, and the values say how far they have read.",
      ];
  }
}

function howLong(type: string, ttlMs: number): readonly string[] {
  const ttl = duration(ttlMs);
  switch (type) {
    case "map_clients":
      return [
        `A client is removed when its subscription ends, and within ${ttl} where its object has crashed.`,
        "Clients that poll, and those whose token hides them, aren't shown.",
      ];
    case "map_users":
      return [
        `A user stays for ${ttl} after the last subscription has ended, and for up to half as long again.`,
        "Clients that poll, and those whose token hides them, aren't shown.",
      ];
    default:
      return [];
  }
}

function whoSees(type: string, sources: readonly Source[]): readonly string[] {
  if (type !== "map_receipts")
    return [
      "The options of this namespace alone decide who may look: a client needs no right on the channel that is shown.",
    ];
  return sources.map(({ namespace: { options }, channel }) => {
    const ask: Ask = (caller) => maySeeMarks({ options, private: false }, caller);
    return isForNobody(ask)
      ? `No client may subscribe to the receipts of “${channel}”: ${whyNobody(ask)}.`
      : `To the receipts of “${channel}”, only a client may subscribe that may see what others have read there, with a subscription token or without.`;
  });
}

/** The mirrors of a namespace's channels; none if its options name no prefix. */
function sourceOf(
  namespace: NamespaceSettings,
  type: string,
  { namespace_boundary: boundary }: Settings,
): readonly Source[] {
  const prefix = prefixOf(type, namespace.options);
  if (prefix === undefined) return [];
  const channel = namespace.name === "" ? "…" : `${namespace.name}${boundary}…`;
  return [{ namespace, channel, mirror: prefix + channel }];
}

function isIn({ mirror }: Source, { name }: NamespaceSettings, settings: Settings): boolean {
  const known = knownChannel(mirror, settings);
  return known.outcome === "known" && known.namespace.name === name;
}
