import type { PartOutcome } from "../../../src/channel/channel-part.ts";
import type { ChannelOperation } from "../../../src/contract/channel-call.ts";
import type { ChannelAudience } from "../../../src/features/cursors/audience/channel-audience.ts";
import type { ChannelCursors } from "../../../src/features/cursors/channel-cursors.ts";
import type { KeptUsers } from "../../../src/features/cursors/forgetting/kept-users.ts";
import type { JudgedProgress } from "../../../src/features/cursors/audience/judged-progress.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { jsonOf } from "../../../src/protocol/json/encode.ts";
import type { CursorAnswer, CursorModel } from "./cursor-model.ts";
import type { DeliveredAnswer } from "./cursor-rules.ts";
import type { JudgingRules } from "./judging-rules.ts";
import type { ChannelWatch } from "./watched-channel.ts";

/** Compares each mark and each count of a channel with the model. */
export function watchCursors(
  cursors: ChannelCursors,
  model: CursorModel,
  watch: CursorWatch,
): void {
  const carryOut = cursors.carryOut.bind(cursors);
  cursors.carryOut = (operation, nowMs) => {
    const outcome = carryOut(operation, nowMs);
    if (outcome?.outcome === "result" && operation.method === "delivered")
      watch.proven(operation.request.user, JSON.parse(jsonOf(undefined, outcome.fields)));
    if (outcome !== undefined && !watch.broken()) {
      const is = answerOf(outcome);
      const should = expected(model, operation, is, nowMs);
      const [one, other] = [JSON.stringify(is), JSON.stringify(should)];
      if (should !== undefined && one !== other)
        watch.complain(`answered ${described(operation)} with ${one}, and should with ${other}`);
    }
    return outcome;
  };
  const prove = cursors.prove.bind(cursors);
  cursors.prove = (user, proof, nowMs) => {
    watch.proven(user, proof);
    prove(user, proof, nowMs);
  };
}

/** Has the model forget who is forgotten. */
export function watchForgetting(kept: KeptUsers, model: CursorModel): void {
  const forget = kept.forget.bind(kept);
  kept.forget = (user) => {
    forget(user);
    model.forget(user);
  };
}

/** Has the model follow who becomes a member, and who isn't one any more. */
export function watchAudience(audience: ChannelAudience, model: CursorModel): void {
  const carryOut = audience.carryOut.bind(audience);
  audience.carryOut = (operation, nowMs) => {
    const outcome = carryOut(operation, nowMs);
    if (outcome?.outcome !== "result") return outcome;
    if (operation.method === "add_audience") model.enter(operation.request.users);
    else if (operation.method === "remove_audience") model.leave(operation.request.users);
    else if (operation.method === "set_audience") model.setMembers(operation.request.users);
    return outcome;
  };
  const announced = audience.announced.bind(audience);
  audience.announced = (entry, nowMs) => {
    announced(entry, nowMs);
    if (entry.type === "members") model.enter(entry.users);
  };
}

/** Has the rules know of each stretch of publications that the object begins to judge. */
export function watchJudging(progress: JudgedProgress, rules: JudgingRules): void {
  const next = progress.next.bind(progress);
  progress.next = (nowMs) => {
    const range = next(nowMs);
    if (range !== undefined) rules.begins(range, nowMs);
    return range;
  };
}

/** The host that watches what a channel keeps of its users. */
export interface CursorWatch extends Pick<ChannelWatch, "broken" | "complain"> {
  /** The channel is sure that a user has got something. */
  proven(user: string, answer: DeliveredAnswer): void;
}

/** Undefined for what the model doesn't know. */
function expected(
  model: CursorModel,
  operation: ChannelOperation,
  is: CursorAnswer,
  nowMs: number,
): CursorAnswer | undefined {
  if (operation.method !== "mark_read" && operation.method !== "unread") return undefined;
  const { user, ifKept } = operation.request;
  // Something else than a mark may be kept of the user.
  const isRefused = is["error"] === errorCodes.permissionDenied.code;
  if (ifKept === true && isRefused && !model.hasMarked(user)) return is;
  return operation.method === "unread"
    ? model.unread(operation.request, nowMs)
    : model.mark(operation.request);
}

function answerOf(outcome: PartOutcome): CursorAnswer {
  if (outcome.outcome === "result") return JSON.parse(jsonOf(undefined, outcome.fields));
  if (outcome.outcome === "reply")
    return outcome.reply.outcome === "answered" ? JSON.parse(outcome.reply.data) : {};
  if (outcome.outcome === "failed") return { error: outcome.error.code };
  return outcome.outcome === "unrecoverable-position"
    ? { error: errorCodes.unrecoverablePosition.code }
    : { outcome: outcome.outcome };
}

function described(operation: ChannelOperation): string {
  return "request" in operation
    ? `${operation.method} ${JSON.stringify(operation.request)}`
    : operation.method;
}
