import type { Endpoint } from "../systems/server.ts";
import { PostConnection } from "./post-connection.ts";
import type { FailureSignal } from "./failure-signal.ts";

/** Connections for posts, and the posts that wait for one. */
export class PostPool {
  static async open(endpoint: Endpoint, size: number, failure: FailureSignal): Promise<PostPool> {
    const pool = new PostPool(endpoint, failure);
    await Promise.all(Array.from({ length: size }, () => pool.#add()));
    return pool;
  }

  /** The maximum number of posts that waited for a connection. */
  backlog = 0;
  readonly #endpoint: Endpoint;
  readonly #failure: FailureSignal;
  /** The connection used last comes first, so that surplus connections stay idle. */
  readonly #free: PostConnection[] = [];
  readonly #all = new Set<PostConnection>();
  #waiting: { readonly request: Buffer; readonly answered: () => void }[] = [];
  /** How many entries were posted; removing the first of many each time would take long. */
  #posted = 0;

  private constructor(endpoint: Endpoint, failure: FailureSignal) {
    this.#endpoint = endpoint;
    this.#failure = failure;
  }

  /** Posts as soon as a connection is free. */
  post(request: Buffer, answered: () => void): void {
    const connection = this.#takeFree();
    if (connection === undefined) {
      this.#waiting.push({ request, answered });
      this.backlog = Math.max(this.backlog, this.#waiting.length - this.#posted);
    } else this.#postBy(connection, request, answered);
  }

  end(): void {
    for (const connection of this.#all) connection.end();
  }

  #postBy(connection: PostConnection, request: Buffer, answered: () => void): void {
    connection.post(request, () => {
      this.#failure.answers++;
      this.#release(connection);
      answered();
    });
  }

  #release(connection: PostConnection): void {
    if (!connection.usable) return this.#replace(connection);
    const next = this.#waiting[this.#posted];
    if (next === undefined) {
      this.#free.push(connection);
      return;
    }
    this.#posted++;
    if (this.#posted === this.#waiting.length) {
      this.#waiting = [];
      this.#posted = 0;
    }
    this.#postBy(connection, next.request, next.answered);
  }

  #takeFree(): PostConnection | undefined {
    for (let taken = this.#free.pop(); taken !== undefined; taken = this.#free.pop()) {
      if (taken.usable) return taken;
      this.#replace(taken);
    }
    return undefined;
  }

  #replace(connection: PostConnection): void {
    connection.end();
    this.#all.delete(connection);
    void this.#add();
  }

  async #add(): Promise<void> {
    const connection = await PostConnection.open(this.#endpoint, this.#failure);
    this.#all.add(connection);
    this.#release(connection);
  }
}
