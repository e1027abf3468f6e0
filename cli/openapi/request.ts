/**
 * The schemas of requests: made of the shapes with which `src/api` checks requests, and of notes that say what a shape
 * doesn't. The compiler sees to it that each field of a shape has a note.
 */
import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import type { OperationName } from "../../src/access/operations.ts";
import { eventsShape } from "../../src/features/events/events-request.ts";
import { methods } from "../../src/api/methods.ts";
import { broadcastShape } from "../../src/api/publish.ts";
import type { Shaped } from "../../src/api/shape.ts";
import type { Schema } from "./schema.ts";

/** The shape of the requests of a method, by its name. */
export const shapes = {
  ...methods,
  broadcast: { shape: broadcastShape },
  events: { shape: eventsShape },
} as const satisfies Readonly<Record<OperationName, { readonly shape: () => v.GenericSchema }>>;

/** The shape of a method's requests. */
export type ShapeOf<Name extends OperationName> = (typeof shapes)[Name]["shape"];

/** What the description says of a field beside what the field's shape tells. */
export interface FieldNote extends Omit<Schema, "properties" | "required"> {
  readonly description: string;
  /** A request without the field is refused. */
  readonly isRequired?: true;
  /** The notes of the fields of a field that is an object. */
  readonly fields?: Readonly<Record<string, FieldNote>>;
}

/** A note for each field of a shape. A field that has no effect on the method isn't shown. */
export type FieldNotes<Shape extends () => v.GenericSchema> = Readonly<
  Record<keyof Shaped<Shape> & string, FieldNote | "not shown">
>;

/**
 * Makes the schema of a method's request.
 *
 * @param shape    with which requests are checked
 * @param notes    on the fields of the shape, in the order in which they are shown
 * @param unshaped the fields that the parser reads from the text of the request, because JSON.parse would change them
 */
export function requestOf<Shape extends () => v.GenericSchema>(
  shape: Shape,
  notes: FieldNotes<Shape>,
  unshaped: Readonly<Record<string, FieldNote>> = {},
): Schema {
  const { properties = {} } = simplified(
    toJsonSchema(shape(), {
      // The shape of an object is a pipe: a check that it isn't an array, and then its fields.
      typeMode: "output",
      overrideSchema: ({ valibotSchema }) =>
        valibotSchema.type === "custom" ? { type: "object" } : undefined,
    }),
  );
  const shaped = Object.entries<FieldNote | "not shown">(notes).filter(
    (entry): entry is [string, FieldNote] => entry[1] !== "not shown",
  );
  const required = shaped.filter(([, note]) => note.isRequired === true);
  // Those that matter come first.
  const shown = { ...Object.fromEntries(required), ...unshaped, ...Object.fromEntries(shaped) };
  return annotated({ type: "object", properties }, shown, Object.keys(unshaped));
}

/** The schema of an object with the notes on its fields, all of which must be there. */
function annotated(
  { properties = {}, ...schema }: Schema,
  notes: Readonly<Record<string, FieldNote>>,
  unshaped: readonly string[] = [],
): Schema {
  const fields: Record<string, Schema> = {};
  for (const [name, { isRequired: _, fields: inner, ...note }] of Object.entries(notes)) {
    const shaped = properties[name];
    if (shaped === undefined && !unshaped.includes(name))
      throw new Error(`a note is about the field ${name}, which no shape has`);
    const field = inner === undefined || shaped === undefined ? shaped : annotated(shaped, inner);
    fields[name] = { ...field, ...note };
    const bare = Object.keys(shaped?.properties ?? {}).filter((one) => !(one in (inner ?? {})));
    if (bare.length > 0) throw new Error(`there is no note on ${bare.join(", ")} of ${name}`);
  }
  const required = Object.keys(notes).filter((name) => notes[name]?.isRequired === true);
  return { ...schema, properties: fields, ...(required.length > 0 && { required }) };
}

/**
 * A converted schema as it is shown. Every field of a request may be null or absent, and both mean the same: the document
 * says so once, and the schemas say neither "or null" nor the default, with which a generated client would fill requests.
 */
function simplified(schema: JsonSchema): Schema {
  const one = schema.anyOf?.find(isShown);
  if (one !== undefined) return simplified(one);
  const { type, properties, items, minimum, maximum } = schema;
  return {
    ...(isKnownType(type) && { type }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && maximum < 2 ** 53 && { maximum }),
    ...(maximum !== undefined && maximum > 2 ** 53 && { format: "uint64" }),
    ...(typeof items === "object" && !Array.isArray(items) && { items: simplified(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties)
          .filter((entry): entry is [string, JsonSchema] => typeof entry[1] === "object")
          .map(([name, field]) => [name, simplified(field)]),
      ),
    }),
  };
}

function isShown(schema: JsonSchema | boolean): schema is JsonSchema {
  return typeof schema === "object" && schema.type !== "null";
}

function isKnownType(type: JsonSchema["type"]): type is NonNullable<Schema["type"]> {
  return type !== undefined && knownTypes.some((known) => known === type);
}

const knownTypes = ["array", "boolean", "integer", "object", "string"] as const;
