/**
 * Reads the configuration from Centrifugo's environment variables: `CENTRIFUGO_` and the path in capitals, with `_`
 * between its parts, in version 6; `CENTRIFUGO_` and the flat name in versions 4 and 5.
 */
import { parseJsonText } from "../../src/protocol/json/text.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonValue,
} from "../../src/protocol/wire-value.ts";
import { shown } from "../text/printable.ts";
import { type Path, Tree } from "./tree.ts";

/**
 * Puts the variables over a configuration, which is what Centrifugo does.
 *
 * @param document the configuration of a file; {} if there is none
 * @param variables all of an environment; only those of Centrifugo are taken
 */
export function withEnvironment(
  document: JsonObject,
  variables: Readonly<Record<string, string | undefined>>,
): JsonObject {
  const tree = new Tree(document);
  const given = Object.entries(variables)
    .flatMap(([name, text]) =>
      isOption(name, text ?? "") ? [[name.slice(prefix.length), text ?? ""] as const] : [],
    )
    // A list of namespaces has to be there before the options of each of them.
    .sort(([one], [other]) => one.length - other.length);
  for (const [name, text] of given) {
    const path = pathOf(name, tree);
    tree.set(path, valueOf(String(path.at(-1)), text));
  }
  return tree.root;
}

const prefix = "CENTRIFUGO_";

/** Kubernetes adds variables for each service; `CENTRIFUGO_VAR_` is for texts within values. */
function isOption(name: string, text: string): boolean {
  return (
    name.startsWith(prefix) &&
    !name.startsWith(`${prefix}VAR_`) &&
    !/_SERVICE_|_PORT_\d+_/.test(name) &&
    !text.startsWith("tcp://")
  );
}

function pathOf(name: string, tree: Tree): Path {
  const lists = listPaths.flatMap((path) => elementsOf(path, tree));
  const known = [...lists, ...sections.map((section) => section.split("."))];
  const found = known
    .map((path) => ({ path, variable: `${variableOf(path, tree)}_` }))
    .filter(({ variable }) => name.startsWith(variable) && !flatNames.test(name))
    .sort((one, other) => other.variable.length - one.variable.length)[0];
  if (found === undefined) return [name.toLowerCase()];
  const key = name.slice(found.variable.length).toLowerCase();
  const http = /^http_(static_headers|status_to_code_transforms|tls_.+)$/.exec(key)?.[1];
  return http === undefined ? [...found.path, key] : [...found.path, "http", http];
}

/** Names of Centrifugo 5 that look like a path of Centrifugo 6. */
const flatNames = /^CHANNEL_REGEX$/;

/** The variable of a section. An element of a list is called by its name. */
function variableOf(path: Path, tree: Tree): string {
  const parts = path.map((key, index) => {
    if (typeof key === "string") return key;
    const element = tree.get(path.slice(0, index + 1)) ?? null;
    return isJsonObject(element) ? shown(element["name"]) : "";
  });
  return parts
    .join("_")
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "_");
}

function elementsOf(path: Path, tree: Tree): readonly Path[] {
  const list = tree.get(path) ?? [];
  return isJsonArray(list) ? Array.from(list.keys(), (index) => path.concat(index)) : [];
}

const listPaths: readonly Path[] = [["channel", "namespaces"], ["rpc", "namespaces"], ["proxies"]];

/** Sections whose names, or those of their keys, have a `_` in them: a variable alone doesn't say where one ends. */
const sections = `
  client client.token client.subscription_token client.subscribe_to_user_personal_channel
  client.proxy.connect client.proxy.refresh client.connect_code_to_unidirectional_disconnect
  channel channel.without_namespace channel.proxy.subscribe channel.proxy.publish
  channel.proxy.sub_refresh channel.proxy.subscribe_stream channel.proxy.map_publish
  channel.proxy.map_remove rpc rpc.ping rpc.proxy rpc.without_namespace http_server http_server.tls
  http_server.http3 log node shutdown usage_stats engine engine.redis broker broker.redis broker.nats
  presence_manager presence_manager.redis map_broker controller shared_poll http_api grpc_api
  websocket sse http_stream webtransport uni_sse uni_http_stream uni_grpc uni_websocket emulation
  admin prometheus health swagger debug init opentelemetry graphite`
  .trim()
  .split(/\s+/);

/** A variable is a text; its key says what kind of value it stands for. */
function valueOf(key: string, text: string): JsonValue {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed) && parseJsonText(trimmed) !== undefined) return jsonValue(trimmed);
  if (key === "namespaces" || key === "proxies") return words(trimmed).map((name) => ({ name }));
  if (lists.has(key)) return words(trimmed);
  if (texts.test(key)) return text;
  if (/^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  return /^(?:0|[1-9]\d{0,14})$/.test(trimmed) ? Number(trimmed) : text;
}

/** Centrifugo separates by blanks alone: a pattern of origins may hold a comma. */
function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

const lists: ReadonlySet<string> = new Set([
  "allowed_origins",
  "allowed_delta_types",
  "http_headers",
  "proxy_http_headers",
  "emulated_headers",
]);

/** Keys whose values are texts, even if one looks like a number. */
const texts =
  /(?:key|secret|password|name|prefix|boundary|separator|audience|issuer|regex|claim|endpoint|url|address|dsn|ttl|interval|timeout|delay)$/;
