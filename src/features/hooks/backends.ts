import type { HookHeader } from "../../contract/session-snapshot.ts";
import type { ChannelBackends } from "../../config/channel-features.ts";
import type { HookEndpoint, HookRefusal, HookTarget } from "../../config/config.ts";
import { readOption, readOptions, readText, readTexts } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";
import { parseEndpoint, urlMeaning } from "../../config/targets.ts";
import { not, type UnsupportedKeys } from "../../config/unsupported.ts";
import { hookLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import type { DisconnectCode, ErrorCode } from "../../protocol/codes.ts";
import { int32Max } from "../../protocol/fields.ts";
import { parseJsonText } from "../../protocol/json/text.ts";
import { isJsonObject } from "../../protocol/wire-value.ts";

/** The entries of `proxies`, by name. */
export type NamedTargets = ReadonlyMap<string, HookTarget>;

/**
 * Reads `proxies`: backends to which hooks of namespaces refer by name (docs/protocol.md 7).
 *
 * @param root the section of the whole configuration; receives the problems
 */
export function readProxies(root: Section): NamedTargets {
  const sections = root.sections("proxies", "name", hookLimits.hookTargetsMax);
  const owners = new Map<string, string>();
  const named = new Map<string, HookTarget>();
  for (const section of sections) {
    const name = readOption(section, "name", backendNameOptions.name);
    section.demand("name");
    section.demandUnique("name", owners);
    if (name === defaultName)
      section.problem("name", `is the name of the proxies in "channel" and "rpc"`);
    section.demand("endpoint");
    const target = readTarget(section, `proxies.${name}`);
    if (target !== undefined) named.set(name, target);
  }
  return named;
}

/** The name of each of `proxies`, and of a namespace of methods. */
export const backendNameOptions = {
  /**
   * The name: 2 to 64 of `A-Z`, `a-z`, `0-9`, `-`, `_` and `.`.
   *
   * @default required
   */
  name: {
    is: "text",
    shape: /^(?:[-a-zA-Z0-9_.]{2,64})?$/,
    meaning: "2 to 64 of A-Z, a-z, 0-9, -, _ and .",
  },
} as const satisfies Options;

/** The name by which an option means the backend of its own section, and not one of `proxies`. */
const defaultName = "default";

/**
 * Reads the backends of a section, which options mean by the name `default`.
 *
 * @param section receives the problems
 * @param keys    of the backends in the section
 * @param proxies to which options may refer by name
 */
export function readBackends(
  section: Section,
  keys: readonly string[],
  proxies: NamedTargets,
): ChannelBackends {
  const own = new Map(keys.map((key) => [key, readTarget(section.section(key))]));
  /** @param needing is reported if the section has no endpoint */
  const read = (
    of: Section,
    option: string,
    key: string,
    needing: string,
  ): HookTarget | undefined => {
    const name = readText(of, option, { default: defaultName });
    const isDefault = name === defaultName || name === "";
    const target = isDefault ? own.get(key) : proxies.get(name);
    if (target !== undefined) return target;
    if (isDefault) of.problem(needing, `requires ${section.pathOf(key)}.endpoint`);
    else of.wrongValue(option, name, "is not the name of one of proxies");
    return undefined;
  };
  return {
    switched: (of, option, key) => {
      const enabled = readOption(of, `${option}enabled`, { is: "boolean" });
      if (enabled) return read(of, `${option}name`, key, `${option}enabled`);
      readText(of, `${option}name`, { default: defaultName });
      return undefined;
    },
    named: (of, option, key) => read(of, option, key, option),
  };
}

/** The address of a backend. */
export const endpointOptions = {
  /**
   * An `https` URL (`http` on localhost, or where
   * [`insecure_endpoints`](self-hosting.md#a-backend-in-the-same-private-network) is on), or `service:BINDING` for another
   * Worker of the account.
   *
   * @differs `https`, `http` on localhost, and Dormouse's own `service:BINDING`; GRPC is refused
   */
  endpoint: { is: "text", read: readEndpoint },
} as const satisfies Options;

/** The options about the requests to a backend. */
export const askingOptions = {
  /** How long to wait for an answer; SDKs wait for 5 s. */
  timeout: {
    is: "duration",
    default: 1_000,
    min: hookLimits.hookTimeoutMsMin,
    max: hookLimits.hookTimeoutMsMax,
  },
  /**
   * The headers of the client's handshake that the backend gets, at most 32; together at most 4,096 characters of a
   * connection.
   *
   * @differs at most 32, and none that Dormouse sets itself
   */
  http_headers: { is: "texts", read: readHeaderNames },
  /**
   * The same of the headers in the client's connect command, which any client can choose.
   *
   * @differs at most 32
   */
  emulated_headers: { is: "texts", read: readHeaderNames },
} as const satisfies Options;

/** `http.*` of a backend. */
export const httpOptions = {
  /** Headers that every question has, unless the client brings one of the same name. */
  static_headers: { is: "map", read: readStaticHeaders },
  /** Refusals for which a response with another status than 200 stands; the first entry for a status counts. */
  status_to_code_transforms: {
    is: "sections",
    as: "statuses",
    read: readStatuses,
    of: {
      /**
       * The status of the response.
       *
       * @default required
       */
      status_code: { is: "whole", default: 400, min: 201, max: 599 },
      /** The error that the client's command is answered with. */
      to_error: {
        is: "section",
        of: {
          /** The code, from 100 on; 0 for no error. */
          code: { is: "whole", default: 0, min: 0, max: int32Max },
          /** The message beside the code. */
          message: { is: "text" },
          /** The client may repeat its command. */
          temporary: { is: "boolean" },
        },
      },
      /** The code with which the client's connection is closed. */
      to_disconnect: {
        is: "section",
        of: {
          /** The code, from 3000 on; 0 for none. */
          code: { is: "whole", default: 0, min: 0, max: 4_999 },
          /** The reason beside the code. */
          reason: { is: "text" },
        },
      },
    },
  },
} as const satisfies Options;

/** The options about the content of requests to a backend. */
export const contentOptions = {
  /** Payloads are sent in base64. */
  binary_encoding: { is: "boolean" },
  /** Questions have the connection's `meta`. */
  include_connection_meta: { is: "boolean", as: "includesMeta" },
} as const satisfies Options;

/** Reads a backend; undefined if it has no endpoint. */
export function readTarget(section: Section, name: string = section.path): HookTarget | undefined {
  const { endpoint } = readOptions(section, endpointOptions);
  const http = section.section("http");
  const target = {
    name,
    ...readOptions(section, askingOptions),
    ...readOptions(http, httpOptions),
    ...readOptions(section, contentOptions),
  };
  http.refuseOthers(unsupportedHookHttpKeys);
  section.refuseOthers(unsupportedHookKeys);
  return endpoint === undefined ? undefined : { ...target, endpoint };
}

/** Reads the endpoint. An invalid one isn't quoted, because it may contain a password by mistake. */
function readEndpoint(section: Section, name: string): HookEndpoint | undefined {
  const text = readText(section, name);
  if (text === "") return undefined;
  const endpoint = parseEndpoint(text, section.plainHttp);
  if (endpoint !== undefined) return endpoint;
  section.problem(
    name,
    /^grpcs?:/i.test(text)
      ? "is for GRPC, which is not supported by Dormouse: give the backend an HTTP endpoint"
      : `is neither "service:BINDING" nor ${urlMeaning(section.plainHttp)}`,
  );
  // After a problem the result is discarded.
  return { kind: "url", url: text };
}

function readHeaderNames(section: Section, name: string): readonly string[] {
  const names = readTexts(section, name, headerName).map((one) => one.toLowerCase());
  if (names.length > limits.hookHeadersMax)
    section.problem(name, `has more than ${limits.hookHeadersMax} entries`);
  const own = names.find((one) => ownHeaders.has(one));
  if (own !== undefined) section.problem(name, `has ${own}, which Dormouse sets itself`);
  return [...new Set(names)];
}

const headerName = {
  shape: /^[-!#$%&'*+.^_`|~0-9A-Za-z]{1,64}$/,
  meaning: "the name of a header",
};

/** Reads `http.static_headers`. Values may be secrets, and are never quoted. */
function readStaticHeaders(section: Section, key: string): readonly HookHeader[] {
  const given = section.take(key);
  if (given === undefined) return [];
  if (!isJsonObject(given)) {
    section.wrongType(key, given, "an object of strings");
    return [];
  }
  const headers: HookHeader[] = [];
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (!headerName.shape.test(name) || ownHeaders.has(lower))
      section.problem(
        key,
        "has a name that isn't one of a header, or of a header that Dormouse sets itself",
      );
    else if (typeof value !== "string" || !headerValue.test(value))
      section.problem(key, `has a value that isn't one of a header: ${name}`);
    else headers.push([lower, value]);
  }
  if (headers.length > limits.hookHeadersMax)
    section.problem(key, `has more than ${limits.hookHeadersMax} entries`);
  return headers;
}

const headerValue = new RegExp(
  `^(?:[\\x21-\\x7e](?:[\\t\\x20-\\x7e]{0,${hookLimits.hookStaticHeaderMax - 2}}[\\x21-\\x7e])?)?$`,
);

/** Headers of a hook's request that only the server may set: its signature, and those of its connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "dormouse-hook",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
]);

/** Reads `http.status_to_code_transforms`. */
function readStatuses(section: Section, key: string): ReadonlyMap<number, HookRefusal> {
  const {
    status_code: statusCode,
    to_error: toError,
    to_disconnect: toDisconnect,
  } = httpOptions.status_to_code_transforms.of;
  const sections = section.sections(key, "status_code", hookLimits.hookStatusesMax);
  const statuses = new Map<number, HookRefusal>();
  for (const one of sections) {
    one.demand("status_code");
    const status = readOption(one, "status_code", statusCode);
    const error = readError(one.section("to_error"), toError.of);
    const code = readDisconnect(one.section("to_disconnect"), toDisconnect.of);
    if ((error === undefined) === (code === undefined))
      one.problem("status_code", "requires either to_error or to_disconnect, with a code");
    // As in Centrifugo, the first entry for a status counts.
    else if (!statuses.has(status)) {
      if (error !== undefined) statuses.set(status, { outcome: "error", error });
      else if (code !== undefined) statuses.set(status, { outcome: "disconnect", code });
    }
    one.refuseOthers({});
  }
  return statuses;
}

function readError(section: Section, options: Transform["to_error"]["of"]): ErrorCode | undefined {
  const error = readOptions(section, options);
  if (error.code > 0 && error.code < 100)
    section.problem("code", "is under 100, which only clients use themselves");
  section.refuseOthers({});
  return error.code === 0 ? undefined : error;
}

function readDisconnect(
  section: Section,
  options: Transform["to_disconnect"]["of"],
): DisconnectCode | undefined {
  const { code, reason } = readOptions(section, options);
  if (code > 0 && code < 3_000) section.problem("code", "is not from 3000 to 4999");
  if (!isDisconnectReason(reason))
    section.problem(
      "reason",
      `has more than ${limits.disconnectReasonBytesMax} bytes, or is valid JSON`,
    );
  section.refuseOthers({});
  return code === 0 ? undefined : { code, reason };
}

type Transform = (typeof httpOptions)["status_to_code_transforms"]["of"];

/**
 * Whether a text passes through a WebSocket's close frame. JavaScript clients take a reason that is valid JSON for the
 * form of an older protocol (docs/protocol.md 1.8).
 */
export function isDisconnectReason(reason: string): boolean {
  return utf8Fits(reason, limits.disconnectReasonBytesMax) && parseJsonText(reason) === undefined;
}

/** A backend of a hook: `client.proxy.connect`, `channel.proxy.subscribe`, each of `proxies` and so on. */
export const unsupportedHookKeys: UnsupportedKeys = {
  grpc_metadata: not,
  grpc: not,
};

/** `http` of a backend. */
export const unsupportedHookHttpKeys: UnsupportedKeys = {
  tls: { refusal: "is not supported by Dormouse: the runtime checks the backend's certificate" },
};
