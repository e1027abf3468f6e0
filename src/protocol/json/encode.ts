/**
 * Replies and pushes in JSON, and the results that clients and the HTTP API get in the same form. Each is on one line;
 * the fields are those of `reply-fields.ts`.
 */
import { clientInfoFields, pushFields, pushReplyFields, replyFields } from "../reply-fields.ts";
import type { ClientInfo, Tags } from "../publication.ts";
import type { Push, Reply } from "../reply.ts";
import type { JsonText } from "./text.ts";
import type { FieldWriter, Fields, FieldEntry } from "../fields.ts";
import { payloadJson, type Payload } from "../payload.ts";

/** A reply as JSON. */
export function encodeReply(reply: Reply): string {
  return jsonOf(reply, replyFields);
}

/** A push as JSON, in the reply that carries it. */
export function encodePush(push: Push): string {
  return jsonOf(push, pushReplyFields);
}

/** A push as JSON without the reply around it, as unidirectional clients get it (rule T8). */
export function encodeBare(push: Push): string {
  return jsonOf(push, pushFields);
}

/** A client info as JSON. */
export function encodeClientInfo(info: ClientInfo): string {
  return jsonOf(info, clientInfoFields);
}

/** A message as JSON on one line: payloads and other JSON are spliced in untouched (rule W2). */
export function jsonOf<M>(message: M, fields: Fields<M>): string {
  return new JsonWriter().object(message, fields).finish();
}

class JsonWriter implements FieldWriter {
  #json = "";
  /** Whether the object that is being written has no field yet: its first key opens the object. */
  #isEmpty = true;

  object<M>(message: M, fields: Fields<M>): this {
    this.#isEmpty = true;
    fields(this, message);
    this.#json += this.#isEmpty ? "{}" : "}";
    this.#isEmpty = false;
    return this;
  }

  finish(): string {
    return this.#json;
  }

  text(_: number, name: string, value: string | undefined, always?: "always"): void {
    if (value === undefined || (value === "" && always === undefined)) return;
    this.#json += this.#key(name) + JSON.stringify(value);
  }

  flag(_: number, name: string, value: boolean | undefined): void {
    if (value === true) this.#json += `${this.#key(name)}true`;
  }

  unsigned(_: number, name: string, value: number | undefined, always?: "always"): void {
    if (value === undefined || (value <= 0 && always === undefined)) return;
    this.#json += `${this.#key(name)}${value}`;
  }

  wide(_: number, name: string, value: bigint | undefined): void {
    if (value !== undefined && value > 0n) this.#json += `${this.#key(name)}${value}`;
  }

  signed(_: number, name: string, value: number | undefined): void {
    if (value !== undefined && value !== 0) this.#json += `${this.#key(name)}${value}`;
  }

  seconds(number: number, name: string, value: number): void {
    this.unsigned(number, name, value);
  }

  payload(_: number, name: string, value: Payload): void {
    this.#json += this.#key(name) + (typeof value === "string" ? value : payloadJson(value));
  }

  json(_: number, name: string, value: JsonText | undefined): void {
    if (value !== undefined) this.#json += this.#key(name) + value;
  }

  message<M>(_: number, name: string, message: M | undefined, fields: Fields<M>): void {
    if (message === undefined) return;
    this.#json += this.#key(name);
    this.object(message, fields);
  }

  messages<M>(
    _: number,
    name: string,
    messages: readonly M[],
    fields: Fields<M>,
    always?: "always",
  ): void {
    if (messages.length === 0 && always === undefined) return;
    this.#json += `${this.#key(name)}[`;
    let separator = "";
    for (const message of messages) {
      this.#json += separator;
      separator = ",";
      this.object(message, fields);
    }
    this.#json += "]";
  }

  sharedMessages<M>(_: number, name: string, messages: readonly M[], fields: Fields<M>): void {
    if (messages.length === 0) return;
    this.#json += this.#key(name) + (encodedLists.get(messages) ?? encodeList(messages, fields));
  }

  map<M>(
    _: number,
    name: string,
    entries: readonly FieldEntry<M>[],
    fields: Fields<M>,
    always?: "always",
  ): void {
    if (entries.length === 0 && always === undefined) return;
    this.#json += `${this.#key(name)}{`;
    let separator = "";
    for (const [key, message] of entries) {
      this.#json += `${separator}${JSON.stringify(key)}:`;
      separator = ",";
      this.object(message, fields);
    }
    this.#json += "}";
  }

  sharedMap<M>(
    _: number,
    name: string,
    parts: readonly (readonly M[])[],
    keyOf: (message: M) => string,
    fields: Fields<M>,
    always?: "always",
  ): void {
    const filled = parts.filter((part) => part.length > 0);
    if (filled.length === 0 && always === undefined) return;
    this.#json += `${this.#key(name)}{`;
    let separator = "";
    for (const part of filled) {
      this.#json += separator;
      separator = ",";
      this.#json += encodedParts.get(part) ?? encodePart(part, keyOf, fields);
    }
    this.#json += "}";
  }

  textMap(_: number, name: string, texts: Tags | undefined): void {
    if (texts === undefined) return;
    const json = JSON.stringify(texts);
    if (json !== "{}") this.#json += this.#key(name) + json;
  }

  #key(name: string): string {
    const key = keys.get(name) ?? newKey(name);
    if (!this.#isEmpty) return key.next;
    this.#isEmpty = false;
    return key.first;
  }
}

/**
 * The entries of a part, with no braces around them. Joining makes one flat text of the thousands of pieces of which V8
 * would otherwise put it together again for each reply that holds it.
 */
function encodePart<M>(
  part: readonly M[],
  keyOf: (message: M) => string,
  fields: Fields<M>,
): string {
  const entries = part.map((one) => `${JSON.stringify(keyOf(one))}:${jsonOf(one, fields)}`);
  const json = entries.join(",");
  encodedParts.set(part, json);
  return json;
}

/** A list of messages. Joining makes one flat text, as above. */
function encodeList<M>(messages: readonly M[], fields: Fields<M>): string {
  const json = `[${messages.map((one) => jsonOf(one, fields)).join(",")}]`;
  encodedLists.set(messages, json);
  return json;
}

/** The shared lists that were encoded, for as long as somebody holds them. */
const encodedLists = new WeakMap<object, string>();

/** The parts of shared maps that were encoded (rule P5), for as long as somebody holds them. */
const encodedParts = new WeakMap<object, string>();

/**
 * A field's name with all that stands before its value. To put it together each time would double the time for small
 * replies.
 */
interface Key {
  readonly first: string;
  readonly next: string;
}

function newKey(name: string): Key {
  const key = { first: `{"${name}":`, next: `,"${name}":` };
  keys.set(name, key);
  return key;
}

/** By name. All names are those of fields in `reply-fields.ts`, so there are few. */
const keys = new Map<string, Key>();
