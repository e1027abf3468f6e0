import { limits } from "../limits.ts";
import type { ClientConfig, CommandRates, Config, Rate } from "./config.ts";
import { readBoolean, readDurationMs, readText, readWholeNumber } from "./fields.ts";
import type { Section } from "./section.ts";
import { unsupportedRateLimits } from "./unsupported.ts";

/**
 * Reads `client.rate_limit`: how fast one connection, and all connections of a user on one object, may send commands
 * (rule B21). The names are those of Centrifugo PRO.
 *
 * @param section receives the problems
 */
export function readRateLimits(
  section: Section,
): Pick<ClientConfig, "rateLimit" | "userRateLimit"> {
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
    rates.set(readText(one, namespaceName, { default: "" }), readRates(one));
    endSection(one, true);
  }
  endSection(section, rates.size > 0);
  return rates;
}

function readRates(section: Section): readonly Rate[] {
  const buckets = section.sections("buckets", "interval");
  if (buckets.length > limits.ratesMax)
    section.problem("buckets", `has more than ${limits.ratesMax} entries`);
  return buckets.map((bucket) => {
    bucket.demand("rate");
    const burst = readWholeNumber(bucket, "rate", rateRule);
    const intervalMs = readDurationMs(bucket, "interval", intervalRule);
    bucket.refuseOthers({});
    return { burst, perSecond: (burst / intervalMs) * 1_000 };
  });
}

/** Reports buckets that have no effect, an effect without buckets, and unknown keys. */
function endSection(section: Section, hasBuckets: boolean): void {
  if (readBoolean(section, "enabled") !== hasBuckets && section.isValid("enabled"))
    section.problem("enabled", "must be true if there are buckets, and only then");
  section.refuseOthers({});
}

/**
 * Reports rates for a namespace that doesn't exist.
 *
 * @param root the section of the whole configuration; receives the problems
 */
export function checkRateLimit({ client, channel }: Config, root: Section): void {
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

/** The kinds that name no channel. */
const kinds = ["total", "rpc", "send"];
const kindsOfChannels = ["subscribe", "publish", "presence", "presence_stats", "history"];
const overrides = "namespace_overrides";
const namespaceName = "namespace_name";

const rateRule = { default: 1, min: 1, max: limits.rateCommandsMax };
const intervalRule = { defaultMs: 1_000, minMs: 1_000, maxMs: limits.rateIntervalMsMax };
