import { readdirSync, readFileSync } from "node:fs";
import { Validator } from "@cfworker/json-schema";
import { Validator as OpenApiValidator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { parseBatch } from "../../../../src/api/batch.ts";
import { type ApiCaller, entriesOf } from "../../../../src/api/command.ts";
import { parseEventsRequest } from "../../../../src/features/events/events-request.ts";
import { parseLegacy } from "../../../../src/api/legacy.ts";
import { parseCommand } from "../../../../src/api/methods.ts";
import type { OperationName } from "../../../../src/access/operations.ts";
import { operationNames } from "../../../../src/api/operations.ts";
import { limits } from "../../../../src/limits.ts";
import { methodNotes, openApiDocument } from "../../../../cli/openapi/document.ts";
import { schemaName } from "../../../../cli/openapi/operation.ts";
import { httpApiPage } from "../../../../cli/openapi/http-api-page.ts";
import { openApiPage } from "../../../../cli/openapi/page.ts";
import type { Schema } from "../../../../cli/openapi/schema.ts";
import { caller } from "../../api/channel-config.ts";
import { eventsConfig } from "../../features/events/outbox-fixture.ts";

const document = openApiDocument();
const backend = caller();

function validator(schema: Schema): Validator {
  const whole = { ...schema, components: document.components };
  const plain: ConstructorParameters<typeof Validator>[0] = JSON.parse(JSON.stringify(whole));
  return new Validator(plain, "2020-12");
}

/** Why the parser doesn't accept a request; undefined if it does. */
function refusal(method: OperationName, request: object): string | undefined {
  const text = JSON.stringify(request);
  if (method === "events") {
    const events = parseEventsRequest(text, backend, eventsConfig());
    return events.outcome === "events" ? undefined : events.detail;
  }
  const parsed = parseCommand(method, text, backend);
  if (parsed.outcome === "malformed") return parsed.detail;
  return entriesOf(parsed.command).find((entry) => entry.outcome === "refused")?.detail;
}

/** The fields of a request that the parser doesn't know. */
function unknownTo(method: OperationName, request: object): readonly string[] {
  const names: string[] = [];
  const noteUnknown: ApiCaller["noteUnknown"] = (_, fields) =>
    names.push(...fields.map(({ name }) => name));
  if (method !== "events")
    parseCommand(method, JSON.stringify(request), { ...backend, noteUnknown });
  return names;
}

describe("the description of the HTTP API", () => {
  it("[W8] is in public/openapi.json as npm run openapi writes it", () => {
    const kept: unknown = JSON.parse(readFileSync("public/openapi.json", "utf8"));
    expect(kept).toStrictEqual(structuredClone(document));
  });

  it("[W8] is on the page as npm run openapi writes it", () => {
    expect(readFileSync("public/swagger.html", "utf8")).toBe(openApiPage(document));
  });

  it("[W8] is in docs/http-api.md as npm run openapi writes it, and the page names each method once", () => {
    const page = readFileSync("docs/http-api.md", "utf8");
    expect(page).toBe(httpApiPage());
    const titles = Array.from(page.matchAll(/^### (\w+)$/gm), ([, name = ""]) => name);
    expect(titles.toSorted()).toEqual(operationNames().toSorted());
  });

  it("[W8] is valid OpenAPI 3.1", async () => {
    const { valid, errors } = await new OpenApiValidator().validate(
      structuredClone({ ...document }),
    );
    expect(errors ?? []).toStrictEqual([]);
    expect(valid).toBe(true);
  });

  it("[W8] refers only to schemas that it has, and has none that nothing refers to", () => {
    const text = JSON.stringify(document);
    const referred = new Set(
      Array.from(text.matchAll(/"#\/components\/schemas\/(\w+)"/g), ([, name = ""]) => name),
    );
    expect([...referred].toSorted()).toStrictEqual(
      Object.keys(document.components.schemas).toSorted(),
    );
  });

  it.each(Object.entries(document.paths))(
    "[W8] has examples that its schemas allow: %s",
    (_, { post }) => {
      for (const { content = {} } of [post.requestBody, post.responses["200"] ?? {}]) {
        const { schema, example } = content["application/json"] ?? { schema: {} };
        expect(validator(schema).validate(example)).toMatchObject({ errors: [] });
      }
    },
  );

  it.each(operationNames())("[W8] has an example of %s that is carried out", (method) => {
    expect(refusal(method, methodNotes[method].example.request)).toBeUndefined();
  });

  it("[W8] has examples of a batch and of the legacy form that are carried out", () => {
    const [batch, legacy] = ["/api/batch", "/api"].map((path) =>
      JSON.stringify(document.paths[path]?.post.requestBody.content["application/json"]?.example),
    );
    expect(parseBatch(batch ?? "", backend)).toMatchObject({ commands: [{}, {}] });
    expect(parseLegacy(legacy ?? "", backend)).toMatchObject({ lines: [{ id: 1 }] });
  });
});

/** A value of each kind, and at the bounds that fields have. */
const values = [
  "text",
  "",
  "InRleHQi", // A JSON text in base64.
  "x".repeat(limits.idempotencyKeyBytesMax + 1),
  "x".repeat(limits.channelPatternCharactersMax + 1),
  "x".repeat(limits.userCharactersMax + 1),
  0,
  1,
  -1,
  -2,
  1.5,
  4_000,
  5_000,
  2 ** 31,
  2 ** 32,
  true,
  [],
  ["a"],
  [""],
  [1],
  Array.from({ length: limits.requestChannelsMax + 1 }, () => "a"),
  {},
  { a: "b" },
  { a: 1 },
];

/** The fields whose schema allows more than the parser. */
const beyondSchemas: ReadonlySet<string> = new Set([
  "the channel name is over 255 bytes",
  "b64data is not valid base64",
  "b64info and b64data must be base64 of JSON, and info and data at most 8192 bytes",
  "disconnect.code must be 3000 to 4999",
  "disconnect.reason must not be valid JSON",
  "since.offset must be above 0 when reverse is set",
  "server_tags_filter is no valid filter",
  "without a user, client or session has to name one anonymous connection",
  "all values of tags must be strings",
  "channel and object name different objects",
  "the namespace of the channel has no code",
  "the channel's namespace is not one of maps",
  "the channel's namespace has no allow_change",
  "the channel's namespace is not one of streams: its keys are changed",
  "the channel's namespace has no cursors.enabled",
  "the channel's namespace is not one of shared polls",
  "if_offset and skip_history exclude each other",
  "if_offset requires a channel with history",
  "b64stream_data is not valid base64",
  "text is required",
  "text has half of a surrogate pair",
  "since_offset must be above 0 when reverse is set",
  "object must be channel/, gateway/ or home/ and a name, as events have it",
]);

/** The fields whose value isn't any of their type: the examples have those that name a channel or an object. */
const ownValues: Readonly<Record<string, unknown>> = {
  code: 4_001,
  server_tags_filter: { key: "k", cmp: "eq", val: "v" },
};
const ofExample: ReadonlySet<string> = new Set(["channel", "channels", "object"]);

/** A request of a method with all the fields of its schema. */
function fullRequest(method: OperationName): Record<string, unknown> {
  const schema = document.components.schemas[`${schemaName(method)}Request`] ?? {};
  const example = Object.entries(methodNotes[method].example.request);
  return {
    ...samplesOf(schema),
    ...Object.fromEntries(example.filter(([name]) => ofExample.has(name))),
  };
}

function samplesOf({ properties = {} }: Schema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, ownValues[name] ?? sampleOf(field)]),
  );
}

/** A value that a schema allows, and that says something. */
function sampleOf(schema: Schema): unknown {
  const choice = schema.enum?.find((one) => one !== "");
  if (choice !== undefined) return choice;
  switch (schema.type) {
    case "string":
      return schema.contentEncoding === undefined ? "a" : "InRleHQi";
    case "boolean":
      return true;
    case "array":
      return ["a"];
    case "object":
      return schema.properties === undefined ? { a: "b" } : samplesOf(schema);
    case "integer":
    case undefined:
      break;
  }
  return 1;
}

/** A method's requests that together have all its fields: two if a field excludes another one. */
function requestsOf(method: OperationName): readonly object[] {
  const full = fullRequest(method);
  const { if_offset: _, object: __, ...rest } = full;
  if (method === "publish") return [rest, { channel: "kept:a", data: 1, if_offset: 1 }];
  return method === "inspect" ? [rest, { object: "gateway:eu/0", refusals: 1 }] : [full];
}

/** The paths of all fields of a schema. Those of a filter are checked elsewhere, because a filter is a tree. */
function fieldsOf({ properties = {} }: Schema, above = ""): readonly string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${above}${name}`;
    return [path, fieldsOf(field, `${path}.`)].flat();
  });
}

/** The object with another value of one field, or without the field. */
function changed(object: object, [name = "", ...rest]: readonly string[], value: unknown): object {
  const inner: unknown = Object.entries(object).find(([key]) => key === name)?.[1];
  const isBelow = rest.length > 0 && typeof inner === "object" && inner !== null;
  return { ...object, [name]: isBelow ? changed(inner, rest, value) : value };
}

/** Fields that a method ignores without a note, because it is read by the shape of another one. */
const sharedShapes: Partial<Record<OperationName, readonly string[]>> = {
  unblock_user: ["expire_at"],
  info: ["pattern"],
  get_user_status: ["state"],
  delete_user_status: ["state"],
};

const everyField = new Set(
  Object.values(document.components.schemas).flatMap(({ properties = {} }) =>
    Object.keys(properties),
  ),
);

describe.each(operationNames())("the schema of the request %s", (method) => {
  const schema = document.components.schemas[`${schemaName(method)}Request`] ?? {};
  const fields = fieldsOf(schema);
  const described = validator(schema);

  it("[W8] [W14] has all fields that the method reads, and no other is known", () => {
    for (const request of requestsOf(method)) {
      expect(described.validate(request)).toMatchObject({ errors: [] });
      expect(refusal(method, request)).toBeUndefined();
      expect(unknownTo(method, request)).toStrictEqual([]);
    }
  });

  it("[W14] has every field that the method knows, of all those that any method has", () => {
    if (method === "events") return;
    const others = [...everyField].filter((name) => schema.properties?.[name] === undefined);
    const known = others.filter(
      (name) => unknownTo(method, { ...requestsOf(method)[0], [name]: null }).length === 0,
    );
    expect(known).toStrictEqual(sharedShapes[method] ?? []);
  });

  it("[W8] [W4] allows of each field what the parser accepts, and refuses what it refuses", () => {
    const faults: string[] = [];
    for (const [whole, path, value] of changes(requestsOf(method), fields)) {
      const request: object = JSON.parse(JSON.stringify(changed(whole, path.split("."), value)));
      const refused = refusal(method, request);
      const { valid } = described.validate(request);
      const isAccepted = refused === undefined || (valid && beyondSchemas.has(refused));
      const shown = JSON.stringify(value)?.slice(0, 40) ?? "absent";
      if (valid !== isAccepted) faults.push(`${path} ${shown}: ${valid}, ${refused ?? "accepted"}`);
    }
    expect(faults).toStrictEqual([]);
  });

  it("[W8] [W4] requires one of two fields where the parser does", () => {
    const faults: string[] = [];
    for (const whole of requestsOf(method)) {
      for (const [one, other] of pairsOf(Object.keys(whole))) {
        const left = Object.entries(whole).filter(([name]) => name !== one && name !== other);
        const request: object = Object.fromEntries(left);
        const refused = refusal(method, request);
        const { valid } = described.validate(request);
        if (valid !== (refused === undefined || (valid && beyondSchemas.has(refused))))
          faults.push(`without ${one} and ${other}: ${valid}, ${refused ?? "accepted"}`);
      }
    }
    expect(faults).toStrictEqual([]);
  });
});

/** Each request with each of these fields, and each value that the field is given; undefined for none. */
function changes(requests: readonly object[], fields: readonly string[]) {
  return requests.flatMap((request) =>
    fields.flatMap((path) =>
      [undefined, ...values].map((value) => [request, path, value] as const),
    ),
  );
}

function pairsOf(names: readonly string[]): readonly (readonly [string, string])[] {
  return names.flatMap((one, index) =>
    names.slice(index + 1).map((other) => [one, other] as const),
  );
}

it("[W8] has the fields that parsers read from the text of a request, past its shape", () => {
  const names = readdirSync("src/api");
  const sources = names.map((name) => readFileSync(`src/api/${name}`, "utf8"));
  const read = new Set(
    sources.flatMap((source) =>
      Array.from(
        source.matchAll(/\b(?:memberText|memberUint64|rawField)\(\w+, "(\w+)"/g),
        ([, name = ""]) => name,
      ),
    ),
  );
  expect([...read]).toContain("version");
  const schemas = Object.values(document.components.schemas);
  const described = new Set(schemas.flatMap((schema) => fieldsOf(schema)));
  expect([...read].filter((name) => !described.has(name))).toStrictEqual([]);
});

it("[W8] describes methods in the order of the API, and a batch and the legacy form", () => {
  const methods = operationNames().map((method) => `/api/${method}`);
  expect(Object.keys(document.paths)).toStrictEqual([...methods, "/api/batch", "/api"]);
});

it("[W8] has no script, style or address of another server on its page", () => {
  const page = openApiPage(document);
  expect(page).not.toMatch(/<script|<style|style=|\son\w+=|src=|https?:/);
  const links = Array.from(page.matchAll(/href="#([^"]+)"/g), ([, id = ""]) => id);
  const ids = new Set(Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id = ""]) => id));
  expect(links.filter((link) => !ids.has(link))).toStrictEqual([]);
});
