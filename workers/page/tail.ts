import { Centrifuge, type PublicationContext } from "centrifuge";
import { useEffect, useState } from "preact/hooks";
import type { JsonValue, Publication } from "./answers.ts";
import { socketAddressAt } from "./server.ts";

/** What is heard of a channel, newest first. */
export interface Tail {
  readonly state: "off" | "connecting" | "hearing";
  readonly heard: readonly (HeardPublication & { readonly atMs: number })[];
}

/** A publication; of a map, the change of a key. */
interface HeardPublication extends Publication {
  /** It has no data, because it removes a key. */
  readonly isRemoval: boolean;
}

/**
 * Hears a channel over Dormouse's own protocol, as long as it is on: the server subscribes the connection, because the
 * operator is logged in.
 */
export function useTail(channel: string, isOn: boolean): Tail {
  const [tail, setTail] = useState<Tail>({ state: "off", heard: [] });
  useEffect(() => {
    if (!isOn) return undefined;
    const address = socketAddressAt("live");
    address.searchParams.set("channel", channel);
    const client = new Centrifuge(address.href);
    const change = (state: Tail["state"]) => setTail((before) => ({ ...before, state }));
    client.on("connecting", () => change("connecting"));
    client.on("subscribed", () => change("hearing"));
    client.on("publication", (one: PublicationContext) => {
      const publication = { ...heard(one), atMs: Date.now() };
      setTail(({ state, heard: before }) => ({
        state,
        heard: [publication, ...before.slice(0, heardMax - 1)],
      }));
    });
    client.connect();
    return () => {
      client.disconnect();
      change("off");
    };
  }, [channel, isOn]);
  return tail;
}

function heard({ offset, data, tags, info }: PublicationContext): HeardPublication {
  const payload: JsonValue | undefined = data;
  return {
    data: payload ?? null,
    isRemoval: payload === undefined,
    ...(offset !== undefined && { offset }),
    ...(tags !== undefined && { tags }),
    ...(info !== undefined && { info: { user: info.user, client: info.client } }),
  };
}

const heardMax = 200;
