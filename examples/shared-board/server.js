/**
 * Serves the board's page and the JavaScript client. There is no backend beside it: Dormouse keeps the list and the
 * cursors, and clients change them as wrangler.toml allows.
 */
import { fileURLToPath } from "node:url";
import express from "express";

const { PORT = "3000", DORMOUSE = "http://localhost:8787" } = process.env;
const app = express();

app.get("/address", (_, response) => {
  response.json(`${DORMOUSE.replace(/^http/, "ws")}/connection/websocket`);
});
const centrifuge = fileURLToPath(import.meta.resolve("centrifuge"));
app.get("/centrifuge.js", (_, response) => response.sendFile(centrifuge));
app.use(express.static(fileURLToPath(new URL("page", import.meta.url))));

app.listen(Number(PORT), "localhost", () =>
  console.log(`The shared board is at http://localhost:${PORT}`),
);
