import type { ChannelConfig } from "./config.ts";

/** Where the options of a channel stand in the configuration, as texts name it. */
export function optionsPlace(name: string, config: Parameters<typeof partsOf>[1]): string {
  const { namespace } = partsOf(name, config);
  return namespace === undefined ? "channel.without_namespace" : `namespace ${namespace}`;
}

/** The parts of a channel name. `namespace` is undefined for a channel without one; `rest` is what follows it. */
export function partsOf(
  name: string,
  { privatePrefix, namespaceBoundary }: Pick<ChannelConfig, "privatePrefix" | "namespaceBoundary">,
): { readonly isPrivate: boolean; readonly namespace: string | undefined; readonly rest: string } {
  const isPrivate = privatePrefix !== "" && name.startsWith(privatePrefix);
  const bare = isPrivate ? name.slice(privatePrefix.length) : name;
  const boundary = namespaceBoundary === "" ? -1 : bare.indexOf(namespaceBoundary);
  if (boundary < 0) return { isPrivate, namespace: undefined, rest: bare };
  const rest = bare.slice(boundary + namespaceBoundary.length);
  return { isPrivate, namespace: bare.slice(0, boundary), rest };
}
