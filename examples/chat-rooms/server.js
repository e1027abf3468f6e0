/**
 * The chat rooms' server: pages and sessions for browsers, and answers to the questions and the events of Dormouse.
 */
import { fileURLToPath } from "node:url";
import express from "express";
import { openDatabase } from "./database.js";
import { DormouseApi, signedByDormouse } from "./dormouse.js";
import { hooks } from "./hooks.js";
import { Online } from "./online.js";
import { isModerator, Rooms } from "./rooms.js";
import { Sessions } from "./sessions.js";

const {
  PORT = "3000",
  DATABASE = "chat-rooms.sqlite",
  DORMOUSE = "http://localhost:8787",
  API_KEY,
  HOOK_SIGNING_SECRET,
} = process.env;
if (API_KEY === undefined || HOOK_SIGNING_SECRET === undefined)
  throw new Error(
    "API_KEY or HOOK_SIGNING_SECRET is missing: Dormouse's first start writes .dev.vars",
  );

const database = openDatabase(DATABASE);
const api = new DormouseApi(DORMOUSE, API_KEY);
const sessions = new Sessions(database);
const online = new Online(database, api);
const app = express();

app.use("/hooks", signedByDormouse(HOOK_SIGNING_SECRET), hooks(sessions, new Rooms(database)));

// An error becomes status 500, and Dormouse sends the same events again.
app.post("/events", signedByDormouse(HOOK_SIGNING_SECRET), async (request, response) => {
  await online.take(request.body.events);
  response.sendStatus(204);
});

// Put your own log-in here: this one believes everybody's name.
app.post("/login", express.json(), (request, response) => {
  const name = request.body?.name;
  if (typeof name !== "string" || !/^[a-z]{1,20}$/.test(name)) {
    response.status(400).send("A name has 1 to 20 small letters.");
    return;
  }
  sessions.begin(name, response);
  response.sendStatus(204);
});

app.post("/logout", async (request, response) => {
  const user = sessions.userOf(request);
  sessions.end(request, response);
  // Code 4000 lets clients come back. Those with another session get in again, and the others are refused at connect.
  const disconnect = { code: 4000, reason: "logged out" };
  if (user !== undefined) await api.call("disconnect", { user, disconnect });
  response.sendStatus(204);
});

app.get("/me", (request, response) => {
  const address = `${DORMOUSE.replace(/^http/, "ws")}/connection/websocket`;
  const user = sessions.userOf(request);
  response.json({ user, isModerator: isModerator(user), address });
});

const centrifuge = fileURLToPath(import.meta.resolve("centrifuge"));
app.get("/centrifuge.js", (_, response) => response.sendFile(centrifuge));
app.use(express.static(fileURLToPath(new URL("page", import.meta.url))));

try {
  await online.catchUp();
} catch (error) {
  console.error(
    `Dormouse can't be asked for events now, and will send them itself: ${error.message}`,
  );
}
app.listen(Number(PORT), "localhost", () =>
  console.log(`The chat rooms are at http://localhost:${PORT}`),
);
