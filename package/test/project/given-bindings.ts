import type { JsonValue } from "../../../src/protocol/wire-value.ts";

/** A function in place of another Worker, which takes the requests of a service binding. */
export type ServiceFunction = (request: Request) => Response | Promise<Response>;

/** Methods in place of those of another Worker. What they take and give goes through JSON; `fetch` takes requests. */
export interface ServiceMethods {
  readonly [method: string]: (...given: never[]) => unknown;
}

/** Bindings that a test gives, by their names: functions and methods in place of other Workers, and variables in JSON. */
export interface GivenBindings {
  readonly [name: string]: ServiceFunction | ServiceMethods | JsonValue;
}

/** What answers in place of another Worker; `fetch` takes the requests. */
type Answering = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

/** The bindings that a test gives, by their kinds. */
export interface SortedBindings {
  readonly variables: Readonly<Record<string, JsonValue>>;
  readonly services: ReadonlyMap<string, Answering>;
}

/** Sorts bindings: what is a function, or an object of functions, is in place of a Worker. */
export function sortedBindings(given: GivenBindings): SortedBindings {
  const variables: Record<string, JsonValue> = {};
  const services = new Map<string, Answering>();
  for (const [name, value] of Object.entries(given)) {
    const answering = parseAnswering(value);
    if (answering === undefined) variables[name] = JSON.parse(JSON.stringify(value));
    else services.set(name, answering);
  }
  return { variables, services };
}

function parseAnswering(value: unknown): Answering | undefined {
  if (isFunction(value)) return { fetch: value };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const methods: [string, (...given: readonly unknown[]) => unknown][] = [];
  for (const [name, method] of Object.entries(value)) {
    if (!isFunction(method)) return undefined;
    methods.push([name, method.bind(value)]);
  }
  return methods.length === 0 ? undefined : Object.fromEntries(methods);
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === "function";
}
