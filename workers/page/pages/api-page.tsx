import { useState } from "preact/hooks";
import type { JsonValue } from "../answers.ts";
import { fieldOf, Message, type PageProps, useAnswer } from "../parts.tsx";
import { isJson } from "../text.ts";
import { addressAt, call } from "../server.ts";

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
          {Object.entries(apiExamples).map(([name, { summary }]) => (
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

/** The methods with an example of each, which the build writes here. */
declare const apiExamples: Readonly<
  Record<string, { readonly summary: string; readonly request: object }>
>;

function exampleOf(method: string): string {
  return JSON.stringify(apiExamples[method]?.request ?? {}, undefined, 2);
}

function shellLine(method: string, request: string): string {
  const body = request.replaceAll(/\n\s*/g, " ").replaceAll("'", String.raw`'\''`);
  return `curl ${addressAt(`../api/${method}`).href} -H "X-API-Key: $API_KEY" -d '${body}'`;
}
