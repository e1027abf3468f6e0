import { createApp } from "./http/app.ts";
import type { Env } from "./platform/env.ts";

export { ChannelObject } from "./objects/channel-object.ts";
export { GatewayObject } from "./objects/gateway-object.ts";

// Made at the first request: an isolate that starts only for an object never needs it.
let app: ReturnType<typeof createApp> | undefined;

export default {
  /** Every request to the Worker. */
  fetch(request, env, context) {
    app ??= createApp();
    return app.fetch(request, env, context);
  },
} satisfies ExportedHandler<Env>;
