import type { Caller, Post, Step } from "./wire.ts";

/** The HTTP API of a server: the path before the name of the method, and the key. */
interface Api {
  readonly path: string;
  readonly key: string;
}

/** The commands of the official SDKs: connect, and then subscribe, with the token and the position if there are any. */
export function centrifugoSteps({ channel, token, since }: Caller): readonly Step[] {
  const connect = JSON.stringify(token === "" ? {} : { token });
  const subscribe = JSON.stringify({
    channel,
    ...(since !== undefined && { recover: true, epoch: since.epoch, offset: since.offset }),
  });
  return [
    { send: `{"id":1,"connect":${connect}}`, answer: '"connect":{' },
    { send: `{"id":2,"subscribe":${subscribe}}`, answer: '"subscribe":{' },
  ];
}

/** A command without effect, which every server of this protocol answers: an `rpc` that doesn't exist is an error. */
export const centrifugoReceipt = '{"id":3,"rpc":{"method":"receipt","data":{}}}';

/** One publication by the HTTP API. */
export function centrifugoPublish(api: Api, channel: string, data: string): Post {
  return post(api, "publish", `{"channel":${JSON.stringify(channel)},"data":${data}}`);
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
