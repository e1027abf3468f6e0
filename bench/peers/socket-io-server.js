/**
 * Messages to everybody on a channel with npm's `socket.io` on Node: a room for each channel. Connection state recovery is on: it
 * is the nearest thing to a history that Socket.IO has, in memory.
 */
import { createServer } from "node:http";
import { Server } from "socket.io";

const http = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (request.method !== "POST" || request.url !== "/publish") {
    response.writeHead(404).end();
    return;
  }
  const message = JSON.parse(body);
  io.to(message.channels).emit("publication", message.data);
  response.end("{}");
});

const io = new Server(http, {
  transports: ["websocket"],
  serveClient: false,
  connectionStateRecovery: { maxDisconnectionDuration: 300_000 },
});
io.on("connection", (socket) => {
  socket.on("receipt", (acknowledge) => acknowledge());
  return socket.join(socket.handshake.query.channel);
});

// Thousands connect at once; the usual queue is 511.
http.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () =>
  process.send(http.address().port),
);
process.on("disconnect", () => process.exit());
