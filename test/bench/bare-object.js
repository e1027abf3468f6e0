// What the platform itself can do: an object that sends what it is given to every socket, keeps nothing and promises
// nothing. The benchmark's peer; plain JavaScript, because workerd loads it as it stands.
import { DurableObject } from "cloudflare:workers";

export class BareObject extends DurableObject {
  fetch() {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  publish(frame) {
    for (const socket of this.ctx.getWebSockets()) socket.send(frame);
  }

  webSocketMessage() {}
}

export default {
  async fetch(request, env) {
    const object = env.CHANNELS.getByName("bench");
    if (request.headers.get("Upgrade") === "websocket") return object.fetch(request);
    await object.publish(await request.text());
    return new Response("{}");
  },
};
