import type { EventTarget } from "../../src/config/config.ts";
import { limits } from "../../src/limits.ts";
import { inTime } from "./object-call.ts";

/**
 * Sends a batch of events to the target of the configuration, once.
 *
 * @param env  has the binding that the target names
 * @param body JSON
 * @returns whether the target has taken it; if not, or if that isn't known, the batch has to be sent again
 */
export async function sendEvents(target: EventTarget, env: object, body: string): Promise<boolean> {
  // Ended with the answer: a signal with a time of its own would keep the object awake for that time.
  const controller = new AbortController();
  try {
    const sent = send(target, env, body, controller.signal);
    return await inTime(sent, limits.eventsAnswerMs, false);
  } catch (error) {
    const name = error instanceof Error && /^\w{1,64}$/.test(error.name) ? error.name : "unnamed";
    console.warn(`events were not taken: error=${name}`);
    return false;
  } finally {
    controller.abort();
  }
}

async function send(
  target: EventTarget,
  env: object,
  body: string,
  signal: AbortSignal,
): Promise<boolean> {
  switch (target.kind) {
    case "url":
      return isTaken(await fetch(request(target.url, body, signal)));
    case "service": {
      const service = bindingOf(env, target.binding);
      if (service?.fetch === undefined) return false;
      return isTaken(await service.fetch(request(serviceUrl, body, signal)));
    }
    case "queue": {
      const queue = bindingOf(env, target.binding);
      await queue?.send?.(JSON.parse(body), { contentType: "json" });
      return queue?.send !== undefined;
    }
  }
}

/** A redirect isn't followed: targets come from the configuration only. */
function request(url: string, body: string, signal: AbortSignal): Request {
  return new Request(url, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json" },
    redirect: "manual",
    signal,
  });
}

async function isTaken(response: Response): Promise<boolean> {
  // Nothing is read of it, and an unread body would hold the connection.
  await response.body?.cancel();
  if (!response.ok) console.warn(`events were not taken: status=${response.status}`);
  return response.ok;
}

/** The host of a request to a service binding, which has none. */
const serviceUrl = "https://events.dormouse.internal/";

/**
 * The problem of a binding that isn't there (rule A8): a sentence, or none.
 *
 * @param env the Worker's environment
 */
export function targetProblems(target: EventTarget | undefined, env: object): readonly string[] {
  if (target === undefined || target.kind === "url") return [];
  const { kind, binding } = target;
  const found = bindingOf(env, binding);
  const isThere = kind === "queue" ? found?.send !== undefined : found?.fetch !== undefined;
  if (isThere) return [];
  return [
    `binding ${binding} is missing, which events.target names: add a ${kind} of that name to wrangler.toml`,
  ];
}

/** A binding whose name stands in the configuration; undefined if there is none. */
function bindingOf(env: object, name: string): Binding | undefined {
  const binding: Binding | string | undefined = Reflect.get(env, name);
  return typeof binding === "object" ? binding : undefined;
}

/** A service or a queue. */
interface Binding {
  fetch?(request: Request): Promise<Response>;
  send?(body: object, options: { readonly contentType: "json" }): Promise<void>;
}
