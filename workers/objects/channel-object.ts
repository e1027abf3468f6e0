import type { ChannelAnswers, ChannelOperation } from "../../src/contract/channel-call.ts";
import type { OwnSubscribers } from "../../src/contract/listing.ts";
import type { ChannelCalls } from "../../src/contract/object-calls.ts";
import type { RelayReplies, RelayRequest } from "../../src/contract/relay-request.ts";
import { channelCalls } from "../../src/features/index.ts";
import { ChannelHost } from "../../src/object/channel-host.ts";
import type { CallAnswer, CallRequest } from "../../src/object/object-call.ts";
import type { Env } from "../platform/env.ts";
import { answerOrThrow, SessionObject, type WrittenCalls } from "./session-object.ts";

/** The object of one channel, which is named after it. */
export class ChannelObject
  extends SessionObject<ChannelHost>
  implements WrittenCalls<ChannelCalls>
{
  constructor(context: DurableObjectState, env: Env) {
    super(context, env, (platform, config) => new ChannelHost(platform, config), channelCalls);
  }

  // The calls' contract is in src/contract/object-calls.ts.
  execute(commands: readonly ChannelOperation[], carries?: boolean): Promise<ChannelAnswers> {
    return answerOrThrow((done) => this.host.execute(commands, carries, done));
  }

  ask(
    gateway: string,
    requests: readonly RelayRequest[],
    carries?: boolean,
  ): Promise<RelayReplies> {
    return answerOrThrow((done) => this.host.ask(gateway, requests, carries, done));
  }

  present(...[shown]: CallRequest<"present">): Promise<CallAnswer<"present">> {
    return new Promise((resolve) => this.host.present(shown, resolve));
  }

  async ownSubscribers(): Promise<OwnSubscribers> {
    return this.host.ownSubscribers();
  }
}
