import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { refusal } from "../shell.ts";

/** A value in a file of a project, with its path, so that a value of the wrong kind is refused by name. */
export class FilePart {
  readonly #value: JsonValue | undefined;
  readonly #file: string;
  readonly #path: string;

  /**
   * @param value undefined where the file has none
   * @param file  the file's name for a person
   * @param path  of the value in the file; "" for all
   */
  constructor(value: JsonValue | undefined, file: string, path = "") {
    this.#value = value;
    this.#file = file;
    this.#path = path;
  }

  get isThere(): boolean {
    return this.#value !== undefined;
  }

  /** How a failure names it. */
  get shown(): string {
    return this.#path === "" ? this.#file : `${this.#file}: ${this.#path}`;
  }

  /** The value under a key of an object; of an absent object, an absent value. */
  at(key: string): FilePart {
    const object = this.#object();
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    return new FilePart(value, this.#file, this.#path === "" ? key : `${this.#path}.${key}`);
  }

  /** The values of an object with their keys; none if it is absent. */
  entries(): readonly (readonly [string, FilePart])[] {
    return Object.keys(this.#object()).map((key) => [key, this.at(key)]);
  }

  /** The elements of an array; none if it is absent. */
  list(): readonly FilePart[] {
    if (this.#value === undefined) return [];
    if (!isJsonArray(this.#value)) throw this.#wrong("an array");
    return this.#value.map((one, at) => new FilePart(one, this.#file, `${this.#path}[${at}]`));
  }

  /** A text; undefined if it is absent. */
  text(): string | undefined {
    if (this.#value !== undefined && typeof this.#value !== "string") throw this.#wrong("a text");
    return this.#value;
  }

  /** The elements of an array of texts; none if it is absent. */
  texts(): readonly string[] {
    return this.list().map((one) => one.text() ?? "");
  }

  #object(): JsonObject {
    if (this.#value === undefined) return {};
    if (!isJsonObject(this.#value)) throw this.#wrong("an object");
    return this.#value;
  }

  #wrong(kind: string): Error {
    return refusal(`${this.shown} isn't ${kind}`);
  }
}
