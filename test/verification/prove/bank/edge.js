/** The entry of the proof's server: that of the stand-alone server, with the code of banks. */
import { useChannels } from "../../../../workers/platform/channel-code.ts";
import { bank } from "../../bank/bank.ts";

useChannels({ bank: bank(false), vault: bank(true) });

export * from "../../../../workers/edge.ts";
export { default } from "../../../../workers/edge.ts";
