import type { TypeSchema } from "./type-text.ts";

/** Names for the objects that a configuration has in several places, each by one of these places. */
const places = {
  ChannelOptions: "channel.without_namespace",
  Backend: "channel.proxy.publish",
  BackendHttp: "channel.proxy.publish.http",
  StatusTransform: "channel.proxy.publish.http.status_to_code_transforms.[]",
  CommandRates: "client.rate_limit.client_command",
  ChannelRate: "client.rate_limit.client_command.publish",
  NamespaceRate: "client.rate_limit.client_command.publish.namespace_overrides.[]",
  Rate: "client.rate_limit.client_command.rpc",
  RateBucket: "client.rate_limit.client_command.rpc.buckets.[]",
  TokenIssuer: "client.token.issuers.[]",
} as const;

/** A configuration's schema in which the objects that repeat are references, and these objects by their names. */
export interface SharedShapes {
  readonly schema: TypeSchema;
  readonly shared: ReadonlyMap<string, TypeSchema>;
}

/** Names the objects that repeat. A namespace has the options of channels without one, and a name. */
export function sharedShapes(schema: TypeSchema): SharedShapes {
  const named = new Map(
    Object.entries(places).map(([name, path]) => [JSON.stringify(at(schema, path)), name]),
  );
  const options = at(schema, places.ChannelOptions).properties ?? {};
  const shorten = (one: TypeSchema): TypeSchema => {
    const name = named.get(JSON.stringify(one));
    return name === undefined ? below(one) : { $ref: `#/${name}` };
  };
  const below = (one: TypeSchema): TypeSchema => {
    if (one.items !== undefined) return { ...one, items: shorten(one.items) };
    const properties = one.properties ?? {};
    const own = Object.entries(properties).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(options[name]),
    );
    const isNamespace =
      own.length === 1 && Object.keys(options).every((name) => name in properties);
    if (isNamespace)
      return {
        allOf: [{ $ref: "#/ChannelOptions" }, { ...one, properties: Object.fromEntries(own) }],
      };
    if (one.properties === undefined) return one;
    const shortened = Object.entries(properties).map(([name, value]) => [name, shorten(value)]);
    return { ...one, properties: Object.fromEntries(shortened) };
  };
  const shared = Object.entries(places).map(
    ([name, path]) => [name, below(at(schema, path))] as const,
  );
  return { schema: below(schema), shared: new Map(shared) };
}

/** @throws if the configuration has nothing there any more */
function at(schema: TypeSchema, path: string): TypeSchema {
  let found: TypeSchema | undefined = schema;
  for (const name of path.split("."))
    found = name === "[]" ? found?.items : found?.properties?.[name];
  if (found === undefined) throw new Error(`the configuration has no ${path}`);
  return found;
}
