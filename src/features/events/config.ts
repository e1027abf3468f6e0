import { eventLimits } from "./limits.ts";
import type { Config, HookEndpoint, QueueTarget } from "../../config/config.ts";
import { readOptions, readText, readTexts } from "../../config/fields.ts";
import type { Options, Values } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";
import { parseEndpoint, parseQueueTarget, type Target, urlMeaning } from "../../config/targets.ts";

declare module "../../config/config.ts" {
  interface Config {
    /** Dormouse's own; absent if no backend is told of events. */
    readonly events?: EventsConfig;
  }
}

/** The section `events`: a backend that is told what happens (rules E1 to E7). */
export interface EventsConfig extends Values<typeof eventOptions> {
  readonly target: EventTarget;
}

/** Where events are sent: to a backend, or to a queue by the name of its binding. */
type EventTarget = HookEndpoint | QueueTarget;

/** The kinds of events. */
export type EventType =
  | "connected"
  | "disconnected"
  | "subscribed"
  | "unsubscribed"
  | "user_online"
  | "user_offline"
  | "channel_occupied"
  | "channel_vacated"
  | "publication"
  | "unseen"
  | "seen";

/**
 * Reads `events`, Dormouse's own: where a backend is told what happens, and of what.
 *
 * @param section receives the problems
 * @returns undefined if the backend isn't told of anything
 */
export function readEventsSection(section: Section): EventsConfig | undefined {
  const { target, ...config } = readOptions(section, eventOptions);
  const { types } = config;
  for (const [one, other] of pairs) {
    if (types.has(one) === types.has(other)) continue;
    const [has, lacks] = types.has(one) ? [one, other] : [other, one];
    section.problem("types", `has "${has}" without "${lacks}": the two belong together`);
  }
  if (target === undefined && types.size > 0) section.problem("types", "requires target");
  if (target !== undefined && types.size === 0 && section.isValid("types[0]"))
    section.problem("types", "is missing: list what the target is told of");
  section.refuseOthers({});
  return target === undefined ? undefined : { target, ...config };
}

/** The types of events that a configuration may list. */
export const eventTypes = [
  "connected",
  "disconnected",
  "subscribed",
  "unsubscribed",
  "user_online",
  "user_offline",
  "channel_occupied",
  "channel_vacated",
  "publication",
  "unseen",
  "seen",
] as const satisfies readonly EventType[];

/** Types of which one undoes the other: a receiver that is told of one of them alone can't know what holds. */
const pairs: readonly (readonly [EventType, EventType])[] = [
  ["connected", "disconnected"],
  ["subscribed", "unsubscribed"],
  ["user_online", "user_offline"],
  ["channel_occupied", "channel_vacated"],
];

/** `events.*`. */
export const eventOptions = {
  /**
   * Where events are sent: `https://…` (`http://` for localhost, or with `insecure_endpoints`), `service:BINDING` with or
   * without `#ENTRYPOINT`, or `queue:BINDING`. Nothing is told without it.
   */
  target: { is: "text", read: readTarget },
  /**
   * What the target is told of: `connected` with `disconnected`, `subscribed` with `unsubscribed`, `user_online` with
   * `user_offline`, `channel_occupied` with `channel_vacated`, `publication`, and of [cursors](cursors.md) `unseen` and
   * `seen`.
   */
  types: { is: "texts", read: readTypes },
  /**
   * The namespaces whose channels it is told of; `""` stands for channels without a namespace.
   *
   * @default all
   */
  namespaces: { is: "texts", read: readNamespaces },
  /** The most events in one request. */
  batch_max: {
    is: "whole",
    default: eventLimits.eventsBatchDefault,
    min: 1,
    max: eventLimits.eventsBatchMax,
  },
  /** For how long an event is kept that the target hasn't taken. */
  keep: {
    is: "duration",
    default: eventLimits.eventsKeepMsDefault,
    min: eventLimits.eventsKeepMsMin,
    max: eventLimits.eventsKeepMsMax,
  },
  /** How many events each object keeps; never more than 64 MiB of them. */
  keep_max: {
    is: "whole",
    default: eventLimits.eventsKeepDefault,
    min: eventLimits.eventsKeepMin,
    max: eventLimits.eventsKeepMax,
  },
} as const satisfies Options;

function readTypes(section: Section, name: string): ReadonlySet<EventType> {
  // Made when it is needed, because an isolate starts for every object that wakes.
  const rule = {
    shape: new RegExp(`^(?:${eventTypes.join("|")})$`),
    meaning: `one of ${eventTypes.join(", ")}`,
  };
  const given = readTexts(section, name, rule);
  return new Set(given.flatMap((one) => eventTypes.find((type) => type === one) ?? []));
}

/** Undefined: all namespaces. */
function readNamespaces(section: Section, name: string): ReadonlySet<string> | undefined {
  return section.take(name) === undefined ? undefined : new Set(readTexts(section, name));
}

/** Reads the target. An invalid one isn't quoted, because it may contain a password by mistake. */
function readTarget(section: Section, name: string): EventTarget | undefined {
  const text = readText(section, name);
  if (text === "") return undefined;
  const target = parseQueueTarget(text) ?? parseEndpoint(text, section.plainHttp);
  if (target !== undefined) return target;
  section.problem(
    name,
    `is neither "queue:BINDING" nor "service:BINDING" nor ${urlMeaning(section.plainHttp)}`,
  );
  // After a problem the result is discarded.
  return { kind: "url", url: text };
}

/**
 * Reports what would never be sent: events of namespaces that don't exist, and of users without homes.
 *
 * @param root the section of the whole configuration; receives the problems
 */
export function checkEvents({ events, channel, client }: Config, root: Section): void {
  for (const name of events?.namespaces ?? [])
    if (name !== "" && !channel.namespaces.has(name))
      root.wrongValue("events.namespaces", name, "is not the name of a namespace");
  if (events?.types.has("user_online") === true && !client.users.enabled)
    root.problem("events.types", "requires client.users.enabled for user_online and user_offline");
}

/** The place to which events are sent. */
export function eventTargets({ events }: Config): readonly Target[] {
  return events === undefined ? [] : [{ key: "events.target", endpoint: events.target }];
}
