/** The part of JSON Schema by which types of requests, answers and configurations are described. */
export interface TypeSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly (string | number)[];
  readonly const?: string | number | boolean;
  readonly items?: TypeSchema;
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | TypeSchema;
  readonly oneOf?: readonly TypeSchema[];
  readonly anyOf?: readonly TypeSchema[];
  readonly allOf?: readonly TypeSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * Writes the type of TypeScript that a schema describes. What it doesn't describe is `unknown`.
 *
 * @param nameOf gives the name of the type that a named schema describes
 */
export function typeText(schema: TypeSchema, nameOf: (name: string) => string = typeName): string {
  const textOf = (one: TypeSchema): string => typeText(one, nameOf);
  if (schema.$ref !== undefined) return nameOf(schema.$ref.split("/").at(-1) ?? "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined && schema.properties === undefined)
    return choices.map(textOf).join(" | ");
  if (schema.allOf !== undefined && schema.properties === undefined)
    return schema.allOf.map(textOf).join(" & ");
  switch (schema.type) {
    case "boolean":
    case "string":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `readonly (${textOf(schema.items ?? {})})[]`;
    case "object":
      return objectText(schema, textOf);
    case undefined:
    default:
      return "unknown";
  }
}

/** The name of the type that a named schema describes: of the API, because the server has types of its own. */
export function typeName(schemaName: string): string {
  return `Api${schemaName}`;
}

function objectText(
  { properties, required = [], additionalProperties }: TypeSchema,
  textOf: (schema: TypeSchema) => string,
): string {
  if (properties === undefined) {
    const values =
      typeof additionalProperties === "object" ? textOf(additionalProperties) : "unknown";
    return `{ readonly [name: string]: ${values} }`;
  }
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? "" : "?";
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${commentText(schema.description)}readonly ${key}${mark}: ${textOf(schema)};\n`;
  });
  return `{\n${fields.join("")}}`;
}

/** A comment in front of a field or a type. */
export function commentText(description: string | undefined): string {
  return description === undefined ? "" : `/** ${description.replaceAll("*/", "*\u200B/")} */\n`;
}
