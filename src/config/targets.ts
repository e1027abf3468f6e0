import type { Config, EventTarget, HookEndpoint, QueueTarget } from "./config.ts";

/**
 * Parses where a backend is: an HTTPS URL, or another Worker of the account.
 *
 * @returns undefined if the text is neither
 */
export function parseEndpoint(text: string): HookEndpoint | undefined {
  const [, binding, entrypoint] = serviceShape.exec(text) ?? [];
  if (binding !== undefined)
    return { kind: "service", binding, ...(entrypoint === undefined ? {} : { entrypoint }) };
  return urlShape.test(text) ? { kind: "url", url: text } : undefined;
}

/** A binding of wrangler.toml, and the name of a class that the other Worker exports. */
const serviceShape = /^service:([A-Za-z_]\w{0,63})(?:#([A-Za-z_]\w{0,63}))?$/;

const urlShape =
  /^(?:https:\/\/(?:[-\w.]+|\[[\da-f:]+\])|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?:[/?][^\s#\\]*)?$/i;

/** {@link parseEndpoint} for events, which may go to a queue, too. */
export function parseEventTarget(text: string): EventTarget | undefined {
  return parseQueueTarget(text) ?? parseEndpoint(text);
}

/** Parses the name of a queue's binding, as `queue:BINDING`; undefined if the text isn't one. */
export function parseQueueTarget(text: string): QueueTarget | undefined {
  const [, binding] = queueShape.exec(text) ?? [];
  return binding === undefined ? undefined : { kind: "queue", binding };
}

const queueShape = /^queue:([A-Za-z_]\w{0,63})$/;

/** A place to which the Worker sends something, with the key that names it. */
export interface Target {
  readonly key: string;
  readonly endpoint: EventTarget;
}

/** All places to which a Worker with this configuration sends something. */
export function targetsOf({ hooks, events, consumers }: Config): readonly Target[] {
  const asked = [...hooks.targets.values()].map(({ name, endpoint }) => ({
    key: `${name}.endpoint`,
    endpoint,
  }));
  const told = events === undefined ? [] : [{ key: "events.target", endpoint: events.target }];
  const refused = consumers.flatMap(({ name, deadLetter }) =>
    deadLetter === undefined
      ? []
      : [{ key: `consumers.${name}.dead_letter`, endpoint: deadLetter }],
  );
  return [...asked, ...told, ...refused];
}
