/**
 * What a backend can ask for: a row for each operation, by the name that paths, bodies, queues and the configuration use.
 * Routes, batches, the legacy form, queues, the rights of keys, calls to objects, the console and OpenAPI read the rows.
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
  /** It makes a publication, which belongs to a trace (rule X1) and is made once for an idempotency key (rule M4). */
  readonly publishes?: true;
  /** Its result may be as large as an answer may be (rule B28). */
  readonly readsMuch?: true;
  /** The configuration that it needs: homes of users, or also their status. */
  readonly needs?: "users" | "status";
  /** The console calls it. */
  readonly console?: true;
}

/** In the order in which the documents list them. */
const operations = {
  publish: { at: "channel", changes: true, publishes: true, console: true },
  broadcast: { at: "list", changes: true, publishes: true },
  history: { at: "channel", readsMuch: true, console: true },
  history_remove: { at: "channel", changes: true },
  presence: { at: "channel", readsMuch: true, console: true },
  presence_stats: { at: "channel", console: true },
  disconnect: { at: "user", changes: true, needs: "users", console: true },
  unsubscribe: { at: "user", changes: true, needs: "users", console: true },
  subscribe: { at: "user", changes: true, needs: "users" },
  refresh: { at: "user", changes: true, needs: "users" },
  block_user: { at: "user", changes: true, needs: "users", console: true },
  unblock_user: { at: "user", changes: true, needs: "users", console: true },
  revoke_token: { at: "user", changes: true, needs: "users" },
  invalidate_user_tokens: { at: "user", changes: true, needs: "users" },
  connections: { at: "question", needs: "users", console: true },
  info: { at: "question", needs: "users", console: true },
  channels: { at: "question", needs: "users", console: true },
  update_user_status: { at: "question", changes: true, needs: "status" },
  get_user_status: { at: "question", needs: "status", console: true },
  delete_user_status: { at: "question", changes: true, needs: "status" },
  why: { at: "question", console: true },
  inspect: { at: "question", console: true },
  map_publish: { at: "channel", changes: true, publishes: true },
  map_remove: { at: "channel", changes: true, publishes: true },
  map_read_state: { at: "channel", readsMuch: true },
  map_read_stream: { at: "channel", readsMuch: true },
  map_stats: { at: "channel" },
  map_clear: { at: "channel", changes: true },
  shared_poll_publish: { at: "channel", changes: true },
  events: { at: "events" },
} as const satisfies Readonly<Record<string, Operation>>;

type Rows = typeof operations;

/** The name of an operation. */
export type OperationName = keyof Rows;

/** The name of an operation that is carried out there. */
export type OperationAt<At extends Operation["at"]> = {
  [Name in OperationName]: Rows[Name]["at"] extends At ? Name : never;
}[OperationName];

/** The name of an operation that a command may have, in a request of its own, a batch or a queue. */
export type CommandName = Exclude<OperationName, OperationAt<"events">>;

/** The row of an operation; an empty one for what only a client asks of a channel, as it reads a map. */
export function operationOf(name: string): Operation {
  return isOperation(name) ? operations[name] : { at: "channel" };
}

/** The names of the operations whose row is so; all without a condition. In the order of the table. */
export function operationNames(
  is: (row: Operation) => boolean = () => true,
): readonly OperationName[] {
  return Object.keys(operations)
    .filter(isOperation)
    .filter((name) => is(operations[name]));
}

/** Whether a command may have this name. */
export function isCommandName(name: string): name is CommandName {
  return isOperation(name) && operations[name].at !== "events";
}

/** Whether a command of a backend, or a request of a gateway, makes a publication. */
export function publishes({ method }: { readonly method: string }): boolean {
  return operationOf(method).publishes === true;
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
