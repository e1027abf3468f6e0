import { checkNumber, type NumberRule } from "./numbers.ts";
import { DormouseTestError } from "./test-error.ts";

/** The fields of a control call, each read once by its name. */
export class CallFields {
  readonly #call: string;
  readonly #fields: Map<string, unknown>;

  /** @throws {DormouseTestError} if the body is no object of JSON */
  static parse(call: string, body: string): CallFields {
    let parsed: unknown;
    try {
      parsed = body === "" ? {} : JSON.parse(body);
    } catch {
      throw new DormouseTestError(`${call}: the body is no JSON`);
    }
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
      throw new DormouseTestError(`${call}: the body must be a JSON object`);
    return new CallFields(call, new Map(Object.entries(parsed)));
  }

  private constructor(call: string, fields: Map<string, unknown>) {
    this.#call = call;
    this.#fields = fields;
  }

  /** Whether a field is there that wasn't read yet. */
  has(name: string): boolean {
    return this.#fields.get(name) !== undefined;
  }

  /** Any value, which has to be there. */
  value(name: string): unknown {
    const value = this.#take(name);
    if (value === undefined) throw this.#problem(name, "is missing");
    return value;
  }

  text(name: string): string {
    const value = this.value(name);
    if (typeof value !== "string") throw this.#problem(name, "must be a text");
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  /** @param rule absent: the call checks the number itself */
  optionalNumber(name: string, rule?: NumberRule): number | undefined {
    const value = this.#take(name);
    if (value !== undefined && typeof value !== "number")
      throw this.#problem(name, "must be a number");
    if (value !== undefined && rule !== undefined)
      checkNumber(`${this.#call}: ${name}`, value, rule);
    return value;
  }

  /** A duration: a number of ms, or a text. */
  duration(name: string): number | string {
    const value = this.value(name);
    if (typeof value !== "string" && typeof value !== "number")
      throw this.#problem(name, "must be a number of ms, or a text");
    return value;
  }

  /** An object, which is empty if it is absent. */
  object(name: string): Readonly<Record<string, unknown>> {
    const value = this.#take(name) ?? {};
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw this.#problem(name, "must be an object");
    return { ...value };
  }

  /** A list of texts, also for one text; empty if it is absent. */
  texts(name: string): readonly string[] {
    const value = this.#take(name) ?? [];
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.map((one) => {
      if (typeof one !== "string") throw this.#problem(name, "must be a text, or a list of texts");
      return one;
    });
  }

  /** @throws {DormouseTestError} if there is a field that wasn't read */
  end(): void {
    const [name] = this.#fields.keys();
    if (name !== undefined) throw this.#problem(name, "is no field of this call");
  }

  #take(name: string): unknown {
    const value = this.#fields.get(name);
    this.#fields.delete(name);
    return value;
  }

  #problem(name: string, what: string): DormouseTestError {
    return new DormouseTestError(`${this.#call}: ${name} ${what}`);
  }
}
