import { type Channel, historyError } from "./channel.ts";
import { clientPublication } from "./publication-request.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import { type RelayEntry, publicationBytes } from "../contract/relay-batch.ts";
import type { Answer, Question } from "../contract/relay-request.ts";

/**
 * Answers what a gateway asks for its clients, in order. All publications together stay within `limits.answerBytesMax`: a
 * read that would go beyond is refused, but for a single publication that a gateway has missed.
 *
 * @param gateway        who asks
 * @param publishRefused the channel's sockets are too far behind to take publications (rule B3): a publish is answered 111.
 *                       Everything else is carried out, or leaves would be lost
 */
export function answerQuestions(
  channel: Channel,
  gateway: string,
  questions: readonly Question[],
  nowMs: number,
  publishRefused = false,
): readonly Answer[] {
  let roomBytes: number = limits.answerBytesMax;
  return questions.map((question) => {
    const answer =
      publishRefused && question.method === "publish"
        ? failed(errorCodes.tooManyRequests)
        : answerOne(channel, gateway, question, roomBytes, nowMs);
    if ("publications" in answer) {
      const bytes = answer.publications.reduce((sum, each) => sum + publicationBytes(each), 0);
      roomBytes = Math.max(0, roomBytes - bytes);
    }
    return answer;
  });
}

function answerOne(
  channel: Channel,
  gateway: string,
  question: Question,
  roomBytes: number,
  nowMs: number,
): Answer {
  switch (question.method) {
    case "follow":
      return follow(channel, gateway, nowMs);
    case "recover":
      return question.whole === true
        ? (channel.recoverPage(question.since, nowMs, roomBytes) ?? failed(errorCodes.notAvailable))
        : recover(channel, question.since, "stream", roomBytes, nowMs);
    case "newest":
      return recover(channel, nowhere, "cache", roomBytes, nowMs);
    case "publish": {
      const outcome = channel.publish(clientPublication(question.data), question.info, nowMs);
      if (outcome.outcome === "too-many-keys") return failed(errorCodes.tooManyRequests);
      const { instance, sequence } = channel.relay;
      return { outcome: "published", instance, sequence };
    }
    case "history": {
      const bytesMax = Math.min(question.bytesMax, roomBytes);
      const outcome = channel.history(question.query, nowMs, bytesMax);
      return outcome.outcome === "history" ? outcome : failed(historyError(outcome.outcome));
    }
    case "announce":
      for (const entry of question.entries) announce(channel, entry);
      return { outcome: "announced" };
    default:
      // A newer release may ask what this one doesn't know yet; it may ask again.
      return failed(errorCodes.internal);
  }
}

function follow(channel: Channel, gateway: string, nowMs: number): Answer {
  // A stream that has ended goes first: once the gateway follows, it would stay.
  channel.forgetWhatEnded(nowMs);
  const following = channel.relay.follow(gateway, nowMs);
  if (following.outcome === "full") return failed(errorCodes.tooManyRequests);
  const position = channel.position(nowMs);
  return position === undefined ? following : { ...following, position };
}

function recover(
  channel: Channel,
  since: StreamPosition,
  mode: "stream" | "cache",
  roomBytes: number,
  nowMs: number,
): Answer {
  return channel.recover(since, mode, nowMs, roomBytes) ?? failed(errorCodes.notAvailable);
}

function announce(channel: Channel, entry: RelayEntry): void {
  switch (entry.type) {
    case "join":
    case "leave":
      channel.announce(entry.type, entry.info);
      return;
    case "sole":
      channel.sole(entry.user, entry.client);
      return;
    case "publication":
    case "removed":
    // Only the channel itself knows of these.
  }
}

function failed(error: ErrorCode): Answer {
  return { outcome: "error", error };
}

/** Where nobody is who has the newest publication. */
const nowhere: StreamPosition = { offset: 0, epoch: "" };
