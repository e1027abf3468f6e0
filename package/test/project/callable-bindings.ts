/** Calls a method of a service of the Worker under test, or of one of its objects. */
export type CallMethod = (call: MethodCall) => Promise<unknown>;

/** A call that the Worker under test makes for the test. What it takes and gives goes through JSON. */
export interface MethodCall {
  readonly binding: string;
  /** The object of the binding; absent for a service. */
  readonly object?: { readonly name: string } | { readonly id: string };
  readonly method: string;
  readonly given: readonly unknown[];
}

/** The part of a namespace of objects, as miniflare gives it to a test, that leads to objects. */
interface Namespace {
  idFromName(name: string): Identifier;
  get(id: Identifier): object;
}

interface Identifier {
  toString(): string;
}

/**
 * A service for a test, whose methods are called by the Worker itself. Miniflare's own stubs block the process until a method
 * has ended, so that a function of the test which the method asks could never answer.
 */
export function callableService(binding: string, service: object, call: CallMethod): object {
  return callable(service, (method, given) => call({ binding, method, given }));
}

/**
 * A namespace of objects for a test, as {@link callableService}. Miniflare's own stubs also hold a connection to the object
 * until the runtime collects its garbage, and the object couldn't be evicted meanwhile.
 */
export function callableObjects(binding: string, bound: object, call: CallMethod): object {
  if (!isNamespace(bound)) return bound;
  const names = new WeakMap<Identifier, string>();
  const idFromName = (name: string): Identifier => {
    const id = bound.idFromName(name);
    names.set(id, name);
    return id;
  };
  const get = (id: Identifier): object => {
    const name = names.get(id);
    const object = name === undefined ? { id: id.toString() } : { name };
    return callable(bound.get(id), (method, given) => call({ binding, object, method, given }));
  };
  const own = { idFromName, get, getByName: (name: string) => get(idFromName(name)) };
  return new Proxy(bound, {
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
