/** Calls a method of an object of the Worker under test. */
export type CallObject = (
  object: { readonly name: string } | { readonly id: string },
  method: string,
  given: readonly unknown[],
) => Promise<unknown>;

/** The part of a namespace of objects, as miniflare gives it to a test, that leads to objects. */
interface Namespace {
  idFromName(name: string): Identifier;
  get(id: Identifier): object;
}

interface Identifier {
  toString(): string;
}

/**
 * A namespace of objects for a test, whose methods are called by the Worker itself. Miniflare's own stubs hold a connection to
 * the object until the runtime collects its garbage, and the object couldn't be evicted meanwhile.
 */
export function callableObjects(namespace: object, call: CallObject): object {
  if (!isNamespace(namespace)) return namespace;
  const names = new WeakMap<Identifier, string>();
  const idFromName = (name: string): Identifier => {
    const id = namespace.idFromName(name);
    names.set(id, name);
    return id;
  };
  const get = (id: Identifier): object => {
    const name = names.get(id);
    const object = name === undefined ? { id: id.toString() } : { name };
    return callable(namespace.get(id), (method, given) => call(object, method, given));
  };
  const own = { idFromName, get, getByName: (name: string) => get(idFromName(name)) };
  return new Proxy(namespace, {
    get: (target, key) =>
      Object.hasOwn(own, key) ? Reflect.get(own, key) : Reflect.get(target, key),
  });
}

function isNamespace(value: object): value is Namespace {
  return "idFromName" in value && "get" in value;
}

/** A stub that carries requests itself, and has everything else called. */
function callable(
  stub: object,
  call: (method: string, given: readonly unknown[]) => Promise<unknown>,
): object {
  return new Proxy(stub, {
    get(target, key) {
      if (typeof key !== "string" || ofStubs.has(key)) return Reflect.get(target, key);
      return key === "then" ? undefined : (...given: unknown[]) => call(key, given);
    },
  });
}

/** What a stub has itself. */
const ofStubs: ReadonlySet<string> = new Set(["id", "name", "fetch"]);
