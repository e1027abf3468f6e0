import type { Request as RuntimeRequest, Response as RuntimeResponse } from "miniflare";
import { miniflareModule } from "../packages.ts";
import type { SortedBindings } from "./given-bindings.ts";

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
