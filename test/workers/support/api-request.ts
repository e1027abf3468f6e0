import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { createApp } from "../../../workers/http/app.ts";
import type { Env } from "../../../workers/platform/env.ts";
import { testSecrets } from "./test-config.ts";

/** An answer of the HTTP API: the status and the body, byte for byte. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

export const apiKeyHeader = { "X-API-Key": testSecrets.API_KEY };

/** Posts a body to the Worker with the API key. */
export function post(path: string, body: BodyInit, headers: object = {}): Promise<Response> {
  return exports.default.fetch(address(path), apiRequest(body, headers));
}

/** Posts a body to an app of the test's own, whose environment differs from the Worker's in the given fields. */
export async function postWith(
  differences: Partial<Env>,
  path: string,
  body: BodyInit,
  headers: object = {},
): Promise<Response> {
  return fetchWith(differences, new Request(address(path), apiRequest(body, headers)));
}

/** Any request to an app of the test's own; see {@link postWith}. */
export async function fetchWith(differences: Partial<Env>, request: Request): Promise<Response> {
  return createApp().fetch(request, { ...env, ...differences }, createExecutionContext());
}

/** Calls a method with a request, given as an object or in the test's own bytes. */
export async function call(method: string, request: object | string): Promise<Answer> {
  const body = typeof request === "string" ? request : JSON.stringify(request);
  return answerOf(await post(`/api/${method}`, body));
}

/** Publishes and gives where it went; throws when it was refused. */
export async function publish(
  channel: string,
  data: object | number | string | null,
  more: object = {},
): Promise<{ readonly offset: number; readonly epoch: string }> {
  const { body } = await call("publish", { channel, data, ...more });
  const { result }: { result?: { offset?: number; epoch?: string } } = JSON.parse(body);
  if (result === undefined) throw new Error(`not published: ${body}`);
  return { offset: result.offset ?? 0, epoch: result.epoch ?? "" };
}

/** The payloads that a channel keeps, oldest first, each byte for byte. */
export async function keptData(channel: string): Promise<readonly string[]> {
  const { body } = await call("history", { channel, limit: -1 });
  return [...body.matchAll(/\{"data":(.*?),"offset":\d+/g)].map(([, data = ""]) => data);
}

/** Reads a response's whole body. */
export async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, body: await response.text() };
}

export function address(path: string): string {
  return `https://dormouse.example.com${path}`;
}

function apiRequest(body: BodyInit, headers: object): RequestInit {
  return { method: "POST", body, headers: { ...apiKeyHeader, ...headers } };
}
