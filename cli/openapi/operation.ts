import type { Tag } from "./method.ts";
import type { Schema } from "./schema.ts";

/** The description of the API, as far as its page and the tests read it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: object;
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: object;
    readonly securitySchemes: object;
  };
  readonly servers: readonly object[];
  readonly security: readonly object[];
}

/** One method of the API, or another form of requests. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly Tag[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly object[];
  readonly requestBody: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

/** A response, or a reference to one of the components. */
export interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: object;
  readonly content?: Content;
}

/** Schemas by media type, with an example each may have. */
export type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly example?: object }>
>;

/** The name of a method as the names of schemas have it: `HistoryRemove` for `history_remove`. */
export function schemaName(method: string): string {
  return method.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
}
