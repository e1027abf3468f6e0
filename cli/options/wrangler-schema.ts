import { configSchema } from "./config-schema.ts";

/**
 * A JSON Schema for editors of wrangler's file: that of wrangler, if it is named, and the configuration of Dormouse in the
 * variables of the top level and of each environment. It knows which options need others of their section;
 * other rules that join several keys only the server checks.
 *
 * @param wranglers the address of wrangler's own schema
 */
export function wranglerSchema(wranglers?: string): object {
  const variables = { type: "object", properties: { config: { $ref: "#/definitions/config" } } };
  const environment = { type: "object", properties: { vars: variables } };
  const { config, shared } = configSchema();
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "wrangler's file of a Worker with Dormouse",
    ...(wranglers !== undefined && { allOf: [{ $ref: wranglers }] }),
    type: "object",
    properties: {
      vars: variables,
      env: { type: "object", additionalProperties: environment },
    },
    definitions: {
      config: { ...config, description: "The configuration of Dormouse." },
      ...shared,
    },
  };
}
