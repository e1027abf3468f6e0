import type { MiddlewareHandler } from "hono";
import type { JsonText } from "../../src/protocol/json/text.ts";
import { type Configured, configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import { respondUnconfigured } from "./respond.ts";

/** What handlers find in their context: the bindings, the settings, and the body where {@link jsonBody} read it. */
export interface Served {
  Bindings: Env;
  Variables: { configured: Configured; request: JsonText };
}

/**
 * Comes before everything else: a Worker that lacks a setting answers nothing but what it lacks, so that the operator
 * learns of it at the first request of any kind.
 */
export const configure: MiddlewareHandler<Served> = async (context, next) => {
  const configuration = configurationOf(context.env);
  if (configuration.outcome === "unconfigured") return respondUnconfigured(configuration.problems);
  context.set("configured", configuration);
  return next();
};
