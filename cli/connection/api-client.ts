import type { OperationName } from "../../src/access/operations.ts";
import type { Shaped } from "../../src/api/shape.ts";
import type { ShapeOf } from "../openapi/request.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { parseAnswer, type PayloadText, requestBody } from "../text/payload-text.ts";
import { failureCause } from "./failure-cause.ts";
import { neededSecret, serverAddress, type ServerOptions } from "./settings.ts";
import { exitCodes, Failure, refusal, type Shell } from "../shell.ts";
import { shown } from "../text/printable.ts";

/** The server's answer to one call of the HTTP API (docs/protocol.md 6.1). */
export type ApiAnswer =
  | { readonly outcome: "result"; readonly result: JsonObject }
  /** The call was refused, with the API's code and the server's detail, if it gave one. */
  | { readonly outcome: "error"; readonly code: number; readonly message: string }
  /** The request wasn't taken as one of the API; with the server's detail, if it gave one. */
  | {
      readonly outcome: "status";
      readonly status: number;
      readonly text: string;
      readonly detail?: string;
    }
  | { readonly outcome: "unreachable"; readonly cause: string };

type StatusAnswer = Extract<ApiAnswer, { outcome: "status" }>;

/** A method of the API (src/access/operations.ts). */
type CalledName = OperationName | "batch";

/** The parameters of a method: the fields of its shape, and those that the server cuts from the text of the request. */
export type ApiParams<Name extends CalledName> = Name extends OperationName
  ? FieldsOf<Shaped<ShapeOf<Name>>> & CutFields
  : { readonly commands: readonly object[] };

type FieldsOf<Fields> = { readonly [Name in keyof Fields]?: Readonly<Fields[Name]> | undefined };

interface CutFields {
  readonly data?: string | PayloadText;
  readonly args?: PayloadText;
  readonly version?: number;
}

/** Calls the HTTP API of a server with one key. */
export class ApiClient {
  readonly address: string;
  readonly #key: string;

  /** @param address without a slash at its end */
  constructor(address: string, key: string) {
    this.address = address;
    this.#key = key;
  }

  /**
   * The client that a command line asks for.
   *
   * @throws {Failure} if the address or the key is missing or wrong
   */
  static of(options: ServerOptions, shell: Shell): ApiClient {
    return new ApiClient(serverAddress(options, shell), neededSecret("API_KEY", options, shell));
  }

  /** Calls a method. */
  call<Name extends CalledName>(method: Name, params: ApiParams<Name>): Promise<ApiAnswer> {
    return this.post(method, requestBody(params));
  }

  /**
   * Calls a method with a body that is written already.
   *
   * @param stop ends the request before it is answered
   */
  async post(method: CalledName, body: string, stop?: AbortSignal): Promise<ApiAnswer> {
    const signals = [AbortSignal.timeout(waitMs), ...(stop === undefined ? [] : [stop])];
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${this.address}/api/${method}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": this.#key },
        body,
        signal: AbortSignal.any(signals),
        // A redirect could lead the key to another server.
        redirect: "manual",
      });
      text = await response.text();
    } catch (error) {
      return { outcome: "unreachable", cause: causeOf(error) };
    }
    if (!response.ok && response.status !== 503) return statusOf(response, text);
    return answerOf(response, text);
  }

  /**
   * Calls a method, and gives its result.
   *
   * @throws {Failure} for any other answer
   */
  async result<Name extends CalledName>(
    method: Name,
    params: ApiParams<Name>,
  ): Promise<JsonObject> {
    const answer = await this.call(method, params);
    if (answer.outcome === "result") return answer.result;
    throw this.failure(answer);
  }

  /** The failure that an answer without a result means. */
  failure(answer: Exclude<ApiAnswer, { outcome: "result" }>): Failure {
    switch (answer.outcome) {
      case "error":
        return refusal(`the server answers ${answer.code}: ${answer.message}`);
      case "status":
        return refusal(explained(answer));
      case "unreachable":
        return new Failure(
          `${this.address} can't be reached: ${answer.cause}`,
          exitCodes.unreachable,
        );
    }
  }
}

function answerOf(response: Response, text: string): ApiAnswer {
  const body = parseObject(text);
  // A batch has no result around its replies.
  const result = body?.["replies"] === undefined ? body?.["result"] : body;
  if (result !== undefined && isJsonObject(result)) return { outcome: "result", result };
  const error = body?.["error"];
  if (error === undefined || !isJsonObject(error)) return statusOf(response, text);
  const detail = detailOf(response);
  const message = `${shown(error["message"])}${detail === null ? "" : ` (${detail})`}`;
  return { outcome: "error", code: Number(error["code"]), message };
}

function statusOf(response: Response, text: string): ApiAnswer {
  const detail = detailOf(response);
  return {
    outcome: "status",
    status: response.status,
    text,
    ...(detail !== null && { detail }),
  };
}

/** The server's own word for a person on what is wrong. */
function detailOf({ headers }: Response): string | null {
  return headers.get("X-Dormouse-Error-Detail");
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseAnswer(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller explains the status.
  }
}

/** What an answer that isn't one of the API means. */
export function explained({ status, text, detail }: StatusAnswer): string {
  switch (status) {
    case 200:
      return "what answers there isn't Dormouse's HTTP API (status 200)";
    case 401:
      return "the server refuses the key: API_KEY is another one there (status 401)";
    case 404:
    case 405:
      return `the server doesn't know the method, or isn't Dormouse: in a Worker of your own it is below a prefix, as in --url https://example.com/realtime (status ${status})`;
    case 413:
      return "the request is larger than the server takes (status 413)";
    case 503:
      return `the server isn't configured or is overloaded (status 503): ${text.trim().replaceAll("\n", "; ")}`;
    default:
      return `the server answers with status ${status}${detail === undefined ? "" : `: ${detail}`}`;
  }
}

/** The reason for which `fetch` failed, which its error has in its cause. */
function causeOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError")
    return `no answer within ${waitMs / 1_000} seconds`;
  return failureCause(error);
}

/** Longer than any call of the API takes (docs/protocol.md 6.2). */
const waitMs = 35_000;
