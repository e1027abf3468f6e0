import { limits } from "../limits.ts";
import { readOptions, readSection, readText } from "./fields.ts";
import type { Options } from "./option.ts";
import type { Section } from "./section.ts";
import { unsupportedRateLimits } from "./unsupported.ts";

/** The rates of commands: of each kind by its name, and of all kinds by "total" (rule B21). */
export interface RateLimits {
  /** Those of one connection. */
  readonly rateLimit: ReadonlyMap<string, CommandRates>;
  /** Those of all connections of one user on one object together. */
  readonly userRateLimit: ReadonlyMap<string, CommandRates>;
}

/**
 * The rates of one kind of commands by the namespace of the channel, and by "" for all other namespaces. All rates of
 * one namespace must be kept.
 */
export type CommandRates = ReadonlyMap<string, readonly Rate[]>;

/** One rate. */
export interface Rate {
  /** How many times at once. */
  readonly burst: number;
  readonly perSecond: number;
}

/** A bucket holds `rate` commands and fills up within `interval`. */
export const bucketOptions = {
  /**
   * How many commands a bucket holds, so how many may come at once.
   *
   * @default required
   */
  rate: { is: "whole", default: 1, min: 1, max: limits.rateCommandsMax },
  /** Within which time a bucket fills up. */
  interval: { is: "duration", default: 1_000, min: 1_000, max: limits.rateIntervalMsMax },
} as const satisfies Options;

/** The switch of a set of rates. */
export const switchOptions = {
  /** Has to be `true` where there are buckets, and only there. */
  enabled: { is: "boolean" },
} as const satisfies Options;

/** The kinds of commands that name no channel. */
const kinds = ["total", "rpc", "send"];
const kindsOfChannels = ["subscribe", "publish", "presence", "presence_stats", "history"];

/**
 * Reads `client.rate_limit`: how fast one connection, and all connections of a user on one object, may send commands
 * (rule B21). The names are those of Centrifugo PRO.
 *
 * @param section receives the problems
 */
export function readRateLimits(section: Section): RateLimits {
  const rateLimit = readCommands(section.section("client_command"));
  const userRateLimit = readCommands(section.section("user_command"));
  section.refuseOthers(unsupportedRateLimits);
  return { rateLimit, userRateLimit };
}

function readCommands(commands: Section): ReadonlyMap<string, CommandRates> {
  const all = new Map<string, CommandRates>();
  for (const kind of [...kinds, ...kindsOfChannels]) {
    const rates = readCommandRates(commands.section(kind), kindsOfChannels.includes(kind));
    if (rates.size > 0) all.set(kind, rates);
  }
  endSection(commands, all.size > 0);
  return all;
}

/** @param hasChannel whether the command is about a channel, whose namespace may have rates of its own */
function readCommandRates(section: Section, hasChannel: boolean): CommandRates {
  const rates = new Map<string, readonly Rate[]>();
  const own = readRates(section);
  if (own.length > 0) rates.set("", own);
  const owners = new Map<string, string>();
  for (const one of hasChannel ? section.sections(overrides, namespaceName) : []) {
    one.demand(namespaceName);
    one.demandUnique(namespaceName, owners);
    one.demand("buckets");
    rates.set(readText(one, namespaceName), readRates(one));
    endSection(one, true);
  }
  endSection(section, rates.size > 0);
  return rates;
}

function readRates(section: Section): readonly Rate[] {
  const buckets = section.sections("buckets", "interval", limits.ratesMax);
  return buckets.map((bucket) => {
    bucket.demand("rate");
    const { rate: burst, intervalMs } = readSection(bucket, bucketOptions);
    return { burst, perSecond: (burst / intervalMs) * 1_000 };
  });
}

/** Reports buckets that have no effect, an effect without buckets, and unknown keys. */
function endSection(section: Section, hasBuckets: boolean): void {
  if (readOptions(section, switchOptions).enabled !== hasBuckets && section.isValid("enabled"))
    section.problem("enabled", "must be true if there are buckets, and only then");
  section.refuseOthers({});
}

interface Namespaces {
  readonly namespaces: ReadonlyMap<string, object>;
}

/**
 * Reports rates for a namespace that doesn't exist.
 *
 * @param root the section of the whole configuration; receives the problems
 */
export function checkRateLimit(
  { client, channel }: { readonly client: RateLimits; readonly channel: Namespaces },
  root: Section,
): void {
  for (const [section, limit] of [
    ["client_command", client.rateLimit],
    ["user_command", client.userRateLimit],
  ] as const) {
    for (const [kind, rates] of limit) {
      const key = `client.rate_limit.${section}.${kind}.${overrides}`;
      for (const name of rates.keys())
        if (name !== "" && !channel.namespaces.has(name))
          root.wrongValue(key, name, "is not the name of a namespace");
    }
  }
}

const overrides = "namespace_overrides";
const namespaceName = "namespace_name";
