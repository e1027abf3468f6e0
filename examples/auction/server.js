/** Serves the auction's page and a token for each name. The auction itself is in channels.ts, and runs in Dormouse. */
import { createHmac } from "node:crypto";
import { fileURLToPath } from "node:url";
import express from "express";

const { PORT = "3000", DORMOUSE = "http://localhost:8787", TOKEN_HMAC_SECRET_KEY } = process.env;
if (TOKEN_HMAC_SECRET_KEY === undefined)
  throw new Error("TOKEN_HMAC_SECRET_KEY is missing: Dormouse's first start writes .dev.vars");

const app = express();

// Put your own log-in here: this one believes everybody's name.
app.get("/connection", (request, response) => {
  const { name } = request.query;
  if (typeof name !== "string" || !/^[a-z]{1,20}$/.test(name)) {
    response.status(400).send("A name has 1 to 20 small letters.");
    return;
  }
  const address = `${DORMOUSE.replace(/^http/, "ws")}/connection/websocket`;
  response.json({ address, token: tokenOf(name) });
});
const centrifuge = fileURLToPath(import.meta.resolve("centrifuge"));
app.get("/centrifuge.js", (_, response) => response.sendFile(centrifuge));
app.use(express.static(fileURLToPath(new URL("page", import.meta.url))));

app.listen(Number(PORT), "localhost", () =>
  console.log(`The auction is at http://localhost:${PORT}`),
);

/** A connection token of a user, for a day. */
function tokenOf(user) {
  const claims = { sub: user, exp: Math.floor(Date.now() / 1_000) + 86_400 };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", TOKEN_HMAC_SECRET_KEY).update(signed).digest("base64url")}`;
}

function part(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
