/** The page that shows the description of the HTTP API: HTML without a script, made of the document. */
import type { Content, OpenApiDocument, Operation, Response } from "./operation.ts";
import type { Schema } from "./schema.ts";

/** Makes the page. Its style sheet is `public/swagger.css`. */
export function openApiPage(document: OpenApiDocument): string {
  const { info, tags, paths, components } = document;
  const groups = tags.map(({ name, description }) => {
    const operations = Object.entries(paths).filter(([, { post }]) =>
      post.tags.some((tag) => tag === name),
    );
    return { name, description, operations };
  });
  const operations = Object.values(paths).map(({ post }) => post);
  const shown = new Set(operations.flatMap((one) => shownWith(one, components.schemas)));
  const others = Object.keys(components.schemas).filter((name) => !shown.has(name));
  const title = escaped(info.title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="stylesheet" href="swagger.css">
</head>
<body>
<nav>
<p><a href="#top">${title}</a></p>
${groups.map(navigationOf).join("\n")}
<p><a href="#statuses">Statuses</a></p>
<p><a href="#schemas">Schemas</a></p>
</nav>
<main id="top">
<h1>${title} <small>${escaped(info.version)}</small></h1>
${proseOf(info.description)}
<p>The same for programs: <a href="openapi.json">openapi.json</a>, in the format OpenAPI ${escaped(document.openapi)}.</p>
<p>Every request needs the API key, in the header <code>X-API-Key</code>, in <code>Authorization: apikey …</code> or in
<code>?api_key=…</code>. The examples take it from the variable <code>$API_KEY</code> of the shell, and the address from
<code>$DORMOUSE</code>.</p>
${groups.map((group) => groupOf(group, components.schemas)).join("\n")}
<section id="statuses">
<h2>Statuses</h2>
<p>Transport mode is that of a request with the header <code>X-Centrifugo-Error-Mode: transport</code>, or of all requests
where <code>http_api.error_mode</code> is <code>transport</code>. Otherwise application errors have status 200. The header
<code>X-Dormouse-Error-Detail</code> says in words what is wrong.</p>
${statusesOf(components.responses)}
</section>
<section id="schemas">
<h2>Schemas</h2>
${others.map((name) => `<article>\n<h3>${escaped(name)}</h3>\n${schemaOf(name, components.schemas)}\n</article>`).join("\n")}
</section>
</main>
</body>
</html>
`;
}

type Schemas = Readonly<Record<string, Schema>>;

interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly (readonly [string, { readonly post: Operation }])[];
}

function navigationOf({ name, operations }: Group): string {
  const links = operations.map(
    ([, { post }]) =>
      `<li><a href="#${escaped(post.operationId)}">${escaped(post.operationId)}</a></li>`,
  );
  return `<p>${escaped(name)}</p>\n<ul>\n${links.join("\n")}\n</ul>`;
}

function groupOf({ name, description, operations }: Group, schemas: Schemas): string {
  const articles = operations.map(([path, { post }]) => articleOf(path, post, schemas));
  return `<section>\n<h2>${escaped(name)}</h2>\n${proseOf(description)}\n${articles.join("\n")}\n</section>`;
}

function articleOf(path: string, operation: Operation, schemas: Schemas): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const [request = "", answer] = shownWith(operation, schemas);
  const { example = {} } = requestBody.content["application/json"] ?? {};
  const answered = responses["200"]?.content?.["application/json"]?.example ?? {};
  const statuses = Object.entries(responses).map(([status, { $ref }]) =>
    $ref === undefined ? status : `<a href="#status-${status}">${status}</a>`,
  );
  return `<article id="${escaped(operationId)}">
<h3>${escaped(summary)}</h3>
<p><code class="address">POST ${escaped(path)}</code></p>
${proseOf(description)}
<h4>Request</h4>
${schemaOf(request, schemas)}
<pre><code>${escaped(curlOf(path, example))}</code></pre>
<h4>${answer === undefined ? "Answer" : "Result"}</h4>
${answer === undefined ? "" : schemaOf(answer, schemas)}
<pre><code>${escaped(JSON.stringify(answered))}</code></pre>
<p>Statuses: ${statuses.join(", ")}</p>
</article>`;
}

/** The names of the schemas that are shown with a method: that of its request, and that of its result unless it is empty. */
function shownWith({ requestBody, responses }: Operation, schemas: Schemas): readonly string[] {
  const request = requestBody.content["application/json"]?.schema;
  const answer = responses["200"]?.content?.["application/json"]?.schema.oneOf?.[0];
  const result = schemas[nameOf(answer)]?.properties?.["result"];
  const shown = result?.$ref === undefined ? answer : result;
  const names = [request, shown].map(nameOf);
  return names.filter((name) => name !== "EmptyResult");
}

function nameOf(schema: Schema | undefined): string {
  return schema?.$ref?.split("/").at(-1) ?? "";
}

function statusesOf(responses: Readonly<Record<string, Response>>): string {
  const rows = Object.entries(responses).map(
    ([status, { description = "", content }]) =>
      `<tr id="status-${status}"><td>${status}</td><td>${wordsOf(description)}</td><td>${schemasOf(content)}</td></tr>`,
  );
  return tableOf(["Status", "Meaning", "Body"], rows);
}

function tableOf(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th>${title}</th>`).join("");
  return `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join("\n")}\n</tbody>\n</table>`;
}

/** The request as a command of a shell, in which a single quote can't stand within single quotes. */
function curlOf(path: string, body: object): string {
  const text = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return `curl -X POST "$DORMOUSE${path}" -H "X-API-Key: $API_KEY" \\\n  -d '${text}'`;
}

function schemasOf(content: Content = {}): string {
  return Object.entries(content)
    .map(([type, { schema }]) => (type === "text/plain" ? "text" : typeOf(schema)))
    .join(" or ");
}

/** What a schema says of itself and of its fields. */
function schemaOf(name: string, schemas: Schemas): string {
  const { description = "", properties = {}, required = [] } = schemas[name] ?? {};
  const rows = Object.entries(properties).map(([field, schema]) =>
    rowsOf(field, schema, required.includes(field)),
  );
  const table = rows.length === 0 ? "" : tableOf(["Field", "Type", "Meaning"], rows);
  return `<div id="schema-${escaped(name)}">\n${proseOf(description)}\n${table}\n</div>`;
}

/** The row of a field, and the rows of the fields in it. */
function rowsOf(name: string, schema: Schema, isRequired: boolean): string {
  const mark = isRequired ? " <strong>required</strong>" : "";
  const row = `<tr><td><code>${escaped(name)}</code>${mark}</td><td>${typeOf(schema)}</td><td>${wordsOf(schema.description ?? "")}</td></tr>`;
  const inner = Object.entries(schema.properties ?? {}).map(([field, of]) =>
    rowsOf(`${name}.${field}`, of, false),
  );
  return [row, ...inner].join("\n");
}

/** A type in words, with links to the schemas that it names. */
function typeOf(schema: Schema): string {
  const { $ref, oneOf, type, items, additionalProperties, enum: values } = schema;
  if ($ref !== undefined) {
    const name = escaped(nameOf(schema));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (oneOf !== undefined) return oneOf.map(typeOf).join(" or ");
  if (values !== undefined)
    return values.map((value) => `<code>${escaped(value)}</code>`).join(", ");
  if (items !== undefined) return `array of ${typeOf(items)}`;
  if (additionalProperties !== undefined) return `object of ${typeOf(additionalProperties)}`;
  return [type ?? "any JSON", ...boundsOf(schema)].join(", ");
}

function boundsOf({ format, minimum, maximum, maxLength }: Schema): readonly string[] {
  return [
    format ?? "",
    minimum === undefined || minimum === 0 || minimum === -(2 ** 31) ? "" : `from ${minimum}`,
    maximum === undefined || maximum >= 2 ** 31 - 1 ? "" : `to ${maximum}`,
    maxLength === undefined ? "" : `at most ${maxLength} characters`,
  ].filter((bound) => bound !== "");
}

/** Paragraphs of plain text as HTML. */
function proseOf(prose: string): string {
  return prose
    .split("\n\n")
    .filter((paragraph) => paragraph !== "")
    .map((paragraph) => `<p>${wordsOf(paragraph)}</p>`)
    .join("\n");
}

/** Text in which backticks stand around names, as HTML. */
function wordsOf(words: string): string {
  return escaped(words).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escaped(plain: string): string {
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
