import { Router } from "express";
import { isModerator } from "./rooms.js";

/**
 * Answers what Dormouse asks while a client waits. The questions have been verified before.
 *
 * @param {import("./sessions.js").Sessions} sessions
 * @param {import("./rooms.js").Rooms} rooms
 */
export function hooks(sessions, rooms) {
  const router = Router();

  // A page has opened its connection. Its cookie came with the handshake.
  router.post("/connect", (request, response) => {
    const user = sessions.userOf(request);
    if (user === undefined) response.json({ disconnect: { code: 4501, reason: "log in first" } });
    else if (isModerator(user)) response.json({ result: { user, caps: moderating } });
    else response.json({ result: { user } });
  });

  // A page wants to enter a room. An empty answer lets it in.
  router.post("/subscribe", (request, response) => {
    const { user, channel } = request.body;
    if (rooms.admits(user, roomOf(channel))) response.json({});
    else response.json(refusal(403, "this room is private"));
  });

  // A page writes into a room. This hook alone decides who may: a page needn't be in the room to write. It is also asked
  // before a page edits or deletes a message; whether the user has written it, Dormouse knows.
  router.post("/publish", (request, response) => {
    const { user, channel, data, method } = request.body;
    if (!rooms.admits(user, roomOf(channel))) {
      response.json(refusal(403, "this room is private"));
    } else if (method === "dormouse.delete") {
      response.json({});
    } else if (typeof data?.text !== "string" || data.text.length > 1_000) {
      response.json(refusal(400, "write a text of at most 1,000 characters"));
    } else {
      response.json({ result: { data: { text: filtered(data.text) } } });
    }
  });

  // A page calls a method. A call may be repeated, if the connection is lost before the reply is there.
  router.post("/rpc", (request, response) => {
    const { user, method, data } = request.body;
    if (method !== "invite") {
      response.json(refusal(404, "there is no such method"));
    } else if (typeof data?.user !== "string" || typeof data.room !== "string") {
      response.json(refusal(400, "name a user and a room"));
    } else if (!rooms.admits(user, data.room)) {
      response.json(refusal(403, "only members invite others"));
    } else {
      rooms.add(data.user, data.room);
      response.json({ result: { data: { invited: data.user } } });
    }
  });

  return router;
}

/** What a moderator's connection may do: change what anybody has written. */
const moderating = [{ channels: ["room:*"], match: "wildcard", allow: ["chg"] }];

/** The room of a channel such as `room:lobby`. */
function roomOf(channel) {
  return channel.slice("room:".length);
}

/** A refusal. Its code and its message reach the page; codes from 400 to 1999 are the application's own. */
function refusal(code, message) {
  return { error: { code, message } };
}

function filtered(text) {
  return text.replaceAll(/\b(?:blast|crikey|drat)\b/gi, (word) => "*".repeat(word.length));
}
