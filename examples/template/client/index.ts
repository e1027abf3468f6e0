import { Centrifuge } from "centrifuge";

const messages = document.querySelector("ol");
const form = document.querySelector("form");

await fetch("/join", { method: "POST" });

const address = new URL("/realtime/connection/websocket", location.href);
address.protocol = address.protocol.replace("http", "ws");
const client = new Centrifuge(address.href);
const chat = client.newSubscription("chat:lobby");
chat.on("subscribed", async ({ wasRecovering, recovered }) => {
  if (wasRecovering && recovered) return;
  messages?.replaceChildren();
  const { publications } = await chat.history({ limit: 100 });
  for (const { data } of publications) show(data);
});
chat.on("publication", ({ data }) => show(data));
chat.subscribe();
client.connect();

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name, text } = Object.fromEntries(new FormData(form));
  const headers = { "Content-Type": "application/json" };
  void fetch("/messages", { method: "POST", headers, body: JSON.stringify({ name, text }) });
  const field = form.querySelector<HTMLInputElement>("[name=text]");
  if (field !== null) field.value = "";
});

function show({ name, text }: { readonly name: string; readonly text: string }): void {
  const line = document.createElement("li");
  line.textContent = `${name}: ${text}`;
  messages?.append(line);
}
