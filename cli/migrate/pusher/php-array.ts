import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/wire-value.ts";
import type { Variables } from "../compose/interpolation.ts";

/** The array that a file of Laravel's configuration returns. */
export interface ReadArray {
  /** Lists are objects with the keys "0", "1" and so on, as in PHP. */
  readonly array: JsonObject;
  /** The names of the variables that values were taken of, by the values' paths, such as `apps.apps.0.key`. */
  readonly variables: ReadonlyMap<string, string>;
  /** The paths of values that only PHP can tell. */
  readonly unread: readonly string[];
}

/**
 * Reads what a PHP file returns, if that is an array of plain values: texts, numbers, arrays, casts, `env` and `explode`. PHP
 * isn't run.
 *
 * @param given what `env` finds
 * @returns undefined if the file returns no array
 */
export function readPhpArray(text: string, given: Variables): ReadArray | undefined {
  const begin = /\breturn\s*(?=\[|array\s*\()/.exec(text);
  if (begin === null) return undefined;
  const reader = new Reader(text.slice(begin.index + begin[0].length), given);
  const array = reader.value("");
  return isJsonObject(array)
    ? { array, variables: reader.variables, unread: reader.unread }
    : undefined;
}

/** A comment or space, or a token: a text in quotes, a name or number, an arrow, or one character. */
const tokens =
  /(?:\s+|\/\/[^\n]*|#(?!\[)[^\n]*|\/\*.*?\*\/)|('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[\w\\.]+|=>|::|.)/gs;

class Reader {
  readonly variables = new Map<string, string>();
  readonly unread: string[] = [];
  readonly #tokens: readonly string[];
  readonly #given: Variables;
  #at = 0;

  constructor(text: string, given: Variables) {
    this.#tokens = Array.from(text.matchAll(tokens), ([, token]) => token ?? "").filter(Boolean);
    this.#given = given;
  }

  /** The value that begins here, up to a comma or the end of what it is in. @param path where it is */
  value(path: string): JsonValue {
    const begin = this.#at;
    const value = this.#plain(path);
    if (value !== undefined && this.#isEnd()) return value;
    this.#at = begin;
    this.#skip();
    this.unread.push(path);
    return null;
  }

  #plain(path: string): JsonValue | undefined {
    const token = this.#next();
    if (token === "[") return this.#array(path, "]");
    if (token === "(" && ["int", "string", "bool", "float"].includes(this.#peek())) {
      this.#at += 2;
      return this.#plain(path);
    }
    if (/^['"]/.test(token)) return unquoted(token);
    if (/^-?\d[\d_]*$/.test(token)) return Number(token.replaceAll("_", ""));
    const word = token.toLowerCase();
    if (word in constants) return constants[word];
    if (this.#peek() !== "(") return undefined;
    this.#at++;
    if (word === "array") return this.#array(path, ")");
    const [first, second = null] = Object.values(this.#array(path, ")"));
    if (typeof first !== "string") return undefined;
    if (word === "env") return this.#variable(path, first, second);
    if (word !== "explode" || typeof second !== "string") return undefined;
    return Object.fromEntries(second.split(first).entries());
  }

  #variable(path: string, name: string, otherwise: JsonValue): JsonValue {
    const text = this.#given[name];
    this.variables.set(path, name);
    if (text === undefined) return otherwise;
    const word = text.toLowerCase().replace(/^\((\w+)\)$/, "$1");
    return word in constants ? (constants[word] ?? null) : text;
  }

  #array(path: string, end: string): JsonObject {
    const members: [string, JsonValue][] = [];
    while (this.#peek() !== end && this.#peek() !== "") {
      const isNamed = this.#tokens[this.#at + 1] === "=>";
      const key = isNamed ? unquoted(this.#next()) : String(members.length);
      if (isNamed) this.#at++;
      members.push([key, this.value(path === "" ? key : `${path}.${key}`)]);
      if (this.#peek() === ",") this.#at++;
    }
    this.#at++;
    return Object.fromEntries(members);
  }

  /** Leaves out an expression, with all that is in its brackets. */
  #skip(): void {
    for (let depth = 0; !this.#isEnd() || depth > 0; this.#at++) {
      const token = this.#peek();
      if (token === "") return;
      if ("[(".includes(token)) depth++;
      else if ("])".includes(token)) depth--;
    }
  }

  #isEnd(): boolean {
    return ["", ",", "]", ")", ";"].includes(this.#peek());
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #next(): string {
    const token = this.#peek();
    this.#at++;
    return token;
  }
}

const constants: Readonly<Record<string, JsonValue>> = {
  true: true,
  false: false,
  null: null,
  empty: "",
};

function unquoted(token: string): string {
  return /^['"]/.test(token) ? token.slice(1, -1).replaceAll(/\\(['"\\])/g, "$1") : token;
}
