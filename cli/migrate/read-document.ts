import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { nested } from "./flat-config.ts";
import type { Form } from "./go-value.ts";
import { withPlainNames } from "./plain-names.ts";
import { type ReadConfig, readConfigByKinds } from "./read-tree.ts";
import { pathText } from "./tree.ts";

/** Where the values of a document came from. */
export interface Origins {
  /** What the document was read from, for a person. */
  readonly file: string;
  /** The variables and flags, for a person, by the paths of their values in the document. */
  readonly texts: ReadonlyMap<string, string>;
}

/** A configuration of any version from 4 to 6, nested, with each value in the kind of its option. */
export interface ReadDocument extends ReadConfig {
  /** The names in the source, by the paths of the values; a value that isn't here was at its path already. */
  readonly names: ReadonlyMap<string, string>;
  /** Names in the source that said how proxies are configured, and of which no value is left. */
  readonly spent: readonly string[];
}

/** Reads a document; what Centrifugo refuses is named with its file, variable or flag. */
export function readByKinds(document: JsonObject, origins: Origins): ReadDocument {
  const { tree, origins: names, spent } = nested(withPlainNames(document));
  const textAt = (place: string): string | undefined =>
    above(nameIn(names, place) ?? place)
      .map((one) => origins.texts.get(one))
      .find((one) => one !== undefined);
  const formAt = (place: string): Form => {
    if (textAt(place) !== undefined) return "text";
    return above(place).some((one) => names.has(one)) ? "words" : "file";
  };
  const read = readConfigByKinds(tree.root, (path) => formAt(pathText(path)));
  const bad = new Map(
    Array.from(read.bad, ([place, reason]) => [
      place,
      `${reason} (${textAt(place) ?? origins.file})`,
    ]),
  );
  return { ...read, bad, names, spent };
}

/** The name in the source of a value, or of a part of it; undefined if the value was at its path already. */
export function nameIn(names: ReadonlyMap<string, string>, place: string): string | undefined {
  for (const one of above(place)) {
    const own = names.get(one);
    if (own !== undefined) return `${own}${place.slice(one.length)}`;
  }
  return undefined;
}

/** A place, and the sections above it, the nearest first. */
export function above(place: string): readonly string[] {
  const found: string[] = [];
  for (let end = place.length; end > 0;) {
    found.push(place.slice(0, end));
    end = Math.max(place.lastIndexOf(".", end - 1), place.lastIndexOf("[", end - 1), 0);
  }
  return found;
}
