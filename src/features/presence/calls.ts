import type { AddedChannelCalls } from "../../contract/object-calls.ts";
import type { MakeCall } from "../../object/object-call.ts";
import type { AddedCalls, PartedChannelObject } from "../../object/part.ts";
import type { MirrorToldReply } from "../maps/mirror/mirror-map.ts";
import type { PresenceTold } from "./presence-call.ts";
import { PresenceMapDriver } from "./presence-driver.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedChannelCalls {
    /** Takes who came and went on a channel, where this one is its presence map (rule Z27). */
    presenceTold(told: PresenceTold): Promise<MirrorToldReply>;
  }
}

type PresenceCalls = Pick<AddedChannelCalls, "presenceTold">;

/** Makes the call. */
export const presenceCallers: { readonly presenceTold: MakeCall<"presenceTold"> } = {
  presenceTold: (objects, to, request) =>
    objects.channel(to, (object) => object.presenceTold(...request)),
};

/** The call with which a channel's object tells the object of its presence map. */
export const presenceCalls: AddedCalls<PresenceCalls, PartedChannelObject> = {
  presenceTold: {
    answer(object, [told], done) {
      object.happened("presence");
      const driver = object.part(PresenceMapDriver);
      if (driver === undefined) done({ outcome: "left" });
      else driver.told(told, done);
    },
  },
};
