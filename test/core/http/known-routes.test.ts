import type { Result, Router } from "hono/router";
import { expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { KnownRoutes } from "../../../workers/http/known-routes.ts";

/** A router that notes what it is asked for, and finds its path. */
class AskedRouter implements Router<string> {
  readonly name = "AskedRouter";
  readonly asked: string[] = [];

  add(): void {}

  match(method: string, path: string): Result<string> {
    this.asked.push(`${method} ${path}`);
    return [[[path, {}]]];
  }
}

it("finds the routes of a method and path once, of as many as it remembers", () => {
  const router = new AskedRouter();
  const known = new KnownRoutes(router);
  for (const method of ["GET", "GET", "POST"])
    expect(known.match(method, "/a")).toStrictEqual([[["/a", {}]]]);
  expect(router.asked).toStrictEqual(["GET /a", "POST /a"]);
  const { routesRememberedMax: most } = limits;
  for (let index = 0; index < most; index++) known.match("GET", `/channel/${index}/websocket`);
  known.match("GET", `/channel/${most - 1}/websocket`);
  expect(router.asked).toHaveLength(most + 2);
  known.match("GET", "/a");
  expect(router.asked).toHaveLength(most + 3);
});

it("remembers no long path", () => {
  const router = new AskedRouter();
  const known = new KnownRoutes(router);
  const path = `/channel/${"a".repeat(limits.rememberedRequestLengthMax)}/websocket`;
  for (let times = 0; times < 2; times++) known.match("GET", path);
  expect(router.asked).toHaveLength(2);
});
