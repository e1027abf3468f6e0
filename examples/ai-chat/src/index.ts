import { convertToModelMessages, isStepCount, streamText, type UIMessage } from "ai";
import { defineConfig, dormouse, type RealtimeBindings } from "dormouse-realtime";
import { takeChatRequest, type Turn, withEnv } from "dormouse-realtime/ai";
import { GenerationObject } from "dormouse-realtime/ai/object";
import { Hono } from "hono";
import { model, toolApproval, tools } from "./model";

export {
  BackendEntrypoint,
  ChannelObject,
  GatewayObject,
  MetricsObject,
  RealtimeEntrypoint,
  UsersObject,
} from "dormouse-realtime";

interface Bindings extends RealtimeBindings {
  readonly GENERATIONS: DurableObjectNamespace<Generations>;
}

const realtime = dormouse<{ Bindings: Bindings }>({
  prefix: "/realtime",
  config: defineConfig({
    channel: {
      namespaces: [
        {
          name: "chat",
          subscription_type: "map",
          allow_subscribe_for_client: true,
          allowed_delta_types: ["fossil"],
          map: { mode: "recoverable", key_ttl: "720h", append_window: "250ms" },
        },
      ],
    },
  }),
  // Nobody logs in: whoever has the link of a chat may read it and write. A real application has its own sessions here.
  user: () => "somebody",
});

/** Writes an answer, whatever becomes of the request that asked for it. */
export class Generations extends GenerationObject<Bindings, UIMessage[]> {
  protected override realtime() {
    return withEnv(realtime, this.env);
  }

  protected override async generate(messages: UIMessage[], { signal }: Turn) {
    const result = streamText({
      model: model(messages),
      // Somebody may write on, and leave a question of a tool open.
      messages: await convertToModelMessages(messages, { ignoreIncompleteToolCalls: true }),
      tools,
      toolApproval,
      stopWhen: isStepCount(3),
      abortSignal: signal,
    });
    return result.toUIMessageStream();
  }
}

const app = new Hono<{ Bindings: Bindings }>();

app.route("/realtime", realtime.app);
app.post("/api/chat", async (context) => {
  const body = await context.req.json<{ id: string }>();
  const channel = `chat:${body.id}`;
  const taken = await takeChatRequest(withEnv(realtime, context.env), channel, body);
  if (taken !== undefined) {
    const { answerId, messages, begun } = taken;
    const generation = context.env.GENERATIONS.getByName(answerId);
    await generation.begin({ channel, messageId: answerId, job: messages, begun });
  }
  return context.body(null, 202);
});

export default { fetch: app.fetch, queue: realtime.queue };
