/** Writes an answer in a process of its own. Its model waits in the middle of the text if it is told to hold. */
import { httpApi, streamToChannel } from "../../../package/ai/index.ts";
import { GatedModel } from "./gated-model.ts";

const [url = "", apiKey = "", channel = "", messageId = "", holds] = process.argv.slice(2);
const model = new GatedModel();
if (holds === "hold") model.hold("text");
// What waits for nothing but the test doesn't keep a process alive.
const alive = setInterval(() => undefined, 1_000);
await streamToChannel(httpApi({ url, apiKey }), channel, ({ signal }) => model.answer(signal), {
  messageId,
});
clearInterval(alive);
