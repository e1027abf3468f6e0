import type { TransportsConfig } from "./config.ts";
import type { Section } from "./section.ts";
import { readBoolean } from "./fields.ts";
import {
  unsupportedStreamKeys,
  unsupportedUniWebsocketKeys,
  type UnsupportedKeys,
} from "./unsupported.ts";

/**
 * Reads the sections of the transports beside the WebSocket: which of them there are (reference 4).
 *
 * @param root the section of the whole configuration, in which each transport has one of its own
 */
export function readTransports(root: Section): TransportsConfig {
  return {
    sse: readStream(root, "sse"),
    httpStream: readStream(root, "http_stream"),
    uniSse: readStream(root, "uni_sse"),
    uniHttpStream: readStream(root, "uni_http_stream"),
    uniWebsocket: readEnabled(root, "uni_websocket", unsupportedUniWebsocketKeys),
    longPoll: readEnabled(root, "long_poll", {}),
  };
}

function readStream(root: Section, name: string): boolean {
  return readEnabled(root, name, unsupportedStreamKeys(`/connection/${name}`));
}

function readEnabled(root: Section, name: string, unsupported: UnsupportedKeys): boolean {
  const section = root.section(name);
  const enabled = readBoolean(section, "enabled");
  section.refuseOthers(unsupported);
  return enabled;
}
