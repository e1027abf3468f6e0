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
  /** Carries out commands of one channel by one call, in their order. @returns what came of each */
  batch(commands: readonly ChatCommand[]): Promise<readonly ChatReply[]>;
}

/** A command of a batch. */
type ChatCommand =
  | { readonly map_publish: ApiRequests["map_publish"] }
  | { readonly map_read_state: ApiRequests["map_read_state"] };

/** What came of a command of a batch. */
interface ChatReply {
  readonly result?: object | undefined;
  readonly error?: ReplyError | undefined;
}

interface ReplyError {
  readonly message: string;
  readonly temporary?: boolean;
}

type Method = Exclude<keyof ChatBackend, "batch">;

/** What `dormouse()` gives, whose methods take the environment first. */
type OwnRealtime<Env> = {
  readonly [Name in Method]: (env: Env, params: ApiRequests[Name]) => Promise<ApiResults[Name]>;
} & {
  readonly batch: (env: Env, commands: readonly ChatCommand[]) => Promise<readonly ChatReply[]>;
};

/** The real-time layer of the Worker itself. */
export function withEnv<Env>(realtime: OwnRealtime<Env>, env: Env): ChatBackend {
  return {
    map_publish: (params) => realtime.map_publish(env, params),
    map_append: (params) => realtime.map_append(env, params),
    map_read_state: (params) => realtime.map_read_state(env, params),
    map_remove: (params) => realtime.map_remove(env, params),
    batch: (commands) => realtime.batch(env, commands),
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
  const post = async <Body>(method: string, params: object): Promise<Body> => {
    const response = await send(`${url}/api/${method}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": apiKey },
      body: JSON.stringify(params),
    });
    if (!response.ok)
      throw new ChatError(`${method}: HTTP ${response.status}`, response.status >= 429);
    return response.json();
  };
  const call = async <Name extends Method>(
    method: Name,
    params: ApiRequests[Name],
  ): Promise<ApiResults[Name]> => {
    const { result, error } = await post<Answer<ApiResults[Name]>>(method, params);
    if (result !== undefined) return result;
    throw failure(method, error);
  };
  return {
    map_publish: (params) => call("map_publish", params),
    map_append: (params) => call("map_append", params),
    map_read_state: (params) => call("map_read_state", params),
    map_remove: (params) => call("map_remove", params),
    batch: async (commands) => {
      const { replies, error } = await post<BatchAnswer>("batch", { commands });
      if (replies === undefined) throw failure("batch", error);
      return replies.map(({ error: own, ...result }) =>
        own === undefined ? { result: Object.values(result)[0] } : { error: own },
      );
    },
  };
}

interface Answer<Result> {
  readonly result?: Result;
  readonly error?: ReplyError;
}

/** Each reply has the result by the name of its method. */
interface BatchAnswer {
  readonly replies?: readonly {
    readonly error?: ReplyError;
    readonly [method: string]: object | undefined;
  }[];
  readonly error?: ReplyError;
}

function failure(method: string, error?: ReplyError): ChatError {
  return new ChatError(`${method}: ${error?.message ?? "no result"}`, error?.temporary === true);
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
    return this.#from(await this.#state({ limit: pageSize }));
  }

  /** Reads all keys, and then puts others into the chat unless they are there, by one call. */
  async readAndPut(...puts: readonly NewValue[]): Promise<ReadAndPut> {
    const channel = this.#channel;
    // A call whose answer was lost has put them, and it was this one.
    const once = crypto.randomUUID();
    const commands: readonly ChatCommand[] = [
      { map_read_state: { channel, limit: pageSize } },
      ...puts.map(({ key, data }) => ({
        map_publish: {
          channel,
          key,
          data,
          key_mode: "if_new" as const,
          idempotency_key: `${once}${key}`,
        },
      })),
    ];
    const [first, ...others] = await again(async () => {
      const replies = await this.#backend.batch(commands);
      const failed = replies.find(({ error }) => error?.temporary === true);
      if (failed !== undefined) throw failure("batch", failed.error);
      return replies;
    });
    if (first?.result === undefined) throw failure("map_read_state", first?.error);
    const read = await this.#from(Object(first.result));
    return { read, put: others.map(putOutcome) };
  }

  async #from(first: ApiResults["map_read_state"]): Promise<ChatValues> {
    const values = new Map<string, unknown>();
    let page = first;
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

/** A key that is put into a chat, and its value. */
interface NewValue {
  readonly key: string;
  readonly data: object;
}

interface ReadAndPut {
  /** What was there before. */
  readonly read: ChatValues;
  /** What came of each key. */
  readonly put: readonly PutOutcome[];
}

/** Whether a key was put into a chat, and where; or why it couldn't be. */
type PutOutcome = { readonly isPut: boolean; readonly offset: number } | ChatError;

function putOutcome({ result, error }: ChatReply): PutOutcome {
  if (result === undefined) return failure("map_publish", error);
  const { suppressed, suppress_reason, offset }: ApiResults["map_publish"] = Object(result);
  return { isPut: suppressed !== true || suppress_reason === "idempotency", offset };
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
