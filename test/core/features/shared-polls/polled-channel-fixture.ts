import { OwnTracking } from "../../../../src/features/shared-polls/local-tracks.ts";
import { SharedPoll } from "../../../../src/features/shared-polls/shared-poll.ts";
import type { ObjectPart } from "../../../../src/object/part.ts";
import { json } from "../../api/channel-config.ts";
import { ChannelFixture } from "../../session/channel-fixture.ts";

/** A channel that may be a shared poll, and its sessions. */
export class PolledChannelFixture extends ChannelFixture {
  /** The keys of the channel; undefined unless it is a shared poll. */
  get poll(): SharedPoll | undefined {
    return this.channel.parts.find((part) => part instanceof SharedPoll);
  }

  /** Answers all questions to the backend of a shared poll with these values, and sends what has changed. */
  answerPolls(values: Readonly<Record<string, string>>, epoch = ""): void {
    const sharedPoll = this.poll;
    for (let next = sharedPoll?.ask(this.nowMs); next !== undefined;) {
      const items = next.items.flatMap(({ key }) => {
        const data = values[key];
        return data === undefined ? [] : [{ key, data: json(data), version: undefined }];
      });
      sharedPoll?.answered(next, { items, epoch }, this.nowMs);
      next = sharedPoll?.ask(this.nowMs);
    }
    for (const part of this.parts) {
      part.settle?.(this.nowMs);
      while (part.sending === true) part.sendSlice?.();
    }
  }

  protected override newParts(): readonly ObjectPart[] {
    const { poll, channel, config } = this;
    const { sharedPoll } = channel.options;
    return poll && sharedPoll ? [new OwnTracking(poll, sharedPoll, channel.name, config)] : [];
  }
}
