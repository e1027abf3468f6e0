import type { CallOutcome } from "../../src/api/answers.ts";
import type { InspectQuestion, WhyQuestion } from "../../src/api/command.ts";
import type { Config } from "../../src/config/config.ts";
import type { Env } from "../platform/env.ts";
import { askInspect, askWhy } from "./why/why.ts";

/**
 * Asks the objects that know the answer to a question of a feature. The handlers of the API call it, so it can't be in
 * index.ts, which has routes with these handlers.
 */
export function askFeature(
  env: Env,
  config: Config,
  question: InspectQuestion | WhyQuestion,
): Promise<CallOutcome> {
  return question.method === "why"
    ? askWhy(env, config, question)
    : askInspect(env, config, question);
}
