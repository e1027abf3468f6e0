import type { Request as RuntimeRequest, Response as RuntimeResponse } from "miniflare";
import { miniflareModule } from "../packages.ts";

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

/** The value of a variable. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

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

/** What the Worker of the stand-ins is bound to: the functions of the test. */
export function standInServices({ services }: SortedBindings) {
  const fetchers = [...services].map(
    ([name, { fetch }]) =>
      [
        `FETCH_${name}`,
        (request: RuntimeRequest) => fetched(request, fetch ?? (() => unfetchable(name))),
      ] as const,
  );
  return {
    ...Object.fromEntries(fetchers),
    CALL: async (request: RuntimeRequest) => called(await request.text(), services),
  };
}

function unfetchable(name: string): never {
  throw new Error(`the binding ${name} of the test has methods and no fetch`);
}

/** Lets a function of the test answer a request, in the classes of Node.js. */
async function fetched(
  request: RuntimeRequest,
  answer: (request: Request) => unknown,
): Promise<RuntimeResponse> {
  const { Response: Answer } = miniflareModule();
  try {
    const { method, url } = request;
    const body = request.body === null ? null : await request.arrayBuffer();
    const response = await answer(
      new Request(url, { method, headers: [...request.headers], body }),
    );
    if (!(response instanceof Response))
      throw new TypeError(`the function of the test gave no Response: ${String(response)}`);
    const { status, headers } = response;
    const content = response.body === null ? null : await response.arrayBuffer();
    return new Answer(content, { status, headers: [...headers] });
  } catch (error) {
    const threw = encodeURIComponent(error instanceof Error ? error.message : String(error));
    return new Answer(null, { status: 500, headers: { "dormouse-test-threw": threw } });
  }
}

/** Lets a method of the test answer a call, which comes and goes in JSON. */
async function called(
  text: string,
  services: SortedBindings["services"],
): Promise<RuntimeResponse> {
  const { Response: Answer } = miniflareModule();
  const call: MethodCall = JSON.parse(text);
  const method = services.get(call.binding)?.[call.method];
  try {
    if (method === undefined)
      throw new TypeError(`the binding ${call.binding} of the test has no method ${call.method}`);
    return Answer.json({ result: await method(...call.given) });
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return Answer.json({ threw: { name, message } });
  }
}

interface MethodCall {
  readonly binding: string;
  readonly method: string;
  readonly given: readonly unknown[];
}
