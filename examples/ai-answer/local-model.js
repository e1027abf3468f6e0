import { setTimeout as pause } from "node:timers/promises";
import express from "express";

/**
 * A server of chat completions without a model, to try the example with: the same question always gets the same text,
 * word by word. Where the last message is of the assistant, it goes on after that.
 *
 * @param {number} tokensPerSecond
 */
export function localModel(tokensPerSecond) {
  const app = express();
  app.post("/chat/completions", express.json({ limit: "2mb" }), async (request, response) => {
    const { messages, model = "local" } = request.body;
    const question = messages.findLast(({ role }) => role === "user")?.content ?? "";
    const last = messages.at(-1);
    const begun = last?.role === "assistant" ? last.content.length : 0;
    const rest = answerTo(question).slice(begun);
    response.type("text/event-stream");
    const send = (delta, finish_reason = null) => {
      const chunk = {
        object: "chat.completion.chunk",
        model,
        choices: [{ index: 0, delta, finish_reason }],
      };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    send({ role: "assistant", content: "" });
    const begunMs = performance.now();
    for (const [index, content] of tokensOf(rest).entries()) {
      // By the clock, so that slow timers don't add up.
      const waitMs = begunMs + (index * 1_000) / tokensPerSecond - performance.now();
      await pause(Math.max(0, waitMs));
      if (response.closed) return;
      send({ content });
    }
    send({}, "stop");
    response.end("data: [DONE]\n\n");
  });
  return app;
}

/** The whole answer to a question: of 300 words, unless the question says `in 100 words`. */
export function answerTo(question) {
  const length = Math.min(Number(/\bin (\d{1,5}) words\b/.exec(question)?.[1] ?? 300), 20_000);
  let seed = 7;
  for (const character of question) seed = (31 * seed + character.codePointAt(0)) % 2 ** 31;
  const next = (below) => {
    seed = (1_103_515_245 * seed + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  let text = "";
  let left = 0;
  for (let index = 0; index < length; index++) {
    const word = words[next(words.length)];
    const begins = left === 0;
    if (begins) left = 6 + next(9);
    left--;
    const isEnd = left === 0 || index === length - 1;
    text += begins ? word[0].toUpperCase() + word.slice(1) : word;
    if (isEnd) text += next(4) === 0 ? ".\n\n" : ". ";
    else text += next(9) === 0 ? ", " : " ";
  }
  return text.trimEnd();
}

/** Pieces of a few characters, as models write them. */
function tokensOf(text) {
  return text.match(/\s*[^\s.,]{1,6}|[\s.,]+/gu) ?? [];
}

const words = (
  "the dormouse sleeps in its nest of moss until a message wakes it and then it runs along every branch to tell what " +
  "it has heard café naïve señor 🐭 東京 straße winter acorns summer river small quick quiet between under after before " +
  "never lost twice order garden morning night letter window writes reads remembers forgets hazel walnut honey"
).split(" ");
