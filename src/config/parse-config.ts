import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/wire-value.ts";
import { readChannelSection } from "./channel.ts";
import { readClientSection, checkPersonalChannel } from "./client.ts";
import type { Config, TransportsConfig } from "./config.ts";
import { readHttpApiSection } from "./http-api.ts";
import { jsonFault } from "./json-fault.ts";
import { readPlacementSection } from "./placement.ts";
import { checkRateLimit } from "./rate-limit.ts";
import { Section, typeName } from "./section.ts";
import {
  unsupportedTopLevelKeys,
  unsupportedStreamKeys,
  unsupportedSwaggerKeys,
  unsupportedUniWebsocketKeys,
  type UnsupportedKeys,
} from "./unsupported.ts";
import { readBoolean } from "./fields.ts";
import { opened } from "./insecure.ts";
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
  const isPlain = parsed.document[insecureEndpoints] === true;
  const plainHttp = isPlain ? "allowed" : "offered";
  const report = {
    problems,
    notes,
    showsValues,
    development,
    ...(selfHosted && ({ plainHttp } as const)),
  };
  const config = readConfig(new Section("", parsed.document, report), selfHosted);
  if (problems.length > 0) return { outcome: "bad", problems };
  return {
    outcome: "config",
    config: config.client.insecure ? opened(config, openedByFeatures) : config,
    notes,
  };
}

/**
 * Reads the whole configuration.
 *
 * @param root of the configuration; receives the problems, after which the result is worth nothing
 * @param selfHosted as {@link parseConfig} takes it
 */
export function readConfig(root: Section, selfHosted: boolean): Config {
  if (readBoolean(root, insecureEndpoints)) {
    const effect = "lets the URLs of hooks and events be http, which encrypts nothing";
    root.only(insecureEndpoints, effect, selfHosted, "npm run serve and npm start");
  }
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
    transports: readTransports(root),
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

/** Dormouse's own, at the top level because it concerns several sections (rule A20). */
const insecureEndpoints = "insecure_endpoints";

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
 * Reads which transports beside WebSocket are enabled (docs/protocol.md 4).
 *
 * @param root the section of the whole configuration, in which each transport has a section
 */
function readTransports(root: Section): TransportsConfig {
  return {
    sse: readStream(root, "sse"),
    httpStream: readStream(root, "http_stream"),
    uniSse: readStream(root, "uni_sse"),
    uniHttpStream: readStream(root, "uni_http_stream"),
    uniWebsocket: readEnabled(root, "uni_websocket", unsupportedUniWebsocketKeys),
    longPoll: readEnabled(root, "long_poll", {}),
  };
}

function readStream(root: Section, name: string): boolean {
  return readEnabled(root, name, unsupportedStreamKeys(`/connection/${name}`));
}

function readEnabled(root: Section, name: string, unsupported: UnsupportedKeys): boolean {
  const section = root.section(name);
  const enabled = readBoolean(section, "enabled");
  section.refuseOthers(unsupported);
  return enabled;
}
