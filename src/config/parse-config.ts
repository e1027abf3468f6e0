import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/wire-value.ts";
import { readChannelSection } from "./channel.ts";
import { readClientSection, checkPersonalChannel } from "./client.ts";
import type { ChannelOptions, Config } from "./config.ts";
import { readHttpApiSection } from "./http-api.ts";
import { jsonFault } from "./json-fault.ts";
import { readPlacementSection } from "./placement.ts";
import { checkRateLimit } from "./rate-limit.ts";
import { Section, typeName } from "./section.ts";
import { unsupportedSwaggerKeys, unsupportedTopLevelKeys } from "./unsupported.ts";
import { readOption, readOptions } from "./fields.ts";
import type { Options } from "./option.ts";
import { readEnabled, transportOptions } from "./transports.ts";
import {
  channelFeatures,
  checks,
  openedByFeatures,
  readAfterApi,
  readFirst,
  readHookBackends,
  readLast,
} from "../features/sections.ts";
import { operations } from "../features/index.ts";

/** The configuration, or all its problems. */
export type ParsedConfig =
  | {
      readonly outcome: "config";
      readonly config: Config;
      /** Sentences about keys that have no effect, with the reason, and about insecure modes. */
      readonly notes: readonly string[];
    }
  /** Sentences, each about one key with its full path; never empty. */
  | { readonly outcome: "bad"; readonly problems: readonly string[] };

/**
 * Parses the operator's configuration: Centrifugo's `config.json`, with its names and nesting (docs/protocol.md 8).
 *
 * A key that Dormouse doesn't support is refused, because ignoring it would promise something that isn't kept. No
 * problem contains the value of a key that may be a secret (rule A7).
 *
 * @param input an object, JSON text of an object, or undefined for all defaults
 */
export function parseConfig(
  input: unknown,
  { showsValues = true, development = false, selfHosted = development }: ParseOptions = {},
): ParsedConfig {
  const parsed = parseConfigDocument(input);
  if (parsed.outcome === "bad") return { outcome: "bad", problems: [parsed.problem] };
  const problems: string[] = [];
  const notes: string[] = [];
  const isPlain = parsed.document["insecure_endpoints"] === true;
  const plainHttp = isPlain ? "allowed" : "offered";
  const report = {
    problems,
    notes,
    showsValues,
    development,
    ...(selfHosted && ({ plainHttp } as const)),
  };
  const config = readConfig(new Section("", parsed.document, report));
  if (problems.length > 0) return { outcome: "bad", problems };
  return {
    outcome: "config",
    config: config.client.insecure ? opened(config) : config,
    notes,
  };
}

/**
 * Reads the whole configuration.
 *
 * @param root of the configuration; receives the problems, after which the result is worth nothing
 */
function readConfig(root: Section): Config {
  readOptions(root, rootOptions);
  const first = readFirst(root);
  const [clientSection, channelSection] = [root.section("client"), root.section("channel")];
  const backends = readHookBackends(root, clientSection);
  const client = readClientSection(clientSection);
  const channel = readChannelSection(channelSection, channelFeatures(backends, first));
  const config: Config = {
    ...first,
    client,
    channel,
    httpApi: readHttpApiSection(root.section("http_api"), operations),
    ...readAfterApi(root, backends, channel),
    transports: readOptions(root, transportOptions),
    swagger: { enabled: readEnabled(root, "swagger", unsupportedSwaggerKeys) },
    placement: readPlacementSection(root.section("placement"), channel),
    ...readLast(root, operations),
  };
  const namespacesKnown = root.isValid("channel") && channelSection.isValid("namespaces");
  if (namespacesKnown) {
    checkPersonalChannel(config, root);
    checkRateLimit(config, root);
    for (const check of checks) check(config, root);
  }
  root.refuseOthers(unsupportedTopLevelKeys);
  return config;
}

/** The options that stand at the top level because they concern several sections. */
export const rootOptions = {
  /**
   * For `npm run serve` and `npm start` only: hooks and events may go to `http` URLs of any host
   * ([self-hosting.md](self-hosting.md#a-backend-in-the-same-private-network)).
   *
   * @differs under `npm run serve` and `npm start` only
   */
  insecure_endpoints: { is: "boolean", own: true, read: readInsecureEndpoints },
} as const satisfies Options;

/** Reads `insecure_endpoints` (rule A20). */
function readInsecureEndpoints(root: Section, name: string): boolean {
  const isOn = readOption(root, name, { is: "boolean" });
  const effect = "lets the URLs of hooks and events be http, which encrypts nothing";
  const isSelfHosted = root.plainHttp !== undefined;
  if (isOn) root.only(name, effect, isSelfHosted, "npm run serve and npm start");
  return isOn;
}

interface ParseOptions {
  /** Whether problems quote values, which only the operator may see; by default they do. */
  readonly showsValues?: boolean;
  /** Whether the configuration is one of `npm start`, where insecure modes exist; by default it isn't. */
  readonly development?: boolean;
  /** Whether the configuration is one of `npm run serve`; by default if it is one of `npm start`. */
  readonly selfHosted?: boolean;
}

/** The configuration as a JSON object, or the problem of an input that isn't one. */
export type ParsedDocument =
  | { readonly outcome: "document"; readonly document: JsonObject }
  | { readonly outcome: "bad"; readonly problem: string };

/**
 * Converts the configuration variable to plain JSON, so that everything after this is typed.
 *
 * An object is converted to JSON text and back. So it means the same as that text, and it has no getters, cycles or
 * prototypes.
 *
 * @param input an object, JSON text of an object, or undefined for an empty one
 */
export function parseConfigDocument(input: unknown): ParsedDocument {
  if (input === undefined) return { outcome: "document", document: {} };
  const value = parseJson(input);
  if (value === undefined) {
    const problem =
      typeof input === "string"
        ? notJson(input)
        : "config must be an object or a JSON string of one, found a value that is not JSON";
    return { outcome: "bad", problem };
  }
  if (isJsonObject(value)) return { outcome: "document", document: value };
  const problem = `config must be an object or a JSON string of one, found ${typeName(value)}`;
  return { outcome: "bad", problem };
}

function notJson(text: string): string {
  const { line, column } = jsonFault(text);
  return `config is a string that is not valid JSON: see line ${line}, column ${column}`;
}

function parseJson(input: unknown): JsonValue | undefined {
  try {
    const text = typeof input === "string" ? input : JSON.stringify(input);
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/**
 * The configuration with `client.insecure`: clients may connect without a token, and do everything except subscribe to a
 * private channel without a token (rule A11, docs/protocol.md 5.3). Features that are off stay off.
 */
function opened(config: Config): Config {
  const { client, channel } = config;
  return {
    ...config,
    client: { ...client, allowAnonymousConnectWithoutToken: true },
    channel: {
      ...channel,
      withoutNamespace: openChannel(channel.withoutNamespace),
      namespaces: new Map(
        [...channel.namespaces].map(([name, options]) => [name, openChannel(options)]),
      ),
    },
  };
}

function openChannel(options: ChannelOptions): ChannelOptions {
  return { ...openedOptions(options), ...openedByFeatures(options) };
}

function openedOptions(options: ChannelOptions): ChannelOptions {
  return {
    ...options,
    allowSubscribeForClient: true,
    allowSubscribeForAnonymous: true,
    allowPublishForClient: true,
    allowPublishForAnonymous: true,
    allowPresenceForClient: true,
    allowPresenceForAnonymous: true,
    allowHistoryForClient: true,
    allowHistoryForAnonymous: true,
    // Without it, no channel is limited to users.
    allowUserLimitedChannels: false,
    limitedChannelsForSubscribersOnly: false,
  };
}
