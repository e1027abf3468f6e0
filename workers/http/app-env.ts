import type { ApiKey } from "../../src/access/api-keys.ts";
import type { Refusal } from "../../src/access/refusal.ts";
import type { ChannelAnswers } from "../../src/contract/channel-call.ts";
import type { JsonText } from "../../src/protocol/json/text.ts";
import type { Configured } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";

/**
 * The context of handlers: the bindings, the configuration, the key if `authenticate` has checked it, and the body if
 * `jsonBody` has read it. A refusal is what a handler says of it, and as it is noted.
 */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    configured: Configured;
    apiKey: ApiKey;
    request: JsonText;
    refusal?: RefusedRequest;
    noted?: Refusal;
    /** Absent where nothing is counted. */
    counts?: CarriedCounts;
  };
}

/** Why the edge refuses a request: what a handler knows of it. The log adds the rest, see `logRefusal`. */
export type RefusedRequest = Pick<Refusal, "rule" | "reason"> & Partial<Refusal>;

/** Takes what channels' objects hand over with their answers: what they have counted (rule J7). */
export interface CarriedCounts {
  hasRoom(): boolean;
  take(answers: ChannelAnswers): void;
}
