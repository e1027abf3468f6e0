import type { RealtimeService } from "dormouse-realtime";
import type { Actions } from "./$types";

export const actions: Actions = {
  default: async ({ request, platform }) => {
    const realtime: RealtimeService = platform?.ctx.exports.RealtimeEntrypoint;
    const form = await request.formData();
    await realtime.publish("news:all", { text: form.get("text") });
  },
};
