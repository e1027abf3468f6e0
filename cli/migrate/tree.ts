import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";

/** The keys and indices that lead to a value. */
export type Path = readonly (string | number)[];

/** A configuration while it is converted: an object whose values can be set and removed by their paths. */
export class Tree {
  #root: JsonObject;

  constructor(root: JsonObject = {}) {
    this.#root = root;
  }

  get root(): JsonObject {
    return this.#root;
  }

  /** The value at a path; undefined if there is none. */
  get(path: Path): JsonValue | undefined {
    let value: JsonValue | undefined = this.#root;
    for (const key of path) value = value === undefined ? undefined : below(value, key);
    return value;
  }

  /** Sets a value, and makes the sections above it. */
  set(path: Path, value: JsonValue): void {
    const root = changed(this.#root, path, value);
    if (isJsonObject(root)) this.#root = root;
  }

  /** A path, or else that of the nearest section above it that exists; the empty one if there is none. */
  nearest(path: Path): Path {
    let found = path;
    while (found.length > 0 && this.get(found) === undefined) found = found.slice(0, -1);
    return found;
  }

  /**
   * Removes the value at a path, or else the nearest one above it that exists, and sections that become empty.
   *
   * @returns the path of what was removed; undefined if nothing was there
   */
  remove(path: Path): Path | undefined {
    const found = this.nearest(path);
    if (found.length === 0) return undefined;
    const root = changed(this.#root, found, undefined);
    if (isJsonObject(root)) this.#root = root;
    return found;
  }

  /** All values that aren't sections, with their paths. An array is a value unless it holds sections. */
  leaves(): readonly (readonly [Path, JsonValue])[] {
    return leavesOf(this.#root, []);
  }
}

/** A path as a person writes it, such as `channel.namespaces[0].name`. */
export function pathText(path: Path): string {
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join("");
}

/** The inverse of {@link pathText}. */
export function parsePath(text: string): Path {
  return Array.from(text.matchAll(/[^.[\]]+|\[(\d+)\]/g), ([key, index]) =>
    index === undefined ? key : Number(index),
  );
}

function below(value: JsonValue, key: string | number): JsonValue | undefined {
  if (isJsonArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[String(key)] : undefined;
}

function changed(value: JsonValue | undefined, path: Path, to: JsonValue | undefined): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined) return to ?? {};
  if (typeof key === "number") {
    const list = value !== undefined && isJsonArray(value) ? [...value] : [];
    if (rest.length === 0 && to === undefined) return list.filter((_, index) => index !== key);
    list[key] = rest.length === 0 ? (to ?? null) : changed(list[key], rest, to);
    return list;
  }
  const { [key]: old, ...others } = value !== undefined && isJsonObject(value) ? value : {};
  if (rest.length === 0) return to === undefined ? others : { ...others, [key]: to };
  const inner = changed(old, rest, to);
  const isEmpty = isJsonObject(inner) && Object.keys(inner).length === 0;
  return isEmpty && to === undefined ? others : { ...others, [key]: inner };
}

function leavesOf(value: JsonValue, path: Path): readonly (readonly [Path, JsonValue])[] {
  if (isJsonArray(value) && value.some(isJsonObject))
    return value.flatMap((one, index) => leavesOf(one, [...path, index]));
  if (isJsonObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, one]) => leavesOf(one, [...path, key]));
  return path.length === 0 ? [] : [[path, value]];
}
