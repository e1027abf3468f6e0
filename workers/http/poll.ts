import type { Context, Handler } from "hono";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import { limits } from "../../src/limits.ts";
import { disconnectCodes } from "../../src/protocol/codes.ts";
import {
  type PollAnswer,
  PollReader,
  type PollRequest,
  parsePollRequest,
} from "../../src/transport/poll.ts";
import { admit } from "./admit.ts";
import type { AppEnv } from "./middleware.ts";
import type { Endpoint } from "./endpoints.ts";
import { openSocket } from "./placement.ts";
import {
  busyRetrySeconds,
  respondBusy,
  respondMalformed,
  respondNotFound,
  respondPoll,
  respondText,
} from "./respond.ts";

/**
 * `GET /channel/<name>/poll`: what is newer than a position, at once or when it comes (rule T9). For as long as it waits it is
 * a client that only listens, so that the object can sleep meanwhile.
 */
export function poll(endpoint: Endpoint): Handler<AppEnv> {
  return async (context) => {
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const { channel } = destination;
    if (channel === undefined) return respondNotFound();
    const parsed = parsePollRequest((name) => context.req.query(name));
    if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
    const resolved = resolveChannel(channel, context.var.configured.config.channel);
    if (resolved.outcome !== "resolved") return respondText(404, "unknown channel");
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const { claims } = admission;
    const opened = await openSocket(destination.pool, "one_way", claims, "transient");
    if (opened.outcome === "refused") return opened.response;
    const { request } = parsed;
    const ending = await listen(opened.socket, new PollReader(channel, request), request.timeoutMs);
    return respond(ending, cacheControl(context, request, ending));
  };
}

/** What a poll came to: an answer, or the code with which the object closed. */
type Ending = PollAnswer | { readonly outcome: "closed"; readonly code: number };

/** Listens until there is an answer, and leaves. The time begins when the object has said where the client is. */
async function listen(socket: WebSocket, reader: PollReader, timeoutMs: number): Promise<Ending> {
  const ended = Promise.withResolvers<Ending>();
  const endAfter = (waitMs: number) => setTimeout(() => ended.resolve(reader.timedOut()), waitMs);
  let timer = endAfter(limits.objectAnswerMs);
  let connected = false;
  socket.addEventListener("message", ({ data }) => {
    const answer = reader.take(String(data));
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
    socket.close(1000);
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
        "nothing can be polled: the channel has no history, or neither force_recovery nor allow_recovery",
      );
    case "waiting":
      return respondBusy(busyRetrySeconds());
    case "closed":
      return respondClosed(ending.code);
  }
}

/** A disconnect, as a status: whoever polls has no stream on which it could be told. */
function respondClosed(code: number): Response {
  switch (code) {
    case disconnectCodes.connectionExpired.code:
      return respondText(401, "token expired");
    case disconnectCodes.invalidToken.code:
      return respondText(401, "invalid token");
    // What we sent is in order, so this says that nobody may come without a token (docs/protocol.md 1.4, item 3).
    case disconnectCodes.badRequest.code:
      return respondText(401, "token required");
    case disconnectCodes.permissionDenied.code:
      return respondText(403, "permission denied");
    default:
      return respondBusy(busyRetrySeconds());
  }
}

/**
 * What follows a position never changes, it only gets longer, and who gets less of it asks again from where it ends. So
 * everybody may have it who may have it without a token; anything else says how matters stand at the moment, or was for
 * one client's eyes.
 */
function cacheControl(context: Context<AppEnv>, { since }: PollRequest, ending: Ending): string {
  const { headers, url } = context.req.raw;
  const anonymous =
    !headers.has("Authorization") &&
    !headers.has("Cookie") &&
    !new URL(url).searchParams.has("token");
  const lasting = ending.outcome === "answered" && ending.kind === "fresh" && since?.epoch !== "";
  return anonymous && lasting ? "public, max-age=60" : "private, no-store";
}
