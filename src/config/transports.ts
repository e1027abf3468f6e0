import { readOption } from "./fields.ts";
import type { Options } from "./option.ts";
import type { Section } from "./section.ts";
import {
  unsupportedStreamKeys,
  type UnsupportedKeys,
  unsupportedUniWebsocketKeys,
} from "./unsupported.ts";

/** The transports beside `/connection/websocket`, each of which has a section with a switch (docs/protocol.md 4). */
export const transportOptions = {
  /** Commands in requests, and a stream of server-sent events. */
  sse: {
    is: "section",
    of: {
      /** Server-sent events at `/connection/sse`, and `/emulation`, to which the client posts its commands. */
      enabled: { is: "boolean" },
    },
    read: readStream,
  },
  /** Commands in requests, and a streamed response. */
  http_stream: {
    is: "section",
    of: {
      /** A streamed response at `/connection/http_stream`, and `/emulation`, to which the client posts its commands. */
      enabled: { is: "boolean" },
    },
    read: readStream,
  },
  /** Server-sent events, for clients without an SDK. */
  uni_sse: {
    is: "section",
    of: {
      /** Unidirectional, for clients without an SDK: server-sent events at `/connection/uni_sse`. */
      enabled: { is: "boolean" },
    },
    read: readStream,
  },
  /** A streamed response, for clients without an SDK. */
  uni_http_stream: {
    is: "section",
    of: {
      /** Unidirectional, for clients without an SDK: a streamed response at `/connection/uni_http_stream`. */
      enabled: { is: "boolean" },
    },
    read: readStream,
  },
  /** A WebSocket for clients without an SDK. */
  uni_websocket: {
    is: "section",
    of: {
      /** Unidirectional, for clients without an SDK: a WebSocket at `/connection/uni_websocket`. */
      enabled: { is: "boolean" },
    },
    read: (root, name) => readEnabled(root, name, unsupportedUniWebsocketKeys),
  },
  /** Long polling (rule T9). */
  long_poll: {
    is: "section",
    own: true,
    of: {
      /**
       * Clients read a channel by asking for newer publications, at `/channel/<name>/poll`; the channel needs history and
       * recovery.
       */
      enabled: { is: "boolean" },
    },
    read: (root, name) => readEnabled(root, name, {}),
  },
} as const satisfies Options;

/** The description of the HTTP API (rule W8). */
export const swaggerOptions = {
  /**
   * The description of the HTTP API is served to everybody, at `/openapi.json` for programs and at `/swagger` for people. It
   * tells nothing about the deployment. [openapi.md](openapi.md) shows its use.
   *
   * @differs a page without a form at `/swagger`, and Dormouse's own description of the API at `/openapi.json`
   */
  enabled: { is: "boolean" },
} as const satisfies Options;

function readStream(root: Section, name: string): boolean {
  return readEnabled(root, name, unsupportedStreamKeys(`/connection/${name}`));
}

/** Reads a section of the configuration that is nothing but a switch. */
export function readEnabled(root: Section, name: string, unsupported: UnsupportedKeys): boolean {
  const section = root.section(name);
  const enabled = readOption(section, "enabled", { is: "boolean" });
  section.refuseOthers(unsupported);
  return enabled;
}
