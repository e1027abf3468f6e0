/**
 * The capabilities that a connection token gives beside the options of namespaces: its claim `caps` (rule A16,
 * docs/protocol.md 5.1).
 */
import { limits } from "../limits.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../protocol/wire-value.ts";
import { matchesGlob } from "./name-glob.ts";
import { Pattern, type PatternFault } from "./pattern.ts";

/**
 * sub: subscribe. pub: publish. prs: presence, joins and leaves. hst: history, position and recovery. call: procedures of the
 * channels' code; it is Dormouse's own.
 */
export type Capability = (typeof capabilities)[number];

const capabilities = ["sub", "pub", "prs", "hst", "call"] as const;
const matches = ["", "wildcard", "regex"] as const;

/** One object of the claim. The names of the fields are stored in attachments (rule V1). */
interface CapabilityEntry {
  readonly channels: readonly string[];
  readonly match: (typeof matches)[number];
  readonly allow: readonly Capability[];
}

type ParsedCapabilities =
  /** `text` is what a session keeps of the claim, for {@link capabilitiesOn}; absent if the claim gives nothing. */
  | { readonly outcome: "read"; readonly text?: string }
  | { readonly outcome: "invalid"; readonly reason: string };

/** Parses and checks the claim. */
export function parseCapabilities(claim: JsonValue | undefined): ParsedCapabilities {
  const list = claim ?? [];
  const parsed = isJsonArray(list) ? list.map(parseEntry) : [undefined];
  const entries = parsed.filter((entry) => entry !== undefined);
  if (entries.length < parsed.length) return invalid(shape);
  if (entries.length === 0) return { outcome: "read" };
  const text = JSON.stringify(entries);
  const count = entries.reduce((sum, { channels }) => sum + channels.length, 0);
  if (count > limits.capabilityChannelsMax)
    return invalid(`has more than ${limits.capabilityChannelsMax} channels`);
  if (text.length > limits.capabilitiesLengthMax)
    return invalid(`has more than ${limits.capabilitiesLengthMax} characters`);
  const { fault } = compiled(text);
  return fault === undefined
    ? { outcome: "read", text }
    : invalid(`has a regular expression that can't be used: ${fault}`);
}

const shape =
  'must be an array of {channels, match, allow}, with "", "wildcard" or "regex" for match, and sub, pub, prs, hst or call in allow';

function invalid(predicate: string): ParsedCapabilities {
  return { outcome: "invalid", reason: `"caps" claim ${predicate}` };
}

function parseEntry(value: JsonValue): CapabilityEntry | undefined {
  if (!isJsonObject(value)) return undefined;
  const channels = value["channels"] ?? [];
  const allow = value["allow"] ?? [];
  const match = matches.find((one) => one === (value["match"] ?? ""));
  if (match === undefined || !isJsonArray(channels) || !isJsonArray(allow)) return undefined;
  const names = channels.filter((one) => typeof one === "string");
  const areKnown = allow.every((one) => capabilities.some((known) => known === one));
  if (names.length < channels.length || !areKnown) return undefined;
  return { channels: names, match, allow: capabilities.filter((one) => allow.includes(one)) };
}

/**
 * What the claim allows on a channel: the first name or pattern that matches decides, as in Centrifugo.
 *
 * @param text from {@link parseCapabilities}; of one that this release can't read, nothing is allowed
 */
export function capabilitiesOn(text: string, channel: string): readonly Capability[] {
  const { rules, known } = compiled(text);
  const kept = known.get(channel);
  if (kept !== undefined) return kept;
  const allow = rules.find((rule) => rule.matches(channel))?.allow ?? [];
  if (known.size >= limits.capabilityChannelsKept) known.clear();
  known.set(channel, allow);
  return allow;
}

/** A claim in the form in which channels are compared with it. */
interface Compiled {
  /** In order; none if there is a fault. */
  readonly rules: readonly Rule[];
  /** Why a regular expression can't be used. */
  readonly fault?: PatternFault;
  /** The capabilities on channels that were asked for, so that a client's next command takes one look-up. */
  readonly known: Map<string, readonly Capability[]>;
}

/** A name or a pattern, and what is allowed where it matches. */
interface Rule {
  readonly matches: (channel: string) => boolean;
  readonly allow: readonly Capability[];
}

/** The claims that were compiled. Many connections have the same; beyond the limit all are dropped, and made again. */
const compiledByText = new Map<string, Compiled>();

function compiled(text: string): Compiled {
  const kept = compiledByText.get(text);
  if (kept !== undefined) return kept;
  const made = compile(JSON.parse(text));
  if (compiledByText.size >= limits.capabilityClaimsKept) compiledByText.clear();
  compiledByText.set(text, made);
  return made;
}

function compile(entries: readonly CapabilityEntry[]): Compiled {
  const rules: Rule[] = [];
  const known = new Map<string, readonly Capability[]>();
  let steps = 0;
  for (const { channels, match, allow } of entries) {
    for (const one of channels) {
      if (match !== "regex") {
        const isGlob = match === "wildcard";
        const test = (channel: string) => (isGlob ? matchesGlob(channel, one) : channel === one);
        rules.push({ matches: test, allow });
        continue;
      }
      const pattern = Pattern.compile(one, 0);
      if (!(pattern instanceof Pattern)) return { rules: [], fault: pattern, known };
      steps += pattern.size;
      if (steps > limits.capabilityStepsMax) return { rules: [], fault: "too-large", known };
      rules.push({ matches: (channel) => pattern.test(channel), allow });
    }
  }
  return { rules, known };
}
