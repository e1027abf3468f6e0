import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";

/**
 * What is in use on the heap of the Worker and all its objects, which share one isolate, once the garbage is collected: its
 * JavaScript, what the runtime keeps beside it for the same collector, and the memory behind its buffers. Bytes.
 *
 * @param inspectorPort of workerd
 * @param port          where the Worker itself answers
 */
export async function usedHeapBytes(inspectorPort: number, port: number): Promise<number> {
  const session = await InspectorSession.open(inspectorPort);
  try {
    await session.call("HeapProfiler.enable");
    // The first one finds what only becomes garbage by what the runtime lets go of meanwhile.
    for (let collection = 0; collection < 2; collection++) {
      const collected = session.call("HeapProfiler.collectGarbage").then(() => true);
      // V8 collects in a task that workerd only comes to while a request is in the isolate.
      do await visit(port);
      while (!(await Promise.race([collected, pause(visitEveryMs, false)])));
    }
    const usage = await session.call("Runtime.getHeapUsage");
    return parseHeapUsage(usage);
  } finally {
    session.close();
  }
}

/** One conversation in the protocol of Chrome's developer tools. */
class InspectorSession {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<string>>();
  #calls = 0;

  static async open(inspectorPort: number): Promise<InspectorSession> {
    const socket = new WebSocket(`ws://127.0.0.1:${inspectorPort}/${isolate}`);
    await once(socket, "open");
    return new InspectorSession(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (message: Buffer) => {
      const text = message.toString();
      const id = parseId(text);
      if (id === undefined) return;
      this.#waiting.get(id)?.resolve(text);
      this.#waiting.delete(id);
    });
    socket.on("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The inspector hung up"));
    });
  }

  /** @returns the answer's JSON text */
  call(method: string): Promise<string> {
    const id = ++this.#calls;
    const answered = Promise.withResolvers<string>();
    this.#waiting.set(id, answered);
    this.#socket.send(JSON.stringify({ id, method, params: {} }));
    return answered.promise;
  }

  close(): void {
    this.#socket.terminate();
  }
}

async function visit(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/health`, { method: "POST", body: "" });
  await response.arrayBuffer();
}

/** Undefined for what nobody asked for. */
function parseId(text: string): number | undefined {
  const message: { id?: number } = JSON.parse(text);
  return message.id;
}

function parseHeapUsage(text: string): number {
  const { result }: { result?: Record<string, number> } = JSON.parse(text);
  const { usedSize = Number.NaN, embedderHeapUsedSize = 0, backingStorageSize = 0 } = result ?? {};
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}

/** workerd names them as its services: the Worker beside the one that puts objects to sleep. */
const isolate = "main";
const visitEveryMs = 20;
