import { type ChatBackend, httpApi } from "../../../package/ai/index.ts";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, configOf } from "../../support/documented-code.ts";

/** Starts a server with the configuration of docs/ai-chat.md. @returns it, and its HTTP API as the application's backend has it */
export async function startChatServer(): Promise<{
  readonly rt: TestDormouse;
  readonly backend: ChatBackend;
}> {
  const rt = await startDormouse({ config: configOf(codeBlocksOf("ai-chat.md")[0]?.code ?? "") });
  return { rt, backend: httpApi({ url: rt.url, apiKey: rt.apiKey }) };
}
