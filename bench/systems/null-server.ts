import { createHash } from "node:crypto";
import { createServer, type Socket } from "node:net";

/**
 * The process of the null system. It sends posted data to every socket, in a frame that is built once, and ignores what
 * clients send. The posts of one turn of the event loop are sent in one write, so that hardly anything is left but the
 * work of the kernel and of the load generator.
 */

const listeners = new Set<Socket>();
let frames: Buffer[] = [];
let publishers: Socket[] = [];

const server = createServer({ noDelay: true }, (socket) => {
  let received = "";
  const read = (chunk: Buffer): void => {
    received += chunk.toString("latin1");
    for (let taken = firstRequest(received); taken !== undefined; taken = firstRequest(received)) {
      received = taken.rest;
      const key = taken.head.match(/^sec-websocket-key: *(.*)$/im)?.[1];
      if (key === undefined) {
        post(socket, taken.body);
        continue;
      }
      socket.off("data", read).resume();
      socket.write(upgraded(key.trim()));
      listeners.add(socket);
      return;
    }
  };
  socket.on("data", read);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => listeners.delete(socket));
});

function post(publisher: Socket, body: string): void {
  if (frames.length === 0) setImmediate(flush);
  frames.push(frame(Buffer.from(body, "latin1")));
  publishers.push(publisher);
}

function flush(): void {
  const bytes = Buffer.concat(frames);
  frames = [];
  for (const listener of listeners) listener.write(bytes);
  for (const publisher of publishers) publisher.write(answer);
  publishers = [];
}

interface Request {
  readonly head: string;
  readonly body: string;
  readonly rest: string;
}

/** Undefined until the request is complete. */
function firstRequest(received: string): Request | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const head = received.slice(0, headEnd);
  const bodyStart = headEnd + 4;
  const end = bodyStart + Number(head.match(/^content-length: *(\d+)/im)?.[1] ?? 0);
  if (received.length < end) return undefined;
  return { head, body: received.slice(bodyStart, end), rest: received.slice(end) };
}

function upgraded(key: string): string {
  // RFC 6455, section 1.3.
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  return (
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
    `Sec-WebSocket-Accept: ${accept.digest("base64")}\r\n\r\n`
  );
}

/** A text frame of at most 65,535 bytes. */
function frame(payload: Buffer): Buffer {
  const { length } = payload;
  const header = length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), payload]);
}

const answer = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  const address = server.address();
  if (address !== null && typeof address !== "string") process.send?.(address.port);
});
process.on("disconnect", () => process.exit());
