import type { Context } from "hono";
import type { Config, HookRefusal, HookTarget } from "../../../src/config/config.ts";
import { fitsUntilConnect } from "../../../src/contract/attachment.ts";
import { encodeHandover, type Handover } from "../../../src/contract/handover.ts";
import type { HookHeader, KeptHeaders } from "../../../src/contract/session-snapshot.ts";
import {
  afterConnect,
  fitHeaders,
  handshakeHeaders,
  headersFor,
  withEmulated,
  withTrace,
} from "../../../src/features/hooks/headers.ts";
import { type HookRefused, reasonOf } from "../../../src/features/hooks/hooks.ts";
import { hookRequest } from "../../../src/features/hooks/request.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { ConnectRequest } from "../../../src/protocol/command.ts";
import {
  type ConnectAnswer,
  connectAnswer,
  tooLarge,
} from "../../../src/features/hooks/connect-answer.ts";
import { connectQuestion } from "../../../src/session/ports.ts";
import { protocolOf, transportName } from "../../../src/session/connection-state.ts";
import type { Configured } from "../../platform/configuration.ts";
import { sendQuestion } from "../../platform/backend-entrypoint.ts";
import { AddressRate, upgradeRate } from "../../http/client-address.ts";
import { addressOf } from "../../http/endpoints.ts";
import type { AppEnv } from "../../http/app-env.ts";
import type { Admitted, ClientTransport } from "../../http/placement.ts";
import { busyRetrySeconds, respondBusy, respondText } from "../../http/responses.ts";
import { SharedHooks } from "./shared-hooks.ts";

/** What the edge knows of a client, after a backend was asked about it. */
export type ConnectHookOutcome =
  | ({ readonly outcome: "admitted" } & Admitted)
  /** The client gets the refusal as an object would send it. */
  | { readonly outcome: "refused"; readonly refusal: HookRefusal }
  /** The request is answered before there is a connection. */
  | { readonly outcome: "answered"; readonly response: Response };

/** Whether the edge asks a backend about clients without a token (rule Q10). */
export function asksAtUpgrade({ hooks }: Config): boolean {
  return hooks.connect !== undefined && hooks.connectAt === "upgrade";
}

/** The headers of a handshake that hooks get; undefined: none; "too-large": more than a session can keep (rule B2). */
export function headersForHooks(
  { hooks: { targets } }: Config,
  request: Headers,
): readonly HookHeader[] | "too-large" | undefined {
  if (targets.size === 0) return undefined;
  const headers = handshakeHeaders(targets, (name) => request.get(name));
  return headers === undefined || fitHeaders({ http: headers }) ? headers : "too-large";
}

/**
 * Asks a backend about a client, if the configuration wants this at the upgrade, and the client brings no token (rule
 * Q10). No object is called earlier.
 *
 * @param admitted what is known of the client, whose origin was checked
 * @param client   what is known of its connection
 * @param request  its connect request, where that comes with the upgrade
 */
export async function askAboutClient(
  context: Context<AppEnv>,
  admitted: Admitted,
  client: ClientTransport,
  request?: ConnectRequest,
): Promise<ConnectHookOutcome> {
  const configured = context.get("configured");
  const { hooks } = configured.config;
  const { connect: target } = hooks;
  const hasToken = admitted.claims !== undefined || (request?.token ?? "") !== "";
  if (target === undefined || hooks.connectAt !== "upgrade" || hasToken)
    return { outcome: "admitted", ...admitted };
  const http = admitted.headers === undefined ? {} : { http: admitted.headers };
  const headers = withEmulated(hooks.targets, http, request?.headers ?? new Map());
  if (!fitHeaders(headers)) {
    const error = errorCodes.limitExceeded;
    const reason = "the headers that hooks get are too large";
    context.set("refusal", { rule: "B2", reason, code: error.code });
    return { outcome: "refused", refusal: { outcome: "error", error } };
  }
  if (!edgeOf(configured).perAddress.admits(addressOf(context), Date.now())) {
    context.set("refusal", {
      rule: "B25",
      reason: "the client's address causes questions too fast",
    });
    return { outcome: "answered", response: respondBusy(busyRetrySeconds()) };
  }
  const id = crypto.randomUUID();
  const { traceparent } = admitted;
  const asked = await ask(context, target, { id, headers, traceparent, client, request });
  switch (asked.outcome) {
    case "admitted":
    case "no-credentials":
      break;
    case "error":
    case "disconnect":
    case "failed":
      return refusedBy(context, target, asked);
  }
  if (asked.outcome === "no-credentials" && configured.config.client.requireEdgeToken) {
    const reason = "the backend gave no credentials, and client.require_edge_token is on";
    context.set("refusal", { rule: "Q10", reason });
    return { outcome: "answered", response: respondText(401, "token required") };
  }
  const known = handedOver(configured.config, admitted, id, asked);
  if (!fits(known)) return refusedBy(context, target, tooLarge);
  return { outcome: "admitted", ...known };
}

/** The client of a question. */
interface AskedAbout {
  /** The connection's ID. */
  readonly id: string;
  readonly headers: KeptHeaders;
  /** The trace of the request (rule X1). */
  readonly traceparent: string | undefined;
  readonly client: ClientTransport;
  readonly request: ConnectRequest | undefined;
}

async function ask(
  context: Context<AppEnv>,
  target: HookTarget,
  { id, headers, traceparent, client, request }: AskedAbout,
): Promise<ConnectAnswer> {
  const configured = context.get("configured");
  const about = {
    client: id,
    transport: transportName(client),
    protocol: protocolOf(client),
    user: "",
  };
  const question = {
    hook: "connect",
    body: hookRequest(
      about,
      { hook: "connect", ...connectQuestion(request) },
      target.binaryEncoding,
    ),
    headers: withTrace(headersFor(target, headers), traceparent),
    asker: id,
  } as const;
  const answer = await edgeOf(configured).hooks.ask(target, question, (one) =>
    sendQuestion(one, target, configured, context.env),
  );
  return connectAnswer(answer, configured.config.hooks, Date.now());
}

/** What the requests of this isolate share. */
interface Edge {
  readonly hooks: SharedHooks;
  /** Bounds the questions about clients of one address, so that it doesn't take the turns of all others (rule B25). */
  readonly perAddress: AddressRate;
}

function edgeOf(configured: Configured): Edge {
  const known = edges.get(configured);
  if (known !== undefined) return known;
  const edge = { hooks: new SharedHooks(), perAddress: new AddressRate(upgradeRate) };
  edges.set(configured, edge);
  return edge;
}

const edges = new WeakMap<Configured, Edge>();

/** What the object gets: the headers of further hooks only, and what the backend gave. */
function handedOver(
  { hooks }: Config,
  { headers: http, traceparent, address }: Admitted,
  client: string,
  answer: Exclude<ConnectAnswer, HookRefused>,
): Admitted {
  const headers = http === undefined ? undefined : afterConnect(hooks.targets, { http })?.http;
  const rest = {
    ...(headers === undefined ? {} : { headers }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(address === undefined ? {} : { address }),
  };
  if (answer.outcome === "no-credentials") return { ...rest, asked: { client } };
  const { claims, data } = answer;
  return { ...rest, claims, asked: { client, ...(data === undefined ? {} : { data }) } };
}

/** Whether the object can take it, and keep it until the client's connect (rule B2). */
function fits({ claims, headers: http, traceparent, asked }: Admitted): boolean {
  const { data } = asked ?? {};
  const handover: Handover = {
    v: 1,
    keepalive: "server",
    ...(claims === undefined ? {} : { claims }),
    ...(asked === undefined ? {} : { asked }),
  };
  return (
    encodeHandover(handover).length <= limits.hookHandoverLengthMax &&
    fitsUntilConnect({
      ...(claims === undefined ? {} : { claims }),
      ...(http === undefined ? {} : { headers: { http } }),
      ...(traceparent === undefined ? {} : { traceparent }),
      atUpgrade: data === undefined ? {} : { data },
    })
  );
}

/** A client that a backend refuses, or that comes back later because the backend can't be asked now (rule Q5). */
function refusedBy(
  context: Context<AppEnv>,
  target: HookTarget,
  refused: HookRefused,
): ConnectHookOutcome {
  const why = { rule: "Q5", reason: reasonOf(refused, target) };
  if (refused.outcome === "failed" && refused.error.temporary) {
    context.set("refusal", why);
    return { outcome: "answered", response: respondBusy(busyRetrySeconds()) };
  }
  const refusal =
    refused.outcome === "failed" ? ({ outcome: "error", error: refused.error } as const) : refused;
  const { code } = refusal.outcome === "disconnect" ? refusal.code : refusal.error;
  context.set("refusal", { ...why, code });
  return { outcome: "refused", refusal };
}
