import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Context } from "../../../workers/http/context.ts";
import { respondNotFound } from "../../../workers/http/responses.ts";
import { type Handler, Routes } from "../../../workers/http/routes.ts";

/** Answers with what a handler reads of its context. */
const telling =
  (read: (context: Context) => unknown): Handler =>
  (context) =>
    Response.json(read(context) ?? null);

function table(fill: (routes: Routes) => void) {
  const routes = new Routes({
    notFound: respondNotFound,
    failed: (error) => new Response(String(error), { status: 500 }),
  });
  fill(routes);
  return async (path: string, init: RequestInit = {}): Promise<string> => {
    const response = await routes.fetch(new Request(`https://example.com${path}`, init), env);
    return `${response.status} ${await response.text()}`;
  };
}

it("passes a request through the routes that it fits, in their order", async () => {
  const passed: string[] = [];
  const note =
    (name: string): Handler =>
    async (_, next) => {
      passed.push(name);
      return next();
    };
  const ask = table((routes) => {
    routes.all("/*", note("all"));
    routes.all("/api/*", note("api"));
    routes.all(
      "/api",
      telling(() => 1),
    );
    routes.get(
      "/api/info",
      note("info"),
      telling(({ route }) => route),
    );
    routes.all("/fails", () => {
      throw new TypeError("wrong");
    });
  });
  expect(await ask("/api")).toBe("200 1");
  expect(await ask("/api/info?x")).toBe('200 "/api/info"');
  expect(await ask("/api/info", { method: "HEAD" })).toBe("200 ");
  expect(passed).toEqual(["all", "api", "all", "api", "info", "all", "api", "info"]);
  for (const path of ["/api/", "/api/info/", "/apis", "/"])
    expect(await ask(path)).toMatch(/^404 /);
  expect(await ask("/api/info", { method: "POST" })).toMatch(/^404 /);
  expect(await ask("/fails")).toBe("500 TypeError: wrong");
});

it("reads the parameters of a path, and decodes the path once", async () => {
  const ask = table((routes) => {
    routes.all(
      "/channel/:name{[^/]*}/:transport{(?:(?:uni_)?sse|poll)}",
      telling(({ req }) => [req.param("name"), req.param("transport")]),
    );
    routes.all(
      "/file/:file",
      telling(({ req }) => [req.path, req.param("file")]),
    );
  });
  expect(await ask("/channel/news/uni_sse")).toBe('200 ["news","uni_sse"]');
  expect(await ask("/channel//poll")).toBe('200 ["","poll"]');
  expect(await ask("/channel/a/b/poll")).toMatch(/^404 /);
  expect(await ask("/channel/news/other")).toMatch(/^404 /);
  expect(await ask("/%66ile/a%20b")).toBe('200 ["/file/a b","a b"]');
  expect(await ask("/file/a%252F")).toBe('200 ["/file/a%252F","a%2F"]');
  expect(await ask("/file/a%2Fb")).toBe('200 ["/file/a%2Fb","a/b"]');
  expect(await ask("/file/%ff%41")).toBe('200 ["/file/%ff%41","%ff%41"]');
  expect(await ask("/file/")).toMatch(/^404 /);
});

it("reads parameters of the query, headers and cookies", async () => {
  const ask = table((routes) => {
    routes.all(
      "/query",
      telling(({ req }) => [req.query("a"), req.query("b"), req.query("c") ?? 0]),
    );
    routes.all(
      "/cookie",
      telling(({ req }) => ["a", "b", "c"].map((name) => req.cookie(name) ?? 0)),
    );
  });
  expect(await ask("/query?a=1+%2B&a=2&b")).toBe('200 ["1 +","",0]');
  const headers = { Cookie: 'xa=0; a=1%20; b="q=r" ; a=2' };
  expect(await ask("/cookie", { headers })).toBe('200 ["1 ","q=r",0]');
  expect(await ask("/cookie")).toBe("200 [0,0,0]");
});
