import { Section } from "../../src/config/section.ts";
import type { JsonValue } from "../../src/protocol/wire-value.ts";

/** A key of the configuration, as those that read it show it. */
export type ReadKey =
  | { readonly kind: "section"; readonly keys: ReadKeys }
  /** An array of sections. */
  | { readonly kind: "sections"; readonly keys: ReadKeys }
  /** What was said of a value of a wrong type, such as "true or false"; "" while nothing was. */
  | { readonly kind: "value"; expected: string };

/** Of one section, by their names. */
export type ReadKeys = Map<string, ReadKey>;

/**
 * A section that finds out which keys there are: it gives each reader a value of a wrong type, and keeps what the reader says
 * of it. So what describes the configuration can't differ from what checks it.
 */
export class ProbedSection extends Section {
  readonly #keys: ReadKeys;
  readonly #valueOf: (name: string) => JsonValue | undefined;

  /**
   * @param keys    gets the keys that are read; what an earlier probe has found stays
   * @param valueOf the value of a key; undefined: it is absent
   */
  constructor(path: string, keys: ReadKeys, valueOf: (name: string) => JsonValue | undefined) {
    const report = { problems: [], notes: [], development: true, showsValues: false } as const;
    super(path, {}, { ...report, problems: [], notes: [], plainHttp: "allowed" });
    this.#keys = keys;
    this.#valueOf = valueOf;
  }

  override take(name: string): JsonValue | undefined {
    if (!this.#keys.has(name)) this.#keys.set(name, { kind: "value", expected: "" });
    return this.#valueOf(name);
  }

  override section(name: string): Section {
    return new ProbedSection(this.pathOf(name), this.#below(name, "section"), this.#valueOf);
  }

  override sections(name: string): readonly Section[] {
    const path = `${this.pathOf(name)}[]`;
    return [new ProbedSection(path, this.#below(name, "sections"), this.#valueOf)];
  }

  override wrongType(name: string, value: JsonValue, expected: string): void {
    super.wrongType(name, value, expected);
    const key = this.#keys.get(name);
    if (key?.kind === "value" && key.expected === "") key.expected = expected;
  }

  /** Nothing is unknown to a section that has no keys of its own. */
  override refuseOthers(): void {}

  #below(name: string, kind: "section" | "sections"): ReadKeys {
    const known = this.#keys.get(name);
    if (known !== undefined && known.kind !== "value") return known.keys;
    const keys: ReadKeys = new Map();
    this.#keys.set(name, { kind, keys });
    return keys;
  }
}
