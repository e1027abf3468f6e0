import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import express from "express";
import { SignJWT } from "jose";

const {
  PORT = "3000",
  DORMOUSE = "http://localhost:8787",
  API_KEY,
  TOKEN_HMAC_SECRET_KEY,
} = process.env;
const secret = new TextEncoder().encode(TOKEN_HMAC_SECRET_KEY);

/** The members of each room, moderators, and the users of the sessions: an application has them in its database. */
const members = new Map([
  ["lobby", ["ada", "bob"]],
  ["staff", ["ada"]],
]);
const moderators = new Set(["ada"]);
const users = new Map();

const app = express();
app.use(express.json());
app.use((request, response, next) => {
  const [, session] = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? "") ?? [];
  response.locals.user = users.get(session);
  next();
});

// Put your own log-in here: this one believes everybody's name.
app.post("/login", (request, response) => {
  const { name } = request.body ?? {};
  if (typeof name !== "string" || !/^[a-z]{1,20}$/.test(name)) return response.sendStatus(400);
  const session = randomUUID();
  users.set(session, name);
  response.cookie("session", session, { httpOnly: true, sameSite: "lax" });
  return response.sendStatus(204);
});

// The connection token says who the user is. A moderator's lets its client change what others have written.
app.get("/token", async (_, response) => {
  const { user } = response.locals;
  if (user === undefined) return response.sendStatus(403);
  const moderator = moderators.has(user);
  const caps = [{ channels: ["$room:*"], match: "wildcard", allow: ["chg"] }];
  const claims = { sub: user, info: { name: user }, ...(moderator && { caps }) };
  return response.json({ token: await sign(claims), user, moderator });
});

// The subscription token says that the user may enter the room.
app.get("/token/:room", async ({ params: { room } }, response) => {
  const { user } = response.locals;
  if (!isMember(user, room)) return response.sendStatus(403);
  return response.json({ token: await sign({ sub: user, channel: `$room:${room}` }) });
});

// Users write by their own connections. What the application itself says is published by the backend.
app.post("/notices/:room", async ({ params: { room }, body }, response) => {
  if (!moderators.has(response.locals.user)) return response.sendStatus(403);
  const text = body?.text;
  if (typeof text !== "string" || text.length > 1000) return response.sendStatus(400);
  const answer = await fetch(`${DORMOUSE}/api/publish`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": API_KEY },
    body: JSON.stringify({ channel: `$room:${room}`, data: { text } }),
  });
  const published = answer.ok && !("error" in (await answer.json()));
  return response.sendStatus(published ? 204 : 502);
});

app.use(express.static(fileURLToPath(new URL("../page", import.meta.url))));
app.listen(Number(PORT), "127.0.0.1", () => console.log(`The chat is at http://localhost:${PORT}`));

function isMember(user, room) {
  return members.get(room)?.includes(user) === true;
}

/** Signs claims for an hour. */
function sign(claims) {
  const token = new SignJWT(claims).setProtectedHeader({ alg: "HS256" });
  return token.setExpirationTime("1h").sign(secret);
}
