import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeBlocksOf } from "../../support/documented-code.ts";

/** As much of FastAPI as the page's code uses. */
const fastApi = `
class Request: ...
class FastAPI:
    def post(self, path, status_code): return lambda function: function
class BackgroundTasks:
    def add_task(self, function, *arguments): function(*arguments)
`;

/** Does what a request does, with a model that stops itself in the middle if it is asked to. */
const asked = `
import asyncio, json, sys, threading
import chat

class Posted:
    def __init__(self, body): self.body = body
    async def json(self): return self.body

def post(body): asyncio.run(chat.chat(Posted(body), chat.BackgroundTasks()))

body = json.loads(sys.argv[1])
def ask_model(channel):
    yield "It is "
    if "stop" in sys.argv:
        stop = {"id": body["id"], "trigger": "stop-message", "messageId": body["answerId"]}
        other = threading.Thread(target=post, args=[stop])
        other.start()
        other.join()
    yield "süß ☀️" * 4000
    yield "."
chat.ask_model = ask_model
post(body)
`;

/** Writes the code of docs/ai-chat.md into a folder, and `asked.py`, which does what a request does. */
export function writePythonRoute(folder: string): void {
  const code = codeBlocksOf("ai-chat.md").find(({ language }) => language === "python")?.code;
  const files = { "chat.py": code ?? "", "fastapi.py": fastApi, "asked.py": asked };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}
