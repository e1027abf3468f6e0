import { getCloudflareContext } from "@opennextjs/cloudflare";

async function send(form) {
  "use server";
  const realtime = getCloudflareContext().ctx.exports.RealtimeEntrypoint;
  await realtime.publish("news:all", { text: form.get("text") });
}

export default function Page() {
  return (
    <form action={send}>
      <input name="text" />
    </form>
  );
}
