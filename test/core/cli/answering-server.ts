import { createServer } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { listen } from "../../support/servers/listen.ts";
import { recordedShell } from "./recorded-shell.ts";

/** Runs a command line against a server that answers every call with one result. */
export async function runWith(result: object, ...args: readonly string[]) {
  return runWithAll([result], {}, ...args);
}

/** The same against one that gives these results in turn, and the last of them to all further calls. */
export async function runWithAll(
  results: readonly object[],
  given: { readonly answer?: string },
  ...args: readonly string[]
) {
  const requests: (readonly [string | undefined, Promise<string>])[] = [];
  const server = createServer((request, response) => {
    const result = results[Math.min(requests.length, results.length - 1)];
    requests.push([request.url, textOf(request)]);
    response.end(JSON.stringify({ result }));
  });
  onTestFinished(() => void server.close());
  const DORMOUSE_URL = `http://127.0.0.1:${await listen(server)}`;
  const environment = { API_KEY: "a-key", DORMOUSE_URL };
  const ran = await recordedShell()(args, { environment, ...given });
  const asked: unknown[] = [];
  for (const [url, body] of requests) asked.push([url, JSON.parse(await body)]);
  return { ...ran, asked };
}
