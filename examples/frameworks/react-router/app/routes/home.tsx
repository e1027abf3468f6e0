import { env } from "cloudflare:workers";
import { Form } from "react-router";
import { realtime } from "../realtime.ts";
import type { Route } from "./+types/home";

export async function action({ request }: Route.ActionArgs) {
  const form = await request.formData();
  await realtime.publish(env, "news:all", { text: form.get("text") });
}

export default function Home() {
  return (
    <Form method="post">
      <input name="text" />
    </Form>
  );
}
