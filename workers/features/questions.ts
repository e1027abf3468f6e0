import type { CallOutcome } from "../../src/api/answers.ts";
import type {
  ForgetQuestion,
  InspectQuestion,
  UnreadQuestion,
  WhyQuestion,
} from "../../src/api/command.ts";
import { userKey } from "../../src/contract/identity-key.ts";
import { homeName } from "../../src/contract/object-names.ts";
import type { Config } from "../../src/config/config.ts";
import type { Env } from "../platform/env.ts";
import { askUnread } from "./cursors/unread.ts";
import { askInspect, askWhy } from "./why/why.ts";

/**
 * Asks the objects that know the answer to a question of a feature. The handlers of the API call it, so it can't be in
 * index.ts, which has routes with these handlers.
 */
export function askFeature(
  env: Env,
  config: Config,
  question: InspectQuestion | WhyQuestion | UnreadQuestion | ForgetQuestion,
): Promise<CallOutcome> {
  switch (question.method) {
    case "why":
      return askWhy(env, config, question);
    case "inspect":
      return askInspect(env, config, question);
    case "unread":
      return askUnread(env, question);
    case "forget_user":
      return env.USERS.getByName(homeName(userKey(question.user))).forgetUser({
        user: question.user,
      });
  }
}
