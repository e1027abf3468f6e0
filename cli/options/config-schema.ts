/** The schema of the configuration, of its rows. */
import type { Option, Options } from "../../src/config/option.ts";
import * as whole from "../../src/features/options.ts";
import { joinedRules } from "./joined-options.ts";
import { placedOptions, sharedTables } from "./tree.ts";
import { described } from "./words.ts";

/** A part of JSON Schema. */
export interface OptionSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: OptionSchema;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly additionalProperties?: boolean | OptionSchema;
  readonly allOf?: readonly object[];
}

/** The schema of the whole configuration, and those of the sections that it has more than once, by their names. */
export function configSchema(): {
  readonly config: OptionSchema;
  readonly shared: Readonly<Record<string, OptionSchema>>;
} {
  const shared = Array.from(
    sharedTables,
    ([table, name]) => [name, schemaOf(table, false)] as const,
  );
  return { config: schemaOf(whole.configuration, false), shared: Object.fromEntries(shared) };
}

/** The schema of a section. @param isOwn whether it is Dormouse's own */
function schemaOf(options: Options, isOwn: boolean): OptionSchema {
  const rules = joinedRules(options);
  return {
    type: "object",
    properties: Object.fromEntries(
      placedOptions(options, isOwn).map((one) => [
        one.name,
        {
          ...valueSchema(one.option, one.isOwn),
          description: described(one.option, one.said, one.isOwn),
        },
      ]),
    ),
    additionalProperties: false,
    ...(rules.length > 0 && { allOf: rules }),
  };
}

function valueSchema(option: Option, isOwn: boolean): OptionSchema {
  switch (option.is) {
    case "boolean":
      return { type: "boolean" };
    case "whole":
      return {
        type: "integer",
        minimum: option.min,
        ...(option.max !== undefined && { maximum: option.max }),
      };
    case "duration":
    case "text":
      return { type: "string" };
    case "choice":
      return { type: "string", enum: option.of };
    case "texts":
      return { type: "array", items: { type: "string" } };
    case "map":
      return { type: "object", additionalProperties: { type: "string" } };
    case "filter":
      return { type: "object" };
    case "section":
      return sectionSchema(option.of, isOwn);
    case "sections":
      return { type: "array", items: sectionSchema(option.of, isOwn) };
  }
}

function sectionSchema(options: Options, isOwn: boolean): OptionSchema {
  const name = sharedTables.get(options);
  // In allOf, because the draft's readers skip what stands beside a reference.
  return name === undefined
    ? schemaOf(options, isOwn)
    : { allOf: [{ $ref: `#/definitions/${name}` }] };
}
