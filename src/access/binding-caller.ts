import type { ApiKey } from "./api-keys.ts";

/**
 * Finds out who calls by a service binding (rule OW5). With `props`, the caller is the key of `http_api.keys` that they
 * name, and has its rights. Without `props`, the caller is the account's own Worker, which may do everything.
 *
 * @param props of the binding. Their author wants to restrict the caller, so `props` that can't be understood admit
 * nothing.
 * @param keys  of the configuration
 */
export function parseBindingCaller(props: unknown, keys: readonly Named[]): ApiKey {
  if (isWithoutProps(props)) return { name: "a service binding" };
  const name = nameIn(props);
  const key = keys.find((one) => one.name === name);
  if (key !== undefined) return { name: key.name, rights: key.rights };
  const title =
    name === undefined
      ? "the binding has props other than { name }, and"
      : "the binding's props.name isn't in http_api.keys, and";
  return { name: "an unknown service binding", title, rights: nothing };
}

/** Whether a binding has no `props`. The platform gives an empty object where none are written. */
export function isWithoutProps(props: unknown): boolean {
  return parseKeys(props)?.length === 0;
}

/** The name that the props have, if they have nothing else. */
function nameIn(props: unknown): string | undefined {
  if (parseKeys(props)?.length !== 1) return undefined;
  const name: unknown = Reflect.get(Object(props), "name");
  return typeof name === "string" ? name : undefined;
}

/** The keys of props that are an object; none of absent ones; undefined if they are something else. */
function parseKeys(props: unknown): readonly PropertyKey[] | undefined {
  if (props === undefined || props === null) return [];
  return typeof props === "object" && !Array.isArray(props) ? Reflect.ownKeys(props) : undefined;
}

/** A key of the configuration. */
type Named = Required<Pick<ApiKey, "name" | "rights">>;

const nothing = { methods: [], channels: [] };
