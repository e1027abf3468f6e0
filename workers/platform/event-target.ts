import { eventLimits } from "../../src/features/events/limits.ts";
import type { Target } from "../../src/config/targets.ts";
import { inTime } from "./object-call.ts";
import { queueOf, serviceOf } from "./services.ts";
import type { WebhookSigner } from "./webhook-signature.ts";

/**
 * Sends a batch of events to the target of the configuration, once.
 *
 * @param env  has the binding that the target names
 * @param body JSON
 * @returns whether the target has taken it; if not, or if that isn't known, the batch has to be sent again
 */
export async function sendEvents(
  target: Target["endpoint"],
  env: object,
  signer: Pick<WebhookSigner, "headers">,
  body: string,
): Promise<boolean> {
  // Ended with the answer: a signal with a time of its own would keep the object awake for that time.
  const controller = new AbortController();
  try {
    const sent = send(target, env, signer, body, controller.signal);
    return await inTime(sent, eventLimits.eventsAnswerMs, false);
  } catch (error) {
    const name = error instanceof Error && /^\w{1,64}$/.test(error.name) ? error.name : "unnamed";
    console.warn(`events were not taken: error=${name}`);
    return false;
  } finally {
    controller.abort();
  }
}

async function send(
  target: Target["endpoint"],
  env: object,
  signer: Pick<WebhookSigner, "headers">,
  body: string,
  signal: AbortSignal,
): Promise<boolean> {
  switch (target.kind) {
    case "url":
      return isTaken(await fetch(target.url, await request(signer, body, signal)));
    case "service": {
      const service = serviceOf(env, target.binding);
      if (service === undefined) return false;
      return isTaken(await service.fetch(serviceUrl, await request(signer, body, signal)));
    }
    case "queue": {
      const queue = queueOf(env, target.binding);
      await queue?.send(JSON.parse(body), { contentType: "json" });
      return queue !== undefined;
    }
  }
}

/** Signs the request. A redirect isn't followed: targets come from the configuration only. */
async function request(
  signer: Pick<WebhookSigner, "headers">,
  body: string,
  signal: AbortSignal,
): Promise<RequestInit> {
  const signed = await signer.headers(crypto.randomUUID(), body, Date.now());
  const headers = { ...signed, "content-type": "application/json" };
  return { method: "POST", body, headers, redirect: "manual", signal };
}

async function isTaken(response: Response): Promise<boolean> {
  // Nothing is read of it, and an unread body would hold the connection.
  await response.body?.cancel();
  if (!response.ok) console.warn(`events were not taken: status=${response.status}`);
  return response.ok;
}

/** The host is only a name: a service binding goes to its Worker whatever the URL is. */
const serviceUrl = "https://events/";
