import type { ApiRequests, ApiResults } from "../../workers/embedded/api-types.ts";
import { type ChatValues, chatLimits } from "./wire.ts";

/**
 * What writes and reads the channels of chats: another Worker's real-time layer (`realtimeService`), the own one
 * ({@link withEnv}), or the HTTP API ({@link httpApi}).
 */
export interface ChatBackend {
  map_publish(params: ApiRequests["map_publish"]): Promise<ApiResults["map_publish"]>;
  map_append(params: ApiRequests["map_append"]): Promise<ApiResults["map_append"]>;
  map_read_state(params: ApiRequests["map_read_state"]): Promise<ApiResults["map_read_state"]>;
  map_remove(params: ApiRequests["map_remove"]): Promise<ApiResults["map_remove"]>;
}

type Method = keyof ChatBackend;

/** What `dormouse()` gives, whose methods take the environment first. */
type OwnRealtime<Env> = {
  readonly [Name in Method]: (env: Env, params: ApiRequests[Name]) => Promise<ApiResults[Name]>;
};

/** The real-time layer of the Worker itself. */
export function withEnv<Env>(realtime: OwnRealtime<Env>, env: Env): ChatBackend {
  return {
    map_publish: (params) => realtime.map_publish(env, params),
    map_append: (params) => realtime.map_append(env, params),
    map_read_state: (params) => realtime.map_read_state(env, params),
    map_remove: (params) => realtime.map_remove(env, params),
  };
}

/** Where a server is, and its key. */
export interface HttpApiOptions {
  /** Such as `https://example.com`, with the prefix if there is one. */
  readonly url: string;
  /** `API_KEY` of the server. */
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
}

/** The HTTP API of a server, for a backend that isn't a Worker. */
export function httpApi({ url, apiKey, fetch: send = fetch }: HttpApiOptions): ChatBackend {
  const call = async <Name extends Method>(
    method: Name,
    params: ApiRequests[Name],
  ): Promise<ApiResults[Name]> => {
    const response = await send(`${url}/api/${method}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": apiKey },
      body: JSON.stringify(params),
    });
    if (!response.ok)
      throw new ChatError(`${method}: HTTP ${response.status}`, response.status >= 429);
    const { result, error }: Answer<ApiResults[Name]> = await response.json();
    if (result !== undefined) return result;
    throw new ChatError(`${method}: ${error?.message ?? "no result"}`, error?.temporary === true);
  };
  return {
    map_publish: (params) => call("map_publish", params),
    map_append: (params) => call("map_append", params),
    map_read_state: (params) => call("map_read_state", params),
    map_remove: (params) => call("map_remove", params),
  };
}

interface Answer<Result> {
  readonly result?: Result;
  readonly error?: { readonly message: string; readonly temporary?: boolean };
}

/** Why something couldn't be written to a chat. */
export class ChatError extends Error {
  override readonly name = "ChatError";
  /** Whether the same may succeed later. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary = false) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

/** The commands about one chat. Each can be repeated without harm, and is while its failure may be a temporary one. */
export class ChatCommands {
  readonly #channel: string;
  readonly #backend: ChatBackend;

  constructor(backend: ChatBackend, channel: string) {
    this.#backend = backend;
    this.#channel = channel;
  }

  publish(params: Of<"map_publish">): Promise<ApiResults["map_publish"]> {
    return again(() => this.#backend.map_publish({ channel: this.#channel, ...params }));
  }

  append(params: Of<"map_append">): Promise<ApiResults["map_append"]> {
    return again(() => this.#backend.map_append({ channel: this.#channel, ...params }));
  }

  async remove(key: string): Promise<void> {
    await again(() => this.#backend.map_remove({ channel: this.#channel, key }));
  }

  /** One key: its value and the offset of its last change, 0 if it isn't there. */
  async read(key: string): Promise<{ readonly value: unknown; readonly offset: number }> {
    const { entries } = await this.#state({ key, limit: 1 });
    const [entry] = entries;
    return { value: entry?.data, offset: entry?.offset ?? 0 };
  }

  /** All keys. */
  async readAll(): Promise<ChatValues> {
    const values = new Map<string, unknown>();
    let page = await this.#state({ limit: pageSize });
    const { offset: revision_offset, epoch: revision_epoch } = page;
    for (;;) {
      for (const { key, data } of page.entries) values.set(key, data);
      const { cursor } = page;
      if (cursor === undefined) return values;
      page = await this.#state({ limit: pageSize, cursor, revision_offset, revision_epoch });
    }
  }

  #state(params: Of<"map_read_state">): Promise<ApiResults["map_read_state"]> {
    return again(() => this.#backend.map_read_state({ channel: this.#channel, ...params }));
  }
}

type Of<Name extends Method> = Omit<ApiRequests[Name], "channel">;

const pageSize = 1_000;

/** Repeats a command until it is answered, or until nobody can hope any more. */
async function again<Result>(command: () => Promise<Result>): Promise<Result> {
  const untilMs = Date.now() + chatLimits.retryForMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 2_000)) {
    try {
      return await command();
    } catch (error) {
      if (Object(error).isTemporary === false || Date.now() + pauseMs > untilMs) throw error;
      await pause(pauseMs);
    }
  }
}

/** Resolves after a while. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
