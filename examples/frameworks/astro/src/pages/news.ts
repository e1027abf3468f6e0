import type { APIRoute } from "astro";
import { env } from "cloudflare:workers";
import { realtime } from "../realtime.ts";

export const POST: APIRoute = async ({ request, redirect }) => {
  const form = await request.formData();
  await realtime.publish(env, "news:all", { text: form.get("text") });
  return redirect("/", 303);
};
