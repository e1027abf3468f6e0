import { createServer } from "node:http";

/** The process of {@link HookBackend}: it admits each client as another user, after the time that a database takes. */
let users = 0;

const server = createServer((request, response) => {
  request.resume();
  request.once("end", () => {
    const body = JSON.stringify({ result: { user: `user-${users++}` } });
    setTimeout(() => response.end(body), answerMs);
  });
});

const answerMs = 20;

server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  const address = server.address();
  if (address !== null && typeof address !== "string") process.send?.(address.port);
});
process.on("disconnect", () => process.exit());
