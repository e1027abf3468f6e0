/** Messages to everybody in a room with npm's `partyserver`, as its documentation has it: sockets hibernate, nothing is kept. */
import { routePartykitRequest, Server } from "partyserver";

export class Room extends Server {
  static options = { hibernate: true };

  onMessage(connection) {
    connection.send("{}");
  }

  async onRequest(request) {
    if (request.method !== "POST") return new Response("Not found", { status: 404 });
    this.broadcast(await request.text());
    return new Response("{}");
  }
}

export default {
  async fetch(request, env) {
    return (await routePartykitRequest(request, env)) ?? new Response("Not found", { status: 404 });
  },
};
