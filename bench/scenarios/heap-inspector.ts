import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";

/**
 * The used heap of the Worker and all its objects, which share one isolate, after a garbage collection: its JavaScript
 * objects, the runtime's objects on the same heap, and the memory of its buffers. Bytes.
 *
 * @param inspectorPort of workerd
 * @param port the Worker's own
 */
export async function usedHeapBytes(inspectorPort: number, port: number): Promise<number> {
  const session = await InspectorSession.open(inspectorPort);
  try {
    await session.call("HeapProfiler.enable");
    // The second collection frees what the runtime releases after the first.
    for (let collection = 0; collection < 2; collection++) {
      const collected = session.call("HeapProfiler.collectGarbage").then(() => true);
      // V8 collects in a task that workerd runs only while a request is in the isolate.
      do await visit(port);
      while (!(await Promise.race([collected, pause(visitEveryMs, false)])));
    }
    const usage = await session.call("Runtime.getHeapUsage");
    return parseHeapUsage(usage);
  } finally {
    session.close();
  }
}

/** One session of Chrome's developer tools protocol. */
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

/** Undefined for a message that isn't an answer. */
function parseId(text: string): number | undefined {
  const message: { id?: number } = JSON.parse(text);
  return message.id;
}

function parseHeapUsage(text: string): number {
  const { result }: { result?: Record<string, number> } = JSON.parse(text);
  const { usedSize = Number.NaN, embedderHeapUsedSize = 0, backingStorageSize = 0 } = result ?? {};
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}

/** workerd's name for the Worker, beside the one that evicts objects. */
const isolate = "main";
const visitEveryMs = 20;
