// The objects come first: in this order the modules of the bundle compress best.
export { RealtimeEntrypoint } from "./embedded/realtime-entrypoint.ts";
export { BackendEntrypoint } from "./platform/backend-entrypoint.ts";
export { GatewayObject } from "./objects/gateway-object.ts";
export { UsersObject } from "./objects/users-object.ts";
export { ChannelObject } from "./objects/channel-object.ts";
export { MetricsObject } from "./features/index.ts";
import { takeMessages } from "./features/index.ts";
import { createApp } from "./http/app.ts";
import type { Env } from "./platform/env.ts";

// Created by the first request, because an isolate that starts only for an object doesn't need it.
let app: ReturnType<typeof createApp> | undefined;

export default {
  /** Answers every request to the Worker. */
  fetch(request, env, context) {
    app ??= createApp();
    return app.fetch(request, env, context);
  },
  /** Carries out the messages of a queue of which the Worker is the consumer. */
  queue(batch, env) {
    return takeMessages(batch, env);
  },
} satisfies ExportedHandler<Env>;
