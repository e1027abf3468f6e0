/**
 * The operations that a backend can ask for: a row for each, by the name that paths, bodies, queues and the configuration use.
 * Routes, batches, the legacy form, queues, the rights of keys, calls to objects, the console and OpenAPI read the rows.
 * These are the kernel's; a feature has its own beside its methods, and `src/features/index.ts` puts all together.
 * `src/api/methods.ts` has a parser for each, and `src/channel/carry-out.ts` carries out those of a channel.
 */

/** The properties of an operation on which its handling depends. An absent one means no. */
export interface Operation {
  /**
   * Where it is carried out. channel: at the channel's object. user: at the home of the user or of the token, and at the
   * objects that hold connections. question: the edge asks several objects. list: at the objects of several channels.
   * events: at one object, and never in a batch.
   */
  readonly at: "channel" | "user" | "question" | "list" | "events";
  /** It changes something: messages of a queue may hold it (rule M1), and its result is small and always returned. */
  readonly changes?: true;
  /** Its result may be as large as an answer may be (rule B28). */
  readonly readsMuch?: true;
  /** How many objects a feature's question asks at most. */
  readonly asksMax?: number;
  /** The configuration that it needs: homes of users, or also their status. */
  readonly needs?: "users" | "status";
}

/** In the order in which the documents list them. */
export const kernelOperations = {
  publish: { at: "channel", changes: true },
  broadcast: { at: "list", changes: true },
  history: { at: "channel", readsMuch: true },
  history_remove: { at: "channel", changes: true },
  presence: { at: "channel", readsMuch: true },
  presence_stats: { at: "channel" },
  disconnect: { at: "user", changes: true, needs: "users" },
  unsubscribe: { at: "user", changes: true, needs: "users" },
  subscribe: { at: "user", changes: true, needs: "users" },
  refresh: { at: "user", changes: true, needs: "users" },
  block_user: { at: "user", changes: true, needs: "users" },
  unblock_user: { at: "user", changes: true, needs: "users" },
  revoke_token: { at: "user", changes: true, needs: "users" },
  invalidate_user_tokens: { at: "user", changes: true, needs: "users" },
  connections: { at: "question", needs: "users" },
  info: { at: "question", needs: "users" },
  channels: { at: "question", needs: "users" },
  update_user_status: { at: "question", changes: true, needs: "status" },
  get_user_status: { at: "question", needs: "status" },
  delete_user_status: { at: "question", changes: true, needs: "status" },
} as const satisfies Readonly<Record<string, Operation>>;

type KernelOperations = typeof kernelOperations;

/**
 * The rows by their names.
 *
 * @public because each feature adds its own
 */
export interface Operations extends KernelOperations {}

/** The whole table. */
export type OperationRows = Readonly<Record<keyof Operations, Operation>>;

/** The name of an operation. */
export type OperationName = keyof Operations;

/** The name of an operation that is carried out there. */
export type OperationAt<At extends Operation["at"]> = {
  [Name in OperationName]: Operations[Name]["at"] extends At ? Name : never;
}[OperationName];

/** The name of an operation that a command may have, in a request of its own, a batch or a queue. */
export type CommandName = Exclude<OperationName, OperationAt<"events">>;
