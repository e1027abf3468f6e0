import type { AddedChannelCalls } from "../../../contract/object-calls.ts";
import type { MakeCall } from "../../../object/object-call.ts";
import type { AddedCalls, PartedChannelObject } from "../../../object/part.ts";
import type { MirrorToldReply } from "../../maps/mirror/mirror-map.ts";
import type { ReceiptsAnswer, ReceiptsQuestion, ReceiptsTold } from "./receipts-call.ts";
import { ReceiptsDriver, ReceiptsMapDriver } from "./receipts-driver.ts";

declare module "../../../contract/object-calls.ts" {
  interface AddedChannelCalls {
    /** Takes what users of a channel have read, where this one is its receipts (rule CU39). */
    receiptsTold(told: ReceiptsTold): Promise<MirrorToldReply>;
    /** Lists what the channel's receipts show (rule CU38). */
    listReceipts(question: ReceiptsQuestion): Promise<ReceiptsAnswer>;
  }
}

type ReceiptsCalls = Pick<AddedChannelCalls, "receiptsTold" | "listReceipts">;

/** Makes the calls. */
export const receiptsCallers: { readonly [Name in keyof ReceiptsCalls]: MakeCall<Name> } = {
  receiptsTold: (objects, to, request) =>
    objects.channel(to, (object) => object.receiptsTold(...request)),
  listReceipts: (objects, to, request) =>
    objects.channel(to, (object) => object.listReceipts(...request)),
};

/** The calls between the object of a channel and that of its receipts. */
export const receiptsCalls: AddedCalls<ReceiptsCalls, PartedChannelObject> = {
  receiptsTold: {
    answer(object, [told], done) {
      object.happened("presence");
      const driver = object.part(ReceiptsMapDriver);
      if (driver === undefined) done({ outcome: "left" });
      else driver.told(told, done);
    },
  },
  listReceipts: {
    answer(object, [{ receipts }], done) {
      object.happened("presence");
      const driver = object.part(ReceiptsDriver);
      if (driver === undefined) done({ outcome: "none" });
      else driver.list(receipts, done);
    },
  },
};
