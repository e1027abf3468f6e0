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
  const schemas = Object.entries(components.schemas);
  const title = escaped(info.title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="stylesheet" href="/swagger.css">
</head>
<body>
<nav>
<p><a href="#top">${title}</a></p>
${groups.map(navigationOf).join("\n")}
<p><a href="#schemas">Schemas</a></p>
</nav>
<main id="top">
<h1>${title} <small>${escaped(info.version)}</small></h1>
${proseOf(info.description)}
<p>The same for programs: <a href="/openapi.json">openapi.json</a>, in the format OpenAPI ${escaped(document.openapi)}.</p>
<p>Every request needs the API key, in the header <code>X-API-Key</code>, in <code>Authorization: apikey …</code> or in
<code>?api_key=…</code>. The examples take it from the variable <code>$API_KEY</code> of the shell, and the address from
<code>$DORMOUSE</code>.</p>
${groups.map((group) => groupOf(group, components.responses)).join("\n")}
<section id="schemas">
<h2>Schemas</h2>
${schemas.map(([name, schema]) => schemaOf(name, schema)).join("\n")}
</section>
</main>
</body>
</html>
`;
}

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

function groupOf(
  { name, description, operations }: Group,
  responses: OpenApiDocument["components"]["responses"],
): string {
  const articles = operations.map(([path, { post }]) => articleOf(path, post, responses));
  return `<section>\n<h2>${escaped(name)}</h2>\n${proseOf(description)}\n${articles.join("\n")}\n</section>`;
}

function articleOf(
  path: string,
  { operationId, summary, description, requestBody, responses }: Operation,
  components: Readonly<Record<string, Response>>,
): string {
  const body = requestBody.content["application/json"];
  const statuses = Object.entries(responses).map(([status, response]) => {
    const known = components[status] ?? response;
    const schemas = schemasOf(known.content);
    return `<tr><td>${status}</td><td>${wordsOf(known.description ?? "")}</td><td>${schemas}</td></tr>`;
  });
  const example = responses["200"]?.content?.["application/json"]?.example;
  return `<article id="${escaped(operationId)}">
<h3>${escaped(summary)}</h3>
<p><code class="address">POST ${escaped(path)}</code></p>
${proseOf(description)}
<p>Request: ${body === undefined ? "" : typeOf(body.schema)}</p>
<pre><code>${escaped(curlOf(path, body?.example ?? {}))}</code></pre>
<pre><code>${escaped(JSON.stringify(example))}</code></pre>
<table>
<thead><tr><th>Status</th><th>Meaning</th><th>Body</th></tr></thead>
<tbody>
${statuses.join("\n")}
</tbody>
</table>
</article>`;
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

function schemaOf(name: string, { description = "", ...schema }: Schema): string {
  const required = schema.required ?? [];
  const rows = Object.entries(schema.properties ?? {}).map(([field, of]) =>
    rowsOf(field, of, required.includes(field)),
  );
  const table = `<table>
<thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`;
  return `<article id="schema-${escaped(name)}">
<h3>${escaped(name)}</h3>
${proseOf(description)}
${rows.length === 0 ? "" : table}
</article>`;
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
    const name = escaped($ref.split("/").at(-1) ?? "");
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
