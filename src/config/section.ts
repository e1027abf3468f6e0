import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../protocol/wire-value.ts";
import { nestedName } from "./flat-names.ts";
import { effectOf, type UnsupportedKey, type UnsupportedKeys } from "./unsupported.ts";

/** Where the problems of a configuration are collected, and what they may say. */
export interface ProblemReport {
  readonly problems: string[];
  /** Sentences about keys that are accepted but have no effect, or that open everything. */
  readonly notes: string[];
  /** Whether the configuration is one of `npm start`, where insecure modes exist. */
  readonly development: boolean;
  /** Whether endpoints of any host may be http (rule A20), or could be; absent: only those of localhost. */
  readonly plainHttp?: "allowed" | "offered";
  /** Whether the problems quote values, such as an origin or a pattern, and the names of namespaces. */
  readonly showsValues: boolean;
}

/**
 * One object of the configuration while it is read. A section knows its path, which of its keys were read, and which
 * were invalid. All sections report to one list of problems, so that the operator sees all of them at once. After a
 * problem, reading continues with a default, and the result is discarded.
 */
export class Section {
  /** The path of the section, such as `client.token`; "" for the whole configuration. */
  readonly path: string;
  readonly #values: ReadonlyMap<string, JsonValue>;
  readonly #report: ProblemReport;
  readonly #known = new Set<string>();
  readonly #bad = new Set<string>();

  constructor(path: string, values: JsonObject, report: ProblemReport) {
    this.path = path;
    // A map, because `__proto__` and `constructor` are ordinary keys of a map.
    this.#values = new Map(Object.entries(values));
    this.#report = report;
  }

  /** As of {@link ProblemReport}. */
  get plainHttp(): ProblemReport["plainHttp"] {
    return this.#report.plainHttp;
  }

  /** The value of a key, undefined if absent. Afterwards the key counts as known. */
  take(name: string): JsonValue | undefined {
    this.#known.add(name);
    return this.#values.get(name);
  }

  /** The section below a key; an empty one if the value is absent or not an object. */
  section(name: string): Section {
    const value = this.take(name);
    if (value !== undefined && isJsonObject(value)) return this.#below(name, value);
    if (value !== undefined) this.wrongType(name, value, "an object");
    return this.#below(name, {});
  }

  /**
   * The sections in the array below a key, without elements that aren't objects; none if the value is absent or not an
   * array. The path of each section has its index and, if that is a string, the element's `titleKey`, because operators
   * know their namespaces by name. More than `max` are a problem.
   */
  sections(name: string, titleKey: string, max = Number.POSITIVE_INFINITY): readonly Section[] {
    const value = this.take(name);
    if (value === undefined) return [];
    if (isJsonArray(value)) {
      const sections = value.flatMap((element, index) => {
        const shownTitle = this.#report.showsValues ? title(element, titleKey) : "";
        const elementName = `${name}[${index}]${shownTitle}`;
        if (isJsonObject(element)) return [this.#below(elementName, element)];
        this.wrongType(elementName, element, "an object");
        return [];
      });
      if (sections.length > max) this.problem(name, `has more than ${max} entries`);
      return sections;
    }
    this.wrongType(name, value, "an array of objects");
    return [];
  }

  /**
   * Whether no problem was reported for a key. An invalid key must not cause problems for the keys that depend on it.
   */
  isValid(name: string): boolean {
    return !this.#bad.has(name);
  }

  /** The full path of a key in this section. */
  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** Reports a problem of a key. The predicate completes a sentence whose subject is the key. */
  problem(name: string, predicate: string): void {
    this.#bad.add(name);
    this.#report.problems.push(`${this.pathOf(name)} ${predicate}`);
  }

  /** Reports a key that is absent, "" or an empty array. */
  demand(name: string): void {
    const value = this.take(name) ?? "";
    const isEmpty = value === "" || (isJsonArray(value) && value.length === 0);
    if (isEmpty && this.isValid(name)) this.problem(name, "is missing");
  }

  /**
   * Reports a value that another section of the same array has already.
   *
   * @param owners the paths of the sections before, by their values
   */
  demandUnique(name: string, owners: Map<string, string>): void {
    const value = this.take(name);
    if (typeof value !== "string" || value === "") return;
    const owner = owners.get(value);
    if (owner === undefined) owners.set(value, this.path);
    else this.problem(name, `is already the ${name} of ${owner}`);
  }

  /** Reports a value of the wrong type. */
  wrongType(name: string, value: JsonValue, expected: string): void {
    this.problem(name, `must be ${expected}, found ${typeName(value)}`);
  }

  /**
   * Reports an invalid value of the right type. The value is quoted if the report shows values, unless the name of the
   * key suggests a secret (rule A7).
   */
  wrongValue(name: string, value: string | number, predicate: string): void {
    this.#bad.add(name);
    const shown = this.#report.showsValues && !mayBeSecret(name) ? `: ${quoted(value)}` : "";
    this.#report.problems.push(`${this.pathOf(name)}${shown} ${predicate}`);
  }

  /** Reports every key that hasn't been read. Must be called last. */
  refuseOthers(unsupported: UnsupportedKeys): void {
    for (const [name, value] of this.#values) {
      if (this.#known.has(name)) continue;
      const key = Object.hasOwn(unsupported, name) ? unsupported[name] : undefined;
      if (key === undefined) {
        this.#refuseUnknown(name, [...this.#known, ...Object.keys(unsupported)]);
      } else if (key.below !== undefined && isJsonObject(value)) {
        this.#below(name, value).refuseOthers(key.below);
      } else {
        this.#judge(name, value, key);
      }
    }
  }

  /** Refuses or notes a key that isn't supported. */
  #judge(name: string, value: JsonValue, key: UnsupportedKey): void {
    const { developmentOnly } = key;
    if (developmentOnly !== undefined && isJsonObject(value) && value[developmentOnly] === true)
      this.#below(name, value).developmentOnly(developmentOnly, "has nothing to open");
    switch (effectOf(value, key)) {
      case "none":
        return;
      case "ignored":
        this.note(name, `is ignored: ${key.because ?? ""}`);
        return;
      case "refused":
        this.problem(name, key.refusal);
    }
  }

  /** Notes that a key is on that exists for development only, or else refuses it. */
  developmentOnly(name: string, effect: string): void {
    this.only(name, effect, this.#report.development, "npm start");
  }

  /** Notes that a key is on that exists in some place only, or else refuses it. */
  only(name: string, effect: string, isThere: boolean, where: string): void {
    if (isThere) this.note(name, effect);
    else this.problem(name, `is for ${where} only`);
  }

  /** Notes what an operator should know of a key. The predicate completes a sentence whose subject is the key. */
  note(name: string, predicate: string): void {
    this.#report.notes.push(`${this.pathOf(name)} ${predicate}`);
  }

  #refuseUnknown(name: string, names: readonly string[]): void {
    const nested = this.path === "" ? nestedName(name) : undefined;
    if (nested !== undefined) {
      this.problem(name, `is a name of Centrifugo 5: write ${nested}`);
      return;
    }
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    this.problem(printableName(name), `is unknown${hint}`);
  }

  #below(name: string, values: JsonObject): Section {
    return new Section(this.pathOf(name), values, this.#report);
  }
}

/** The type of a value in words, with an article, such as "a string"; never the value. */
export function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function title(value: JsonValue, titleKey: string): string {
  const text = isJsonObject(value) ? value[titleKey] : undefined;
  return typeof text === "string" && text !== "" ? ` (${quoted(text)})` : "";
}

/** Whether a key's name suggests a secret. A reader of the log may not be entitled to know secrets. */
function mayBeSecret(name: string): boolean {
  return /key|secret|token|password/i.test(name);
}

/** A value as JSON, of bounded length and without control characters, so that it fits on one line of a log. */
function quoted(value: string | number): string {
  if (typeof value === "number" || value.length <= shownLengthMax) return JSON.stringify(value);
  return `${JSON.stringify(value.slice(0, shownLengthMax))}…`;
}

/** A name as it stands in a text: as JSON and of bounded length, unless it is a plain and short word. */
export function printableName(name: string): string {
  return /^[-\w.]{1,64}$/.test(name) ? name : quoted(name);
}

const shownLengthMax = 64;

/**
 * Finds the name that was probably meant by a misspelt one.
 *
 * @param names in order of preference: the first of two equally near names is returned
 * @returns undefined if no name is near, that is, within 3 edits and half the length of a short name
 */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  // The work grows with the length, and no known name is that long.
  if (name.length > nameLengthMax) return undefined;
  let nearest: string | undefined;
  let nearestDistance = Math.min(distanceMax, Math.floor(name.length / 2)) + 1;
  for (const candidate of names) {
    const distance = editDistance(name, candidate);
    if (distance >= nearestDistance) continue;
    nearest = candidate;
    nearestDistance = distance;
  }
  return nearest;
}

/** The number of letters to add, remove or replace to turn one text into the other (Levenshtein distance). */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = from[row - 1] === to[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          at(previous, column) + 1,
          at(current, column - 1) + 1,
          at(previous, column - 1) + replaced,
        ),
      );
    }
    previous = current;
  }
  return at(previous, to.length);
}

/** Every index that is read has been filled; the fallback is for the compiler only. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

const distanceMax = 3;
const nameLengthMax = 64;
