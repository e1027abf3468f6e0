import { Router } from "express";
import { DormouseFailure } from "./dormouse.js";

/**
 * Answers the methods that pages call. The questions of Dormouse have been verified before.
 *
 * @param {import("./answers.js").Answers} answers
 */
export function hooks(answers) {
  const router = Router();

  // Both may be repeated, if the connection is lost before the reply is there: the page makes an ID for each question.
  router.post("/rpc", async (request, response) => {
    const { method, data } = request.body;
    const refused = refusalOf(method, data);
    if (refused !== undefined) {
      response.json({ error: refused });
      return;
    }
    const { chat, id, question } = data;
    try {
      if (method === "ask") {
        const problem = await answers.ask(chat, id, question.trim());
        response.json(problem === undefined ? {} : { error: { code: 409, message: problem } });
      } else {
        await answers.cancel(chat, id);
        response.json({});
      }
    } catch (error) {
      if (!(error instanceof DormouseFailure)) throw error;
      console.error(error.message);
      response.sendStatus(503);
    }
  });

  return router;
}

/** Why a call is refused. Codes from 400 to 1999 are the application's own. */
function refusalOf(method, data) {
  if (method !== "ask" && method !== "cancel")
    return { code: 404, message: "there is no such method" };
  if (!isRandomId(data?.chat) || !isRandomId(data.id))
    return { code: 400, message: "a chat and an id are UUIDs" };
  const isQuestion = typeof data.question === "string" && /\S/.test(data.question);
  if (method === "ask" && (!isQuestion || data.question.length > 4_000))
    return { code: 400, message: "a question has 1 to 4,000 characters" };
  return undefined;
}

function isRandomId(value) {
  return typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}
