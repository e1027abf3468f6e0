/**
 * The inbox's server: pages and tokens for browsers, and mails about messages that a member hasn't got in time. Dormouse
 * keeps what each member has got and read; there is no table for it here.
 */
import { fileURLToPath } from "node:url";
import express from "express";
import { SignJWT } from "jose";
import { DormouseApi, signedByDormouse } from "./dormouse.js";
import { channelOf, isMember, rooms, roomsOf } from "./rooms.js";

const {
  PORT = "3000",
  DORMOUSE = "http://localhost:8787",
  API_KEY,
  HOOK_SIGNING_SECRET,
  TOKEN_HMAC_SECRET_KEY,
} = process.env;
if (
  API_KEY === undefined ||
  HOOK_SIGNING_SECRET === undefined ||
  TOKEN_HMAC_SECRET_KEY === undefined
)
  throw new Error("A secret is missing: Dormouse's first start writes .dev.vars");

const api = new DormouseApi(DORMOUSE, API_KEY);
const tokenKey = new TextEncoder().encode(TOKEN_HMAC_SECRET_KEY);
const app = express();

// Dormouse sends an event again until it is answered. An event that came before has a number that isn't larger.
const lastNumbers = new Map();
app.post("/events", signedByDormouse(HOOK_SIGNING_SECRET), (request, response) => {
  for (const event of request.body.events) {
    if (event.number <= (lastNumbers.get(event.object) ?? 0)) continue;
    lastNumbers.set(event.object, event.number);
    take(event);
  }
  response.sendStatus(204);
});

/** Put your own mail or push notification here. */
function take({ type, channel, user, count }) {
  if (type === "unseen") console.log(`mail to ${user}: ${count} unseen in ${channel}`);
  if (type === "seen") console.log(`no mail to ${user} any more: all of ${channel} is seen`);
}

// Put your own log-in here: this one believes everybody's name.
app.get("/session/:name", async ({ params: { name } }, response) => {
  const names = roomsOf(name);
  if (names.length === 0) {
    response.status(403).send("Only ann, bob and carl are members of a room.");
    return;
  }
  const caps = [{ channels: names.map(channelOf), allow: ["sub", "pub", "hst"] }];
  const token = await new SignJWT({ sub: name, caps })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("1h")
    .sign(tokenKey);
  const address = `${DORMOUSE.replace(/^http/, "ws")}/connection/websocket`;
  response.json({ token, rooms: names, address });
});

// Up to which message each other member has got the room. Only members may ask.
app.get("/ticks/:room/:name", async ({ params: { room, name } }, response) => {
  if (!isMember(room, name)) {
    response.sendStatus(403);
    return;
  }
  const channel = channelOf(room);
  const others = rooms.get(room).filter((user) => user !== name);
  const ticks = others.map(async (user) => {
    const { offset: delivered } = await api.call("delivered", { user, channel });
    return { user, delivered };
  });
  response.json(await Promise.all(ticks));
});

const centrifuge = fileURLToPath(import.meta.resolve("centrifuge"));
app.get("/centrifuge.js", (_, response) => response.sendFile(centrifuge));
app.use(express.static(fileURLToPath(new URL("page", import.meta.url))));

// Dormouse has to know who is to see the messages of a room. Call this again when members change.
for (const [room, users] of rooms)
  await api.call("set_audience", { channel: channelOf(room), users });

app.listen(Number(PORT), "localhost", () =>
  console.log(`The inbox of ann is at http://localhost:${PORT}/?name=ann`),
);
