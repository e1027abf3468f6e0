import type { CallFields } from "./call-fields.ts";
import { hookNames, isHookName } from "./hooks.ts";
import { numberRules } from "./numbers.ts";
import type { TestClient } from "./test-client.ts";
import type { TestDormouse } from "./test-dormouse.ts";
import { DormouseTestError } from "./test-error.ts";
import type { TokenClaims } from "./tokens.ts";

/** What a control call is carried out on. */
export interface ControlledServer {
  readonly dormouse: TestDormouse;
  /** The clients that calls have made, by the names that they were given. */
  readonly clients: Map<string, TestClient>;
  /** Ends the server once the call is answered. */
  readonly stop: () => void;
}

/** Reads the fields of a call, and gives what carries it out, once all fields are read. */
type ControlCall = (fields: CallFields, server: ControlledServer) => () => unknown;

/** The control calls by their names: what the kit offers in JavaScript, as docs/testing.md lists it. */
export const controlCalls: Readonly<Record<string, ControlCall>> = {
  publish(fields, { dormouse }) {
    const [channel, data] = [fields.text("channel"), fields.value("data")];
    const options = fields.object("options");
    return () => dormouse.publish(channel, data, options);
  },
  api(fields, { dormouse }) {
    const [method, params] = [fields.text("method"), fields.object("params")];
    return () => dormouse.api(method, params);
  },
  client(fields, { dormouse, clients }) {
    const [user, subscribe] = [fields.optionalText("user"), fields.texts("subscribe")];
    const token = claimsOf(fields);
    return async () => {
      const client = await dormouse.client({
        ...(user !== undefined && { user }),
        subscribe,
        token,
      });
      const name = `client-${clients.size + 1}`;
      clients.set(name, client);
      return { client: name };
    };
  },
  subscribe(fields, server) {
    const client = namedClient("subscribe", fields, server);
    const channel = fields.text("channel");
    const token = fields.optionalText("token");
    return async () => {
      await client.subscribe({ channel, ...(token !== undefined && { token }) });
    };
  },
  received(fields, server) {
    const client = namedClient("received", fields, server);
    const channel = fields.text("channel");
    const count = fields.optionalNumber("count");
    const withinMs = fields.optionalNumber("within_ms", numberRules.withinMs);
    return async () => ({ data: await client.received(channel, count, withinMs) });
  },
  published(fields, { dormouse }) {
    const channel = fields.text("channel");
    return async () => ({ data: await dormouse.published(channel) });
  },
  cut(fields, server) {
    const client = anyClient("cut", fields, server);
    return () => server.dormouse.cut(client);
  },
  late(fields, server) {
    const client = anyClient("late", fields, server);
    const duration = fields.duration("duration");
    return () => server.dormouse.late(duration, client);
  },
  lose(fields, server) {
    const client = anyClient("lose", fields, server);
    const frames = fields.optionalNumber("frames") ?? 1;
    return () => server.dormouse.lose(frames, client);
  },
  evict(fields, { dormouse }) {
    const channel = fields.text("channel");
    return () => dormouse.evict(channel);
  },
  deploy:
    (_, { dormouse }) =>
    () =>
      dormouse.deploy(),
  advance(fields, { dormouse }) {
    const duration = fields.duration("duration");
    return () => dormouse.advance(duration);
  },
  token(fields, { dormouse }) {
    const [user, claims] = [fields.text("user"), claimsOf(fields)];
    return () => ({ token: dormouse.token(user, claims) });
  },
  subscription_token(fields, { dormouse }) {
    const [user, channel, claims] = [fields.text("user"), fields.text("channel"), claimsOf(fields)];
    return () => ({ token: dormouse.subscriptionToken(user, channel, claims) });
  },
  hook(fields, { dormouse }) {
    const [hook, answer] = [fields.text("hook"), fields.object("answer")];
    return () => {
      if (!isHookName(hook))
        throw new DormouseTestError(
          `hook: ${hook} is no hook; the hooks are ${hookNames.join(", ")}`,
        );
      if (dormouse.hooks[hook] === undefined)
        throw new DormouseTestError(
          `hook: ${hook} isn't answered here; start the server with --hook ${hook}`,
        );
      dormouse.hooks[hook] = () => answer;
    };
  },
  asked(fields, { dormouse }) {
    const hook = fields.optionalText("hook");
    return () => ({ questions: dormouse.asked(hook) });
  },
  objects:
    (_, { dormouse }) =>
    async () => ({ objects: await dormouse.objects() }),
  reset: (_, { dormouse, clients }) => {
    return () => {
      clients.clear();
      return dormouse.reset();
    };
  },
  stop: (_, { stop }) => stop,
};

/** The client that a call names. */
function namedClient(call: string, fields: CallFields, { clients }: ControlledServer): TestClient {
  const name = fields.text("client");
  const client = clients.get(name);
  if (client === undefined)
    throw new DormouseTestError(
      `${call}: there is no client "${name}"; the clients are ${[...clients.keys()].join(", ") || "none"}`,
    );
  return client;
}

/** The client that a call names; undefined if it names none, and means all. */
function anyClient(
  call: string,
  fields: CallFields,
  server: ControlledServer,
): TestClient | undefined {
  return fields.has("client") ? namedClient(call, fields, server) : undefined;
}

function claimsOf(fields: CallFields): TokenClaims {
  const expiresInSeconds = fields.optionalNumber(
    "expires_in_seconds",
    numberRules.expiresInSeconds,
  );
  return {
    claims: fields.object("claims"),
    ...(expiresInSeconds !== undefined && { expiresInSeconds }),
  };
}
