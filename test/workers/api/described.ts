import { Validator } from "@cfworker/json-schema";
import { address, fetchWith } from "../support/api-request.ts";

/** A schema of the description, as far as the walk through an answer needs it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}

interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly required?: true }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly post: { readonly responses: Readonly<Record<string, Response>> } }>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** The description of the HTTP API as the Worker serves it, to which answers of the Worker are held. */
export class Description {
  readonly #document: Document;
  /** The same, but no object may have a field that isn't described. */
  readonly #strict: object;
  readonly #validators = new WeakMap<Schema, Validator>();
  readonly #seenFields = new Set<string>();
  readonly #seenStatuses = new Set<string>();

  /** Gets it from the Worker. */
  static async fetch(own: object = {}): Promise<Description> {
    const config = { ...own, swagger: { enabled: true } };
    const response = await fetchWith({ config }, new Request(address("/openapi.json")));
    return new Description(await response.json());
  }

  private constructor(document: Document) {
    this.#document = document;
    const { schemas } = document.components;
    const strict = Object.entries(schemas).map(([name, schema]) => [
      name,
      schema.properties === undefined ? schema : { ...schema, additionalProperties: false },
    ]);
    this.#strict = { schemas: Object.fromEntries(strict) };
  }

  /** The described addresses. */
  get paths(): readonly string[] {
    return Object.keys(this.#document.paths);
  }

  /**
   * Gives the body of a response of the Worker.
   *
   * @param lines whether the schema is that of each line
   * @throws if the response isn't as described
   */
  async check(path: string, response: globalThis.Response, lines = false): Promise<string> {
    const { status, headers } = response;
    const type = headers.get("Content-Type");
    const what = `${path}, answered ${status} with ${type}`;
    const described = this.#responseOf(path, status);
    if (described === undefined) throw new Error(`not described: ${what}`);
    this.#seenStatuses.add(`${path} ${status}`);
    for (const [name, { required }] of Object.entries(described.headers ?? {}))
      if (required === true && !headers.has(name)) throw new Error(`without ${name}: ${what}`);
    const body = await response.text();
    if (type === null) {
      if (body !== "" || described.content !== undefined)
        throw new Error(`without a type: ${what}`);
      return body;
    }
    const schema = described.content?.[type]?.schema;
    if (schema === undefined) throw new Error(`not described: ${what}`);
    if (type === "text/plain") return body;
    for (const text of lines ? body.trimEnd().split("\n") : [body]) {
      const value: unknown = JSON.parse(text);
      const errors = this.#errorsOf(schema, value);
      if (errors.length > 0) throw new Error(`${errors.join("; ")}: ${what}: ${text}`);
      this.#see(schema, value, path);
    }
    return body;
  }

  /** The described statuses of an address that no checked response had. */
  unseenStatuses(path: string): readonly string[] {
    const responses = this.#document.paths[path]?.post.responses ?? {};
    return Object.keys(responses).filter((status) => !this.#seenStatuses.has(`${path} ${status}`));
  }

  /**
   * The described fields of answers that no checked response had, as `PublishResult.offset`.
   *
   * @param paths whose answers are meant; all of them if absent
   */
  unseenFields(paths: readonly string[] = this.paths): readonly string[] {
    const { schemas } = this.#document.components;
    const inAnswers = new Set<string>();
    const collect = (name: string): void => {
      if (inAnswers.has(name)) return;
      inAnswers.add(name);
      for (const below of referredIn(schemas[name] ?? {})) collect(below);
    };
    for (const path of paths)
      for (const name of referredIn(this.#document.paths[path]?.post.responses ?? {}))
        collect(name);
    return [...inAnswers]
      .flatMap((name) =>
        Object.keys(schemas[name]?.properties ?? {}).map((one) => `${name}.${one}`),
      )
      .filter((field) => !this.#seenFields.has(field));
  }

  #responseOf(path: string, status: number): Response | undefined {
    const { paths, components } = this.#document;
    const response = paths[path]?.post.responses[String(status)];
    return response?.$ref === undefined ? response : components.responses[nameIn(response.$ref)];
  }

  #errorsOf(schema: Schema, value: unknown): readonly string[] {
    const { errors } = this.#validatorOf(schema).validate(value);
    return errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  }

  /** Made once for each schema, because that takes longer than its use. */
  #validatorOf(schema: Schema): Validator {
    const known = this.#validators.get(schema);
    if (known !== undefined) return known;
    const whole = JSON.stringify({ ...schema, components: this.#strict });
    const plain: ConstructorParameters<typeof Validator>[0] = JSON.parse(whole);
    const validator = new Validator(plain, "2020-12");
    this.#validators.set(schema, validator);
    return validator;
  }

  /** Notes the fields that a value has, by the names of the schemas that describe them. */
  #see(schema: Schema, value: unknown, name: string): void {
    const { $ref, oneOf, items, properties = {}, additionalProperties } = schema;
    if ($ref !== undefined) {
      const to = nameIn($ref);
      return this.#see(this.#document.components.schemas[to] ?? {}, value, to);
    }
    const alternative = oneOf?.find((one) => this.#errorsOf(one, value).length === 0);
    if (alternative !== undefined) return this.#see(alternative, value, name);
    if (Array.isArray(value)) {
      for (const element of value) this.#see(items ?? {}, element, name);
    } else if (typeof value === "object" && value !== null) {
      const members: readonly (readonly [string, unknown])[] = Object.entries(value);
      for (const [key, member] of members) {
        const property = properties[key];
        if (property !== undefined) this.#seenFields.add(`${name}.${key}`);
        this.#see(property ?? (additionalProperties || {}), member, name);
      }
    }
  }
}

/** The names of the schemas to which a part of the description refers itself. */
function referredIn(part: object): readonly string[] {
  const references = JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return Array.from(references, ([, name = ""]) => name);
}

function nameIn(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}
