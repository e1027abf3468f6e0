import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { typeName } from "../../src/config/section.ts";
import { type Form, isZero, jsonOf, readValue, wordsOf } from "./go-value.ts";
import { centrifugoOptions, type Option, type Options } from "./options.ts";
import { type Path, pathText } from "./tree.ts";

/** A configuration in which each value of an option of Centrifugo is of the option's kind. */
export interface ReadConfig {
  readonly root: JsonObject;
  /** What Centrifugo itself refuses, by its path: the rest of a sentence that quotes no value. It stays in `root`. */
  readonly bad: ReadonlyMap<string, string>;
  /** What isn't in `root` any more, because it says nothing. */
  readonly left: readonly {
    readonly path: Path;
    readonly why: "no value" | "default" | "unknown";
  }[];
}

/**
 * Reads all values of a nested configuration by the kinds of their options. Names that Centrifugo doesn't have stay.
 *
 * @param formOf how the value at a path was written
 */
export function readConfigByKinds(root: JsonObject, formOf: (path: Path) => Form): ReadConfig {
  const reading = new Reading(formOf);
  return { root: reading.section(root, centrifugoOptions, []), ...reading.found };
}

/** Reads a list of sections: itself, one section for a list of one, or in a variable its JSON or its names. */
export function readSections(value: JsonValue, form: Form): readonly JsonValue[] | undefined {
  if (typeof value === "string" && form !== "file") {
    const list = /^\s*[[{]/.test(value) ? jsonOf(value) : wordsOf(value).map((name) => ({ name }));
    return list !== undefined && isJsonArray(list) ? list : undefined;
  }
  if (isJsonObject(value)) return Object.keys(value).length === 0 ? [] : [value];
  return isJsonArray(value) ? value : undefined;
}

class Reading {
  readonly #formOf: (path: Path) => Form;
  readonly #bad = new Map<string, string>();
  readonly #left: ReadConfig["left"][number][] = [];

  constructor(formOf: (path: Path) => Form) {
    this.#formOf = formOf;
  }

  get found(): Pick<ReadConfig, "bad" | "left"> {
    return { bad: this.#bad, left: this.#left };
  }

  section(values: JsonObject, options: Options, path: Path): JsonObject {
    const entries = Object.entries(values).flatMap(([name, value]) => {
      const read = this.#value(value, options.get(name), [...path, name]);
      return read === undefined ? [] : [[name, read] as const];
    });
    return Object.fromEntries(entries);
  }

  /** The value as its option takes it; undefined if it says nothing. */
  #value(value: JsonValue, option: Option | undefined, path: Path): JsonValue | undefined {
    if (option === undefined) {
      // The server's own parser says of other names what is nearest to them.
      if (plainName.test(String(path.at(-1)))) return value;
      this.#left.push({ path, why: "unknown" });
      return undefined;
    }
    if (value === null) {
      this.#left.push({ path, why: "no value" });
      return undefined;
    }
    switch (option.kind) {
      case "section":
        if (isJsonObject(value)) return this.#below(value, option.options, path);
        return this.#refuse(value, path, "an object");
      case "sections":
        return this.#sections(value, option.options, path);
      case "boolean":
      case "whole":
      case "duration":
      case "text":
      case "texts":
      case "map":
        return this.#single(value, option, path);
    }
  }

  /** A section; undefined if nothing is left of it. */
  #below(value: JsonObject, options: Options, path: Path): JsonObject | undefined {
    const read = this.section(value, options, path);
    const isEmptied = Object.keys(read).length === 0 && Object.keys(value).length > 0;
    return isEmptied ? undefined : read;
  }

  #sections(value: JsonValue, options: Options, path: Path): JsonValue {
    const list = readSections(value, this.#formOf(path));
    if (list === undefined) return this.#refuse(value, path, "a list of objects");
    return list.map((one, index) => {
      const at = [...path, index];
      if (one === null) return {};
      return isJsonObject(one)
        ? this.section(one, options, at)
        : this.#refuse(one, at, "an object");
    });
  }

  #single(
    value: JsonValue,
    option: Extract<Option, { readonly hasDefault: boolean }>,
    path: Path,
  ): JsonValue | undefined {
    const form = this.#formOf(path);
    const read = readValue(option.kind, value, form);
    switch (read.outcome) {
      case "bad":
        return this.#refuse(value, path, read.expected);
      case "none":
        this.#left.push({ path, why: "no value" });
        return undefined;
      case "value":
        if (form !== "file" || !option.hasDefault || !isZero(read.value)) return read.value;
        this.#left.push({ path, why: "default" });
        return undefined;
    }
  }

  #refuse(value: JsonValue, path: Path, expected: string): JsonValue {
    this.#bad.set(pathText(path), `must be ${expected}, found ${typeName(value)}`);
    return value;
  }
}

/** A name that has the same path in each notation. */
const plainName = /^[-\w]+$/;
