/** The JSON schemas of the description of the HTTP API, as far as the description needs them, and how they are written. */

/** A JSON schema of the dialect that OpenAPI 3.1 uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: "array" | "boolean" | "integer" | "object" | "string";
  readonly description?: string;
  readonly format?: string;
  readonly contentEncoding?: "base64";
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly if?: Schema;
  readonly else?: Schema;
}

/** The schema of this name among the document's components. */
export function reference(name: string, description?: string): Schema {
  return {
    $ref: `#/components/schemas/${name}`,
    ...(description !== undefined && { description }),
  };
}

/** Any text. */
export function text(description: string): Schema {
  return { type: "string", description };
}

/** An unsigned integer. */
export function count(description: string): Schema {
  return { type: "integer", minimum: 0, description };
}

/** Of an offset, a time or another number that may exceed 32 bits. */
export function large(description: string): Schema {
  return { type: "integer", format: "uint64", minimum: 0, description };
}

/** True; absent for false. */
export function flag(description: string): Schema {
  return { type: "boolean", description };
}

/** Any JSON value. */
export function anything(description: string): Schema {
  return { description };
}

/** An array. */
export function listOf(items: Schema, description: string): Schema {
  return { type: "array", items, description };
}

/** An object whose keys are names, and whose values are alike. */
export function mapOf(additionalProperties: Schema, description: string): Schema {
  return { type: "object", additionalProperties, description };
}

/**
 * An object that an answer holds. A later release may add fields (rule V1), so further ones are allowed.
 *
 * @param always the fields that are always there
 * @param sometimes the fields that may be absent
 */
export function object(
  description: string,
  always: Readonly<Record<string, Schema>>,
  sometimes: Readonly<Record<string, Schema>> = {},
): Schema {
  const required = Object.keys(always);
  return {
    type: "object",
    description,
    properties: { ...always, ...sometimes },
    ...(required.length > 0 && { required }),
  };
}
