import { Centrifuge } from "centrifuge";

/** The SDK's own decoder of deltas, which it doesn't export. It throws if a delta doesn't fit what it is applied to. */
export const sdkCodec: {
  applyDeltaIfNeeded(
    publication: { readonly data: unknown; readonly delta: boolean },
    base: Uint8Array | undefined,
  ): { readonly newData: unknown; readonly newPrevValue: Uint8Array };
} = Reflect.get(new Centrifuge("ws://127.0.0.1:1"), "_codec");
