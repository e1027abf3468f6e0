/**
 * What the pages ask of a channel: only what its namespace admits, so that no page has its own questions refused
 * (rule N28).
 */
import { hasHistory } from "../../src/session/may.ts";
import type { CollectedRefusal, NamespaceSettings, Settings } from "./answers.ts";

/** A call of the HTTP API that a page makes by itself. */
export interface Question {
  readonly method: string;
  readonly params: Readonly<Record<string, string | number | boolean>>;
}

/** A channel, as the configuration knows it. */
export type KnownChannel =
  | {
      readonly outcome: "known";
      readonly namespace: NamespaceSettings;
      readonly questions: ChannelQuestions;
    }
  /** The configuration has no such namespace, so there is nothing to ask. */
  | { readonly outcome: "unknown"; readonly namespace: string };

/** A question is absent where the namespace has nothing of the kind. */
export interface ChannelQuestions {
  readonly state: Question;
  /** The publications that are kept; of a map, its changes. */
  readonly history?: Question;
  readonly keys?: Question;
  readonly presence?: Question;
}

/** Finds a channel in the configuration. The namespace of a channel without one is "". */
export function knownChannel(channel: string, settings: Settings): KnownChannel {
  const name = namespaceNameOf(channel, settings);
  const namespace = settings.namespaces.find((one) => one.name === name);
  return namespace === undefined
    ? { outcome: "unknown", namespace: name }
    : { outcome: "known", namespace, questions: questionsOf(channel, namespace) };
}

/** What stands before the boundary in a channel's name; the private prefix isn't a part of it. */
function namespaceNameOf(
  channel: string,
  { namespace_boundary: boundary, private_prefix: prefix }: Settings,
): string {
  const isPrivate = prefix !== "" && channel.startsWith(prefix);
  const bare = isPrivate ? channel.slice(prefix.length) : channel;
  const end = boundary === "" ? -1 : bare.indexOf(boundary);
  return end < 0 ? "" : bare.slice(0, end);
}

function questionsOf(channel: string, namespace: NamespaceSettings): ChannelQuestions {
  const newest = { channel, limit: publicationsShown, reverse: true };
  const state = { method: "inspect", params: { channel } };
  const presence = namespace.presence && { presence: { method: "presence", params: { channel } } };
  if (isMap(namespace))
    return {
      state,
      ...presence,
      keys: { method: "map_read_state", params: { channel, limit: keysShown } },
      ...(hasHistory(namespace.options) && {
        history: { method: "map_read_stream", params: newest },
      }),
    };
  return {
    state,
    ...presence,
    ...(hasHistory(namespace.options) && { history: { method: "history", params: newest } }),
  };
}

/** Whether the channels have keys with values: a map, or a mirror of another channel such as a presence map. */
export function isMap({ type }: NamespaceSettings): boolean {
  return type.startsWith("map");
}

/** Whether the keys are those of another channel: its subscribers, its users or its receipts. */
export function isMirror({ type }: Pick<NamespaceSettings, "type">): boolean {
  return type.startsWith("map_");
}

/** Whether publications have offsets, by which the server knows what became of them. A map's changes always do. */
export function hasOffsets(namespace: NamespaceSettings): boolean {
  return isMap(namespace) || hasHistory(namespace.options);
}

/**
 * The reason of a refusal. The configuration may have been changed since: a namespace that was missing isn't any more, and
 * the name that the reason proposes would mislead.
 */
export function reasonText({ reason, channel }: CollectedRefusal, settings: Settings): string {
  const wasUnknown = reason.startsWith("channel.namespaces doesn't have ");
  const isKnown = channel !== undefined && knownChannel(channel, settings).outcome === "known";
  if (!wasUnknown || !isKnown) return reason;
  return `${reason.split(";", 1).join("")}. The configuration has it now.`;
}

/** How much of the history is kept, as the page of a channel says it. */
export function historyText(
  namespace: NamespaceSettings,
  kept: { readonly publications: number; readonly size: number },
): string {
  if (hasHistory(namespace.options)) return `${kept.publications} of ${kept.size}`;
  return namespace.type === "stream" ? "off" : "none is kept";
}

const publicationsShown = 25;
const keysShown = 100;
