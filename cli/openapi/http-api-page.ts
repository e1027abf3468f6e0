/** The page docs/http-api.md: each method with a line for a shell, Python, PHP and JavaScript. */
import type { OperationName } from "../../src/access/operations.ts";
import { operationNames } from "../../src/api/operations.ts";
import { errorCodes } from "../../src/protocol/codes.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/wire-value.ts";
import { methodNotes } from "./document.ts";
import { tags } from "./method.ts";

/** Where the examples find the server, as under `npm start`. */
export const exampleAddress = "http://localhost:8787";

/** The lines of a method in the languages of the page, by the names of its fences. */
export interface MethodSamples {
  readonly bash: string;
  readonly python: string;
  readonly php: string;
  readonly js: string;
}

/** Writes the page. */
export function httpApiPage(): string {
  const groups = Object.entries(tags).map(([tag, description]) => {
    const names = operationNames().filter((name) => methodNotes[name].tag === tag);
    const title = tag.slice(0, 1).toUpperCase() + tag.slice(1);
    const sections = names.map(sectionOf).join("\n");
    return sections === "" ? "" : `\n## ${title}\n\n${description}\n\n${sections}`;
  });
  return `${heading}\n${errorsSection()}${groups.join("")}`;
}

/** The samples of a method, with the request of its example. */
function samplesOf(name: OperationName): MethodSamples {
  const request = exampleOf(name);
  const json = JSON.stringify(request);
  return {
    bash: `curl ${exampleAddress}/api/${name} -H "X-API-Key: $API_KEY" -d '${json}'`,
    python: pythonOf(name, request),
    php: `dormouse('${name}', ${phpOf(request)});`,
    js: `await dormouse("${name}", ${jsOf(request)});`,
  };
}

function sectionOf(name: OperationName): string {
  const { summary, description } = methodNotes[name];
  const blocks = Object.entries(samplesOf(name)).map(
    ([language, text]) => `\`\`\`${language}\n${text}\n\`\`\`\n`,
  );
  return `### ${name}\n\n${summary}. ${wrapped(description)}\n\n${blocks.join("\n")}`;
}

function exampleOf(name: OperationName): JsonObject {
  const request: JsonObject = JSON.parse(JSON.stringify(methodNotes[name].example.request));
  return request;
}

/** The methods that \`cent\` 5 has. */
const ofCent: ReadonlySet<string> = new Set([
  "publish",
  "broadcast",
  "history",
  "history_remove",
  "presence",
  "presence_stats",
  "disconnect",
  "unsubscribe",
  "subscribe",
  "refresh",
  "block_user",
  "unblock_user",
  "revoke_token",
  "invalidate_user_tokens",
  "connections",
  "info",
  "channels",
  "update_user_status",
  "get_user_status",
  "delete_user_status",
]);

function pythonOf(name: string, request: JsonObject): string {
  const fields = Object.entries(request);
  if (!ofCent.has(name)) return `dormouse("${name}", ${pythonText(request)})`;
  const type = `${name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Request`;
  const given = fields.map(([field, value]) => `${field}=${pythonText(value)}`);
  // cent demands it, though Centrifugo doesn't.
  if (name === "connections") given.push('expression=""');
  return `client.${name}(${type}(${given.join(", ")}))`;
}

function pythonText(value: JsonValue): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  if (Array.isArray(value)) return `[${entries.map(([, one]) => pythonText(one)).join(", ")}]`;
  return `{${entries.map(([name, one]) => `"${name}": ${pythonText(one)}`).join(", ")}}`;
}

function phpOf(value: JsonValue): string {
  if (typeof value === "string") return `'${value}'`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  if (Array.isArray(value)) return `[${entries.map(([, one]) => phpOf(one)).join(", ")}]`;
  return `[${entries.map(([name, one]) => `'${name}' => ${phpOf(one)}`).join(", ")}]`;
}

function jsOf(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  if (Array.isArray(value)) return `[${entries.map(([, one]) => jsOf(one)).join(", ")}]`;
  return entries.length === 0
    ? "{}"
    : `{ ${entries.map(([name, one]) => `${name}: ${jsOf(one)}`).join(", ")} }`;
}

/** Text in lines of the width that the pages have. */
function wrapped(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.replaceAll("\n", " ").split(" ")) {
    if (line !== "" && line.length + word.length >= 118) {
      lines.push(line);
      line = "";
    }
    line += (line === "" ? "" : " ") + word;
  }
  return [...lines, line].join("\n");
}

/** What errors of the HTTP API come from. The others are for clients only. */
const causes = {
  internal:
    "an object failed, or didn't answer in 10 s: whether it was done is unknown, so repeat a publish with its `idempotency_key`",
  unknownChannel: "the channel's namespace isn't in the configuration",
  permissionDenied: "the API key doesn't admit the method or the channel",
  methodNotFound: "in a batch: there is no such method",
  limitExceeded: "the answer would be too large, or as much is kept already as may be",
  badRequest: "a field is missing or has a value that can't be; `npm start` and the log name it",
  notAvailable:
    "the configuration doesn't switch on what the method needs, such as a history; `npm start` and the log name the option",
  tooManyRequests: "too much waits: nothing was done, so try again later",
  unrecoverablePosition: "the epoch isn't that of the channel",
} as const satisfies Partial<Record<keyof typeof errorCodes, string>>;

function errorsSection(): string {
  const rows = Object.entries(errorCodes).flatMap(([name, { code, message }]) => {
    const known: Readonly<Record<string, string>> = causes;
    const cause = known[name];
    return cause === undefined ? [] : [`| ${code} | ${message} | ${cause} |`];
  });
  return `## Errors

An answer with status 200 has a \`result\`, or an \`error\` with a code and a message. With the header
\`X-Centrifugo-Error-Mode: transport\`, or \`http_api.error_mode = "transport"\`, an error is the status of the response.

| Code | Message | Cause |
| --- | --- | --- |
${rows.join("\n")}

| Status | Cause |
| --- | --- |
| 400 | the body isn't JSON, or a field has a wrong type; the response names it |
| 401 | there is no API key, or a wrong one |
| 405 | the method of HTTP isn't \`POST\` |
| 404 | there is no such method; the response names the nearest one |
| 413 | the body is over 8 MiB |
| 415 | the body has a \`Content-Encoding\`, such as gzip: send it uncompressed |
| 503 | the server isn't configured, and says what is missing; or too much waits: the header \`Retry-After\` says for how long |
`;
}

const heading = `<!-- Written by \`npm run openapi\`. Don't edit it: a test compares it. -->

# The HTTP API

A backend publishes, reads channels and controls connections by \`POST /api/<method>\`, with a JSON object as the body and an
[API key](configuration.md#secrets) in the header \`X-API-Key: KEY\` or \`Authorization: apikey KEY\`. The paths, the fields and the answers are those of Centrifugo's
HTTP API, so its libraries for backends work unchanged. [openapi.md](openapi.md) describes every field for generators, and the page
\`/swagger\` shows the same.

* **Many commands in one request:** \`POST /api/batch\` with \`{"commands": [{"publish": {…}}, {"presence": {…}}]}\` answers
  \`{"replies": […]}\` in their order. Commands for one channel share a call to its object.
* **Once, however often it is sent:** a publish with an \`idempotency_key\` that was used within 5 minutes publishes nothing, and has
  the first result.
* **Spelling:** as in Centrifugo, fields that a method doesn't have are ignored, so \`idempotencyKey\`, as Workers write it, protects
  nothing here. Under \`npm start\` the log names such a field, and the known one that it resembles.
* **Bounds:** a body has 8 MiB at most, a publication 1 MiB, a request 1,000 channels. [limits.md](limits.md) has all.
* **From Cloudflare itself:** a Worker publishes [by a service binding](embedding.md#from-another-worker) or
  [through a queue](queue.md), without a key.

The examples below have the address and the key of \`npm start\`. Before them stands, in Python, where PyPI's \`cent\` has most methods:

\`\`\`python
import json, os, urllib.request
from cent import *

address, key = "${exampleAddress}/api", os.environ["API_KEY"]
client = Client(address, key)

def dormouse(method, request):  # For the methods that cent doesn't have.
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    body = json.dumps(request).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{address}/{method}", body, headers)) as response:
        answer = json.load(response)
    if "error" in answer:
        raise RuntimeError(f"{answer['error']['code']} {answer['error']['message']}")
    return answer["result"]
\`\`\`

in PHP, without a library:

\`\`\`php
function dormouse(string $method, array $request): array
{
    $http = [
        'method' => 'POST',
        'header' => ['Content-Type: application/json', 'X-API-Key: ' . getenv('API_KEY')],
        'content' => json_encode((object) $request),
    ];
    $response = file_get_contents("${exampleAddress}/api/$method", false, stream_context_create(['http' => $http]));
    $answer = json_decode($response, true, flags: JSON_THROW_ON_ERROR);
    if (isset($answer['error'])) {
        throw new RuntimeException("{$answer['error']['code']} {$answer['error']['message']}");
    }
    return $answer['result'];
}
\`\`\`

and in JavaScript:

\`\`\`js
async function dormouse(method, request) {
  const headers = { "X-API-Key": process.env.API_KEY };
  const body = JSON.stringify(request);
  const response = await fetch(\`${exampleAddress}/api/\${method}\`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
  const { result, error } = await response.json();
  if (error) throw new Error(\`\${error.code} \${error.message}\`);
  return result;
}
\`\`\`
`;
