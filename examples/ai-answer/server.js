/**
 * The server of the answers: the page, what pages call, and the process that writes what the model says into Dormouse.
 */
import { fileURLToPath } from "node:url";
import express from "express";
import { Answers } from "./answers.js";
import { DormouseApi, signedByDormouse } from "./dormouse.js";
import { hooks } from "./hooks.js";
import { localModel } from "./local-model.js";
import { Model } from "./model.js";

const {
  PORT = "3000",
  DORMOUSE = "http://localhost:8787",
  API_KEY,
  HOOK_SIGNING_SECRET,
  MODEL_URL = `http://localhost:${PORT}/local-model/v1`,
  MODEL_KEY = "",
  MODEL_OPTIONS = `{"model":"local"}`,
  TOKENS_PER_SECOND = "40",
} = process.env;
if (API_KEY === undefined || HOOK_SIGNING_SECRET === undefined)
  throw new Error(
    "API_KEY or HOOK_SIGNING_SECRET is missing: Dormouse's first start writes .dev.vars",
  );

const model = new Model(MODEL_URL, MODEL_KEY, JSON.parse(MODEL_OPTIONS));
const answers = new Answers(new DormouseApi(DORMOUSE, API_KEY), model);
const app = express();

app.use("/hooks", signedByDormouse(HOOK_SIGNING_SECRET), hooks(answers));
app.use("/local-model/v1", localModel(Number(TOKENS_PER_SECOND)));

app.get("/address", (_, response) => {
  response.json(`${DORMOUSE.replace(/^http/, "ws")}/connection/websocket`);
});
const centrifuge = fileURLToPath(import.meta.resolve("centrifuge"));
app.get("/centrifuge.js", (_, response) => response.sendFile(centrifuge));
app.use(express.static(fileURLToPath(new URL("page", import.meta.url))));

app.listen(Number(PORT), "localhost", async (error) => {
  if (error) throw error;
  console.log(`The answers are at http://localhost:${PORT}`);
  await answers.resume();
});
