import type { Context } from "hono";
import type { Served } from "./middleware.ts";
import { respondNotFound } from "./respond.ts";

/** `GET /keepalive-websocket.js`: the client's half of client-driven keep-alive, importable from any origin. */
export async function keepaliveScript(context: Context<Served>): Promise<Response> {
  const { ASSETS: assets } = context.env;
  if (assets === undefined) return respondNotFound();
  const asset = await assets.fetch(context.req.raw);
  // The headers of a fetched response can't be changed.
  const response = new Response(asset.body, asset);
  response.headers.set("Access-Control-Allow-Origin", "*");
  return response;
}
