import type { Context, Handler } from "hono";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import { limits } from "../../src/limits.ts";
import { disconnectCodes } from "../../src/protocol/codes.ts";
import {
  type LongPollAnswer,
  PollReader,
  type LongPollRequest,
  parsePollRequest,
} from "../../src/transport/poll.ts";
import { noTokenReason } from "../../src/access/refusal.ts";
import { admit, checkClient, tokenRequired } from "./admit.ts";
import type { AppEnv } from "./app-env.ts";
import { refusedStranger } from "./descriptor-use.ts";
import type { Endpoint } from "./endpoints.ts";
import { emulatedTransport, openSocket } from "./placement.ts";
import { closeSocket } from "../../src/object/close-socket.ts";
import { refusedCode } from "./refused-socket.ts";
import {
  busyRetrySeconds,
  respondBusy,
  respondMalformed,
  respondNotFound,
  respondPoll,
  respondText,
} from "./responses.ts";

/**
 * `GET /channel/<name>/poll`: the publications after a position, at once or when the next one comes (rule T9). A
 * waiting poll is a unidirectional client of the object, so that the object can hibernate meanwhile.
 */
export function poll(endpoint: Endpoint): Handler<AppEnv> {
  return async (context) => {
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const { channel } = destination;
    if (channel === undefined) return respondNotFound();
    const parsed = parsePollRequest((name) => context.req.query(name));
    if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
    const resolved = resolveChannel(channel, context.get("configured").config.channel);
    if (resolved.outcome !== "resolved") return respondText(404, "unknown channel");
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const asked = await checkClient(context, admission, emulatedTransport("one_way", "poll"));
    if (asked.outcome === "answered") return asked.response;
    if (asked.outcome === "refused") return respondClosed(refusedCode(asked.refusal).code);
    if (asked.claims === undefined && tokenRequired(context)) {
      context.set("refusal", { rule: "A12", reason: noTokenReason });
      return respondClosed(disconnectCodes.badRequest.code);
    }
    const stranger = await refusedStranger(context, asked);
    if (stranger !== undefined) return stranger;
    const opened = await openSocket(destination.pool, "one_way", asked, "poll");
    if (opened.outcome === "refused") return opened.response;
    const { request } = parsed;
    const ending = await awaitEnding(
      opened.socket,
      new PollReader(channel, request),
      request.timeoutMs,
    );
    return respond(ending, cacheControl(context, request, ending));
  };
}

/** How a poll ended: with an answer, or with the code with which the object closed the socket. */
type Ending = LongPollAnswer | { readonly outcome: "closed"; readonly code: number };

/**
 * Reads from the socket until there is an answer, and closes it. The time of the poll begins at the object's first
 * frame.
 */
async function awaitEnding(
  socket: WebSocket,
  reader: PollReader,
  timeoutMs: number,
): Promise<Ending> {
  const ended = Promise.withResolvers<Ending>();
  const endAfter = (waitMs: number) => setTimeout(() => ended.resolve(reader.timedOut()), waitMs);
  let timer = endAfter(limits.objectAnswerMs);
  let connected = false;
  socket.addEventListener("message", ({ data }) => {
    const answer = reader.read(String(data));
    if (answer.outcome !== "waiting") ended.resolve(answer);
    if (connected) return;
    connected = true;
    clearTimeout(timer);
    timer = endAfter(timeoutMs);
  });
  socket.addEventListener("close", ({ code }) => ended.resolve({ outcome: "closed", code }));
  socket.addEventListener("error", () => ended.resolve({ outcome: "closed", code: 1006 }));
  try {
    socket.accept();
    socket.send(reader.connectRequest);
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    closeSocket(socket, 1000, "");
  }
}

function respond(ending: Ending, cache: string): Response {
  switch (ending.outcome) {
    case "answered":
      return respondPoll(ending.body, cache);
    case "forbidden":
      return respondText(403, "permission denied");
    case "no-positions":
      return respondText(
        404,
        "the channel can't be polled: it requires history, and force_recovery or allow_recovery",
      );
    case "waiting":
      return respondBusy(busyRetrySeconds());
    case "closed":
      return respondClosed(ending.code);
  }
}

/** The status for a disconnect code: a poll has no stream on which the code could be sent. */
function respondClosed(code: number): Response {
  switch (code) {
    case disconnectCodes.connectionExpired.code:
      return respondText(401, "token expired");
    case disconnectCodes.invalidToken.code:
      return respondText(401, "invalid token");
    // The edge's connect request is valid, so this code means that a token is required (docs/protocol.md 1.4, item 3).
    case disconnectCodes.badRequest.code:
      return respondText(401, "token required");
    case disconnectCodes.permissionDenied.code:
      return respondText(403, "permission denied");
    default:
      return respondBusy(busyRetrySeconds());
  }
}

/**
 * The publications after a position never change, and only become more. A client that gets fewer of them from a cache
 * asks again from where they end. So caches may keep the response if clients without a token may read it. Any other
 * response describes the current state or is for one client only.
 */
function cacheControl(
  context: Context<AppEnv>,
  { since }: LongPollRequest,
  ending: Ending,
): string {
  const { headers, url } = context.req.raw;
  const anonymous =
    !headers.has("Authorization") &&
    !headers.has("Cookie") &&
    !new URL(url).searchParams.has("token");
  // A backend may have admitted the client because of a header that caches don't know.
  const { hooks } = context.get("configured").config;
  const open = anonymous && hooks.connect === undefined;
  const lasting = ending.outcome === "answered" && ending.kind === "fresh" && since?.epoch !== "";
  return open && lasting ? "public, max-age=60" : "private, no-store";
}
