/**
 * Messages to everybody on a channel with npm's `ws` on Node: a set of sockets for each channel, and a loop. Nothing is kept,
 * and whoever is not connected misses what is sent.
 */
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const channels = new Map();

const http = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (request.method !== "POST" || request.url !== "/publish") {
    response.writeHead(404).end();
    return;
  }
  const message = JSON.parse(body);
  for (const channel of message.channels) publish(channel, message.data);
  response.end("{}");
});

function publish(channel, data) {
  const sockets = channels.get(channel);
  if (sockets === undefined) return;
  const text = JSON.stringify({ channel, data });
  for (const socket of sockets) socket.send(text);
}

const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
sockets.on("connection", (socket, request) => {
  const channel = new URL(request.url, "http://localhost").searchParams.get("channel");
  const members = channels.get(channel) ?? new Set();
  channels.set(channel, members.add(socket));
  socket.on("message", () => socket.send("{}"));
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    members.delete(socket);
    if (members.size === 0) channels.delete(channel);
  });
});

// Thousands connect at once; the usual queue is 511.
http.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () =>
  process.send(http.address().port),
);
process.on("disconnect", () => process.exit());
