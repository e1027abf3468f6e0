import { useState } from "preact/hooks";
import { channelMethods } from "../../../cli/openapi/channel-methods.ts";
import { cursorMethods } from "../../../cli/openapi/cursor-methods.ts";
import { inspectionMethods } from "../../../cli/openapi/inspection-methods.ts";
import { mapMethods } from "../../../cli/openapi/map-methods.ts";
import { questionMethods } from "../../../cli/openapi/question-methods.ts";
import { userMethods } from "../../../cli/openapi/user-methods.ts";
import type { JsonValue } from "../answers.ts";
import { fieldOf, isJson, Message, type PageProps, useAnswer } from "../parts.tsx";
import { call } from "../server.ts";

/** Any method of the HTTP API, with its answer, and the line of a shell that does the same. */
export function ApiPage({ loggedOut }: PageProps) {
  const [method, setMethod] = useState("publish");
  const [request, setRequest] = useState(exampleOf("publish"));
  const [{ result, problem, isWaiting }, take] = useAnswer<JsonValue>(loggedOut);
  const choose = (event: Event) => {
    if (!(event.currentTarget instanceof HTMLSelectElement)) return;
    setMethod(event.currentTarget.value);
    setRequest(exampleOf(event.currentTarget.value));
  };
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    const text = fieldOf(event, "request");
    setRequest(text);
    // As it was typed (rule N12).
    if (isJson(text)) void take(call(method, text));
  };
  const fault = isJson(request) ? "" : "The request isn't valid JSON.";
  return (
    <>
      <h1>API</h1>
      <form onSubmit={send}>
        <label for="method">Method</label>
        <select id="method" name="method" value={method} onChange={choose}>
          {[...methods].map(([name, { summary }]) => (
            <option value={name} key={name}>
              {name}: {summary}
            </option>
          ))}
        </select>
        <label for="request">Request, as JSON</label>
        <textarea
          id="request"
          name="request"
          rows={6}
          spellcheck={false}
          value={request}
          required
        />
        <button class="main-button" disabled={isWaiting}>
          Send
        </button>
      </form>
      <Message text={fault === "" ? problem : fault} isProblem />
      <h2>Answer</h2>
      <pre class="code" aria-label="Answer" tabIndex={0}>
        {result === undefined ? "–" : JSON.stringify(result, undefined, 2)}
      </pre>
      <h2>The same in a shell</h2>
      <pre class="code" aria-label="The same in a shell" tabIndex={0}>
        {shellLine(method, request)}
      </pre>
    </>
  );
}

/** What is told of a method. */
interface MethodExample {
  readonly summary: string;
  readonly example: { readonly request: object };
}

const methods: ReadonlyMap<string, MethodExample> = new Map(
  Object.entries<MethodExample>({
    ...channelMethods,
    ...userMethods,
    ...questionMethods,
    ...inspectionMethods,
    ...mapMethods,
    ...cursorMethods,
  }).filter(([name]) => name !== "events"),
);

function exampleOf(method: string): string {
  return JSON.stringify(methods.get(method)?.example.request ?? {}, undefined, 2);
}

function shellLine(method: string, request: string): string {
  const body = request.replaceAll(/\n\s*/g, " ").replaceAll("'", String.raw`'\''`);
  return `curl ${location.origin}/api/${method} -H "X-API-Key: $API_KEY" -d '${body}'`;
}
