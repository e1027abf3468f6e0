import { exports } from "cloudflare:workers";
import { expect } from "vitest";
import { address } from "../support/api-request.ts";

/** The header of a page of the server's own. */
export const own = { Origin: "https://dormouse.example.com" };

/** A request as the console's page makes it. */
export function post(path: string, body: object, headers: object = {}): Promise<Response> {
  return exports.default.fetch(address(path), {
    method: "POST",
    body: JSON.stringify(body),
    headers: { ...own, ...headers },
  });
}

/** Logs in. @returns the header with the cookie */
export async function logInWith(password: string): Promise<{ readonly Cookie: string }> {
  const response = await post("/console/login", { password });
  expect(response.status).toBe(204);
  const [cookie = ""] = (response.headers.get("Set-Cookie") ?? "").split(";");
  return { Cookie: cookie };
}
