/**
 * Brings the flat configuration of Centrifugo 4 and 5 into the nested form of Centrifugo 6. Names that are nested
 * already stay where they are.
 */
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { optionName, placeOf } from "./flat-names.ts";
import { parsePath, type Path, pathText, Tree } from "./tree.ts";

/** A nested configuration, and from which names its values came. */
export interface NestedConfig {
  readonly tree: Tree;
  /** The names in the source, by the paths of the values; a value that isn't here was at its path already. */
  readonly origins: ReadonlyMap<string, string>;
  /** Names in the source that said how proxies are configured, and of which no value is left. */
  readonly spent: readonly string[];
}

/** Nests a configuration of any version from 4 to 6. */
export function nested(document: JsonObject): NestedConfig {
  const tree = new Tree();
  const origins = new Map<string, string>();
  const put = (path: Path, value: JsonValue, from: string): void => {
    tree.set(path, value);
    origins.set(pathText(path), from);
  };
  for (const [name, value] of Object.entries(document)) {
    if (shared.has(name) || names.has(name)) continue;
    const place = isNested(name, value) ? undefined : placeOf(name);
    if (place === undefined) tree.set([name], merged(tree.get([name]), value));
    else put(parsePath(place), value, name);
  }
  renameOptions(tree, origins, put);
  if (isFlat(document)) {
    shareProxyOptions(document, tree, put);
    switchProxiesOn(document, tree, put);
  }
  const used = new Set(origins.values());
  const spent = [...shared.keys(), ...names].filter((name) => name in document && !used.has(name));
  return { tree, origins, spent };
}

type Put = (path: Path, value: JsonValue, from: string) => void;

/** Whether the value of a name that both forms have is in the nested form. */
function isNested(name: string, value: JsonValue): boolean {
  return isJsonObject(value) || (isJsonArray(value) && name === "proxies");
}

/** Whether a configuration has flat names, so that options of Centrifugo 4 and 5 have an effect on others. */
function isFlat(document: JsonObject): boolean {
  return Object.entries(document).some(
    ([name, value]) => !isNested(name, value) && placeOf(name) !== undefined,
  );
}

function merged(before: JsonValue | undefined, value: JsonValue): JsonValue {
  return before !== undefined && isJsonObject(before) && isJsonObject(value)
    ? { ...before, ...value }
    : value;
}

/** Renames the options of namespaces, and of the entries of `proxies`. */
function renameOptions(tree: Tree, origins: ReadonlyMap<string, string>, put: Put): void {
  for (const list of [["channel", "namespaces"], ["rpc", "namespaces"], ["proxies"]]) {
    const entries = tree.get(list) ?? [];
    const source = origins.get(pathText(list)) ?? pathText(list);
    for (const [index, entry] of (isJsonArray(entries) ? entries : []).entries()) {
      if (!isJsonObject(entry)) continue;
      for (const [name, value] of Object.entries(entry)) {
        const to = name === "static_http_headers" ? ["http", "static_headers"] : [optionName(name)];
        if (to[0] === name) continue;
        tree.remove([...list, index, name]);
        put([...list, index, ...to], value, `${source}[${index}].${name}`);
      }
    }
  }
}

/** Options of Centrifugo 4 and 5 that all backends share, by their names since. */
const shared: ReadonlyMap<string, Path> = new Map([
  ["proxy_http_headers", ["http_headers"]],
  ["proxy_static_http_headers", ["http", "static_headers"]],
  ["proxy_binary_encoding", ["binary_encoding"]],
  ["proxy_include_connection_meta", ["include_connection_meta"]],
  ["proxy_grpc_metadata", ["grpc_metadata"]],
]);

/** Options of the granular mode of Centrifugo 4 and 5, which is the only one since. */
const names: ReadonlySet<string> = new Set([
  "granular_proxy_mode",
  "connect_proxy_name",
  "refresh_proxy_name",
  "rpc_proxy_name",
]);

const backends: readonly Path[] = [
  ["client", "proxy", "connect"],
  ["client", "proxy", "refresh"],
  ["channel", "proxy", "subscribe"],
  ["channel", "proxy", "publish"],
  ["channel", "proxy", "sub_refresh"],
  ["rpc", "proxy"],
];

function shareProxyOptions(document: JsonObject, tree: Tree, put: Put): void {
  for (const [name, to] of shared) {
    const value = document[name];
    if (value === undefined) continue;
    for (const backend of backends)
      if (tree.get([...backend, "endpoint"]) !== undefined) put([...backend, ...to], value, name);
  }
}

/** In Centrifugo 4 and 5 an endpoint, or the name of a backend, switched a proxy on. */
function switchProxiesOn(document: JsonObject, tree: Tree, put: Put): void {
  const { proxies = [] } = document;
  for (const event of ["connect", "refresh"]) {
    const own = ["client", "proxy", event];
    const name = document[`${event}_proxy_name`] ?? "";
    const entries = isJsonArray(proxies) ? proxies.filter(isJsonObject) : [];
    const index = entries.findIndex((one) => name !== "" && one["name"] === name);
    const { name: _, ...backend } = isJsonObject(tree.get(["proxies", index]) ?? "")
      ? objectAt(tree, ["proxies", index])
      : {};
    for (const [key, value] of Object.entries(backend))
      put([...own, key], value, `${event}_proxy_name`);
    const endpoint = tree.get([...own, "endpoint"]) ?? "";
    if (endpoint !== "") put([...own, "enabled"], true, fromOf(document, event));
  }
  const rpcName = document["rpc_proxy_name"] ?? "";
  const isRpcOn = rpcName !== "" || (tree.get(["rpc", "proxy", "endpoint"]) ?? "") !== "";
  if (isRpcOn) put(["rpc", "without_namespace", "proxy_enabled"], true, fromOf(document, "rpc"));
  if (rpcName !== "") put(["rpc", "without_namespace", "proxy_name"], rpcName, "rpc_proxy_name");
  for (const [path, value] of tree.leaves()) {
    const option = /^((?:.+_)?proxy)_name$/.exec(String(path.at(-1)))?.[1];
    const enabled = [...path.slice(0, -1), `${option}_enabled`];
    if (option !== undefined && value !== "" && tree.get(enabled) === undefined)
      put(enabled, true, pathText(path));
  }
}

function fromOf(document: JsonObject, event: string): string {
  const name = `${event}_proxy_name`;
  return document[name] === undefined ? `proxy_${event}_endpoint` : name;
}

function objectAt(tree: Tree, path: Path): JsonObject {
  const value = tree.get(path) ?? {};
  return isJsonObject(value) ? value : {};
}
