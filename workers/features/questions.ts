import type { CallOutcome } from "../../src/api/answers.ts";
import type {
  ForgetQuestion,
  InspectQuestion,
  UnreadQuestion,
  WhyQuestion,
} from "../../src/api/command.ts";
import { userKey } from "../../src/contract/identity-key.ts";
import { homeName } from "../../src/contract/object-names.ts";
import type { ChannelOptions, Config } from "../../src/config/config.ts";
import { trustedJsonText } from "../../src/protocol/json/text.ts";
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
      return forgetUser(env, config, question);
  }
}

async function forgetUser(
  { USERS }: Env,
  { channel }: Config,
  { user, publications }: ForgetQuestion,
): Promise<CallOutcome> {
  const home = USERS.getByName(homeName(userKey(user)));
  if (!publications) return home.forgetUser({ user });
  const [kept, { ordered, incomplete }] = await Promise.all([
    home.forgetUser({ user }),
    home.forgetAuthor({ user }),
  ]);
  if (kept.outcome !== "done") return kept;
  if (ordered.outcome !== "done") return ordered;
  const unsearched = unsearchedNamespaces(channel);
  const result = {
    ...(unsearched.length > 0 && { unsearched }),
    ...(incomplete && { incomplete }),
  };
  return { outcome: "answers", answers: [{ result: trustedJsonText(JSON.stringify(result)) }] };
}

/** The namespaces that keep publications or keys, and no index of their users (rule ED19); "" for channels without a namespace. */
function unsearchedNamespaces({
  withoutNamespace,
  namespaces,
}: Config["channel"]): readonly string[] {
  return [["", withoutNamespace] as const, ...namespaces]
    .filter(([, options]) => isUnsearched(options))
    .map(([name]) => name);
}

function isUnsearched({ historySize, subscriptionType, changes }: ChannelOptions): boolean {
  return (historySize > 0 || subscriptionType === "map") && changes?.erasableByUser !== true;
}
