import type { Publication } from "../../../../src/protocol/publication.ts";
import { json } from "../../api/channel-config.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";

const open = { subscription_type: "map", allow_subscribe_for_client: true };
const namespaces = [
  {
    ...open,
    name: "kept",
    map: { mode: "recoverable", key_ttl: "1m", min_page_size: 1 },
    allowed_delta_types: ["fossil"],
    allow_tags_filter: true,
  },
  { ...open, name: "brief", map: { mode: "ephemeral", key_ttl: "1m", min_page_size: 1 } },
  {
    ...open,
    name: "asked",
    map: { mode: "persistent" },
    subscribe_proxy_enabled: true,
  },
  { name: "plain", allow_subscribe_for_client: true },
];
const channel = {
  proxy: { subscribe: { endpoint: "https://backend.example/hooks" } },
  namespaces,
};

/** Clients of a gateway that may subscribe to maps of each mode. */
export function newFixture(more: object = {}): ManyChannelsFixture {
  return new ManyChannelsFixture({ channel, ...more });
}

/** A subscribe of a map, as the SDK sends it. */
export function ask(id: number, name: string, fields: object = {}): string {
  const subscribe = { channel: name, type: 1, phase: 2, flag: 1, ...fields };
  return JSON.stringify({ id, subscribe });
}

/** An entry of a map, or a change of it. */
export function entry(key: string, offset: number, more: Partial<Publication> = {}): Publication {
  return { key, data: json(`"${key}${offset}"`), offset, ...more };
}

/** A position. */
export const at = (offset: number, epoch = "e") => ({ epoch, offset });
/** The reply with an error; the others are those that maps give. */
export const error = (id: number, code: number, message: string, temporary = "") =>
  `{"id":${id},"error":{"code":${code},"message":"${message}"${temporary}}}`;
export const denied = (id: number) => error(id, 103, "permission denied");
export const parallel = (id: number) =>
  error(id, 113, "concurrent pagination", ',"temporary":true');
export const lost = (id: number) => error(id, 112, "unrecoverable position");
export const malformed = (id: number) => error(id, 107, "bad request");
