import type { Caller, Post, Step } from "./wire.ts";

/** The HTTP API of a server: the path before the name of the method, and the key. */
interface Api {
  readonly path: string;
  readonly key: string;
}

/** The commands of the official SDKs: connect, and then subscribe, with the token and the position if there are any. */
export function centrifugoSteps({
  channel,
  token,
  since,
  pageSize,
  deltas = false,
}: Caller): readonly Step[] {
  const connect = JSON.stringify(token === "" ? {} : { token });
  const first = { send: `{"id":1,"connect":${connect}}`, answer: '"connect":{' };
  if (pageSize !== undefined) return [first, mapStep(channel, pageSize, deltas)];
  const send = subscribeFrame({
    channel,
    ...(since !== undefined && { recover: true, epoch: since.epoch, offset: since.offset }),
  });
  return [first, { send, answer: '"subscribe":{' }];
}

/** Reads a map in pages, until the reply that begins the subscription: it has no phase. */
function mapStep(channel: string, limit: number, deltas: boolean): Step {
  const request = { channel, type: 1, phase: 2, limit, ...(deltas && { delta: "fossil" }) };
  const again = (answered: string): string | undefined => {
    // What a page says of itself stands before its entries, of which some hundred KB may follow.
    const head = answered.slice(0, answered.indexOf('"state":['));
    if (!head.includes('"phase":')) return undefined;
    const [, cursor] = /"cursor":"([^"]*)"/.exec(head) ?? [];
    const [, epoch] = /"epoch":"([^"]*)"/.exec(head) ?? [];
    if (cursor === undefined || epoch === undefined)
      throw new Error(`a page of a map said neither a cursor nor the end: ${head}`);
    const offset = Number(/"offset":(\d+)/.exec(head)?.[1] ?? 0);
    return subscribeFrame({ ...request, cursor, epoch, offset });
  };
  return { send: subscribeFrame(request), answer: '"subscribe":{', again };
}

function subscribeFrame(subscribe: object): string {
  return JSON.stringify({ id: 2, subscribe });
}

/** A command without effect, which every server of this protocol answers: an `rpc` that doesn't exist is an error. */
export const centrifugoReceipt = '{"id":3,"rpc":{"method":"receipt","data":{}}}';

/** One publication by the HTTP API. */
export function centrifugoPublish(api: Api, channel: string, data: string): Post {
  return post(api, "publish", `{"channel":${JSON.stringify(channel)},"data":${data}}`);
}

/** The change of a key in a map, by the HTTP API. */
export function centrifugoPublishKey(api: Api, channel: string, key: string, data: string): Post {
  const named = `"channel":${JSON.stringify(channel)},"key":${JSON.stringify(key)}`;
  return post(api, "map_publish", `{${named},"data":${data}}`);
}

/** The same data in several channels by one request of the HTTP API. */
export function centrifugoBatch(api: Api, channels: readonly string[], data: string): Post {
  const commands = channels.map(
    (channel) => `{"publish":{"channel":${JSON.stringify(channel)},"data":${data}}}`,
  );
  return post(api, "batch", `{"commands":[${commands.join(",")}],"parallel":true}`);
}

function post({ path, key }: Api, method: string, body: string): Post {
  return {
    path: `${path}/${method}`,
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body,
  };
}
