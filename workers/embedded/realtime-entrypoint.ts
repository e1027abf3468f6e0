import type { ApiKey } from "../../src/access/api-keys.ts";
import { BackendEntrypoint } from "../platform/backend-entrypoint.ts";
import { configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import type { ApiResults } from "./api-types.ts";
import { carryOut } from "./commands.ts";
import {
  broadcastRequest,
  type JsonData,
  methodNames,
  type Methods,
  publishRequest,
  type PublishOptions,
} from "./realtime-methods.ts";

/**
 * What another Worker of the same account calls by a service binding, without HTTP and without a key:
 *
 * ```toml
 * services = [{ binding = "REALTIME", service = "mine", entrypoint = "RealtimeEntrypoint", props = { name = "orders" } }]
 * ```
 *
 * The binding's `props.name` says who calls. If `http_api.keys` has that name, its rights count; else the caller may do
 * everything, as whoever deploys Workers of the account can.
 */
export class RealtimeEntrypoint extends BackendEntrypoint {
  /** As {@link Realtime.publish} of the Worker itself. */
  publish(
    channel: string,
    data: JsonData,
    options?: PublishOptions,
  ): Promise<ApiResults["publish"]> {
    const request = publishRequest(channel, data, options);
    return carryOut(this.env, "publish", request, callerOf(this.env, this.ctx.props));
  }

  /** As {@link Realtime.broadcast} of the Worker itself. */
  broadcast(
    channels: readonly string[],
    data: JsonData,
    options?: Omit<PublishOptions, "ifOffset">,
  ): Promise<ApiResults["broadcast"]> {
    const request = broadcastRequest(channels, data, options);
    return carryOut(this.env, "broadcast", request, callerOf(this.env, this.ctx.props));
  }

  static {
    // The platform lets a binding call what is on the prototype.
    for (const name of methodNames())
      Object.defineProperty(this.prototype, name, {
        value(this: RealtimeEntrypoint, params?: object) {
          return carryOut(this.env, name, { ...params } as never, callerOf(this.env, this.ctx.props));
        },
      });
  }
}

/** The methods that take what the HTTP API takes. */
export interface RealtimeEntrypoint extends Methods<[]> {}

/** Whose rights count: those of the key of `http_api.keys` with the name in the binding's `props`. */
function callerOf(env: Env, props: unknown): ApiKey {
  const given: unknown =
    typeof props === "object" && props !== null ? Reflect.get(props, "name") : undefined;
  const name = typeof given === "string" && given !== "" ? given : "a service binding";
  const configuration = configurationOf(env);
  if (configuration.outcome === "unconfigured") return { name };
  const key = configuration.config.httpApi.keys.find((one) => one.name === name);
  return key === undefined ? { name } : { name, rights: key.rights };
}
