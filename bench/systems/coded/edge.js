/** The entry of the bench's server with code: that of the stand-alone server, and a procedure with one key and one publication. */
import { channel } from "../../../src/features/procedures/definition.ts";
import { useChannels } from "../../../workers/platform/channel-code.ts";

useChannels({
  code: channel({
    procedures: {
      say(ctx, args) {
        const said = (ctx.get("said") ?? 0) + 1;
        ctx.set("said", said);
        ctx.publish(args);
        return said;
      },
    },
  }),
});

export * from "../../../workers/edge.ts";
export { default } from "../../../workers/edge.ts";
