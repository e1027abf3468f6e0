import type { ChannelDefinitions } from "../../src/features/index.ts";

/** What a Worker of one's own says in its code, in place of its wrangler.toml. */
export interface Embedded {
  /** As `[vars.config]`. */
  readonly config: object;
  /** The code of channels, by their namespaces; absent if none has any. */
  readonly channels?: ChannelDefinitions;
  /** Whether the Worker's own code authenticates clients: then no token secret is needed. */
  readonly knowsUsers: boolean;
  /** The hooks that are functions of the Worker, as the Worker of a service binding; absent if there are none. */
  readonly hooks?: Service;
  /** Where the app is mounted, such as "/realtime". The paths of requests are without it. */
  readonly prefix: string;
  /** Answers with a file of the package, or with 404 and what is missing. The Worker's `ASSETS` are its own. */
  readonly file: (path: string) => Response;
  /** Asks the Worker's own code whether whoever sends a request is an operator; absent where operators log in. */
  readonly admitsOperator?: (request: Request) => Promise<boolean>;
}

/** The part of another Worker that is used: a service binding is one. */
export interface Service {
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/**
 * Sets what a Worker's own code says. The objects run in other isolates, which load the same module, so that its top level
 * says it to each of them. Vite's development server runs the module again after an edit, and then the newest holds.
 *
 * @throws if it was set before: two configurations would share the objects
 */
export function embed(made: Embedded): void {
  if (embedded !== undefined) {
    // Vite gives it to modules that it can run again.
    if (!("hot" in import.meta))
      throw new Error(
        "dormouse() was called twice: a Worker has one configuration, so call it once, at the top level of a module",
      );
    // Objects that run have read the one before.
    if (JSON.stringify(made.config) !== JSON.stringify(embedded.config))
      console.warn(
        "the configuration of dormouse() has changed: start the development server anew, because objects keep the one before",
      );
  }
  embedded = made;
}

/** Changes the configuration that the Worker's own code gave, if it gave one, before anything has read it. */
export function changeConfig(change: (config: object) => object): void {
  if (embedded !== undefined) embedded = { ...embedded, config: change(embedded.config) };
}

/** What the Worker's own code says; undefined in a Worker that stands alone. */
export function embeddedHere(): Embedded | undefined {
  return embedded;
}

/** Where the app is mounted; "" for a Worker that stands alone. */
export function mountedAt(): string {
  return embedded?.prefix ?? "";
}

let embedded: Embedded | undefined;
