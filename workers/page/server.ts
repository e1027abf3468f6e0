/** The calls of the console to its server. */

import { asItCame } from "../../cli/text/number-text.ts";
import { counted } from "./text.ts";

/** An address of the server that begins as the page's own script does: a Worker may have the console below a prefix. */
export function addressAt(path: string): URL {
  return new URL(path, import.meta.url);
}

/** The same for a WebSocket. */
export function socketAddressAt(path: string): URL {
  const address = addressAt(path);
  address.protocol = address.protocol.replace("http", "ws");
  return address;
}

/** The answer to a call. */
export type Answer<Result> =
  | { readonly outcome: "result"; readonly result: Result }
  /** The server refused the call, or couldn't be reached; `message` is for the operator, `code` the API's error. */
  | { readonly outcome: "failed"; readonly message: string; readonly code?: number }
  /** The login has ended. */
  | { readonly outcome: "logged-out" };

/**
 * Calls a method of the HTTP API.
 *
 * @param params the parameters, or their JSON
 */
export async function call<Result>(
  method: string,
  params: object | string = {},
): Promise<Answer<Result>> {
  const response = await post(`api/${method}`, params);
  if (response === undefined) return { outcome: "failed", message: "the server can't be reached" };
  if (response.status === 401 || response.status === 403) return { outcome: "logged-out" };
  const detail = response.headers.get("X-Dormouse-Error-Detail");
  if (response.status !== 200 && response.status !== 503)
    return {
      outcome: "failed",
      message: detail ?? `the server answered with status ${response.status}`,
    };
  try {
    const body: Body<Result> = JSON.parse(await response.text(), asItCame);
    if (body.error === undefined && body.result !== undefined)
      return { outcome: "result", result: body.result };
    const { code, message } = body.error ?? { code: response.status, message: "no answer" };
    return { outcome: "failed", message: `${detail ?? message} (error ${code})`, code };
  } catch {
    return { outcome: "failed", message: detail ?? "the server is busy" };
  }
}

/** Reads what no method of the API tells. */
export async function read<Result>(
  name: "metrics" | "refusals" | "settings" | "users",
  params: object = {},
): Promise<Answer<Result>> {
  const response = await post(`api/${name}`, params);
  if (response === undefined) return { outcome: "failed", message: "the server can't be reached" };
  if (response.status === 401 || response.status === 403) return { outcome: "logged-out" };
  if (!response.ok)
    return { outcome: "failed", message: `the server answered with status ${response.status}` };
  const result: Result = await response.json();
  return { outcome: "result", result };
}

/** Logs in. @returns why not; undefined if it worked */
export async function logIn(password: string): Promise<string | undefined> {
  const response = await post("login", { password });
  switch (response?.status) {
    case 204:
      return undefined;
    case 401:
      return "This isn't the password.";
    case 503:
      return `Too many attempts. Wait ${counted(Number(response?.headers.get("Retry-After") ?? 1), "second")}, or enter the API key instead.`;
    case undefined:
      return "The server can't be reached.";
    default:
      return `The server answered with status ${response?.status}.`;
  }
}

/** Logs out. */
export async function logOut(): Promise<void> {
  await post("logout", {});
}

async function post(path: string, params: object | string): Promise<Response | undefined> {
  try {
    const headers = { "Content-Type": "application/json" };
    const body = typeof params === "string" ? params : JSON.stringify(params);
    return await fetch(addressAt(path).href, { method: "POST", headers, body });
  } catch {
    return undefined; // Its only error says that there is no connection.
  }
}

interface Body<Result> {
  readonly result?: Result;
  readonly error?: { readonly code: number; readonly message: string };
}
