import { limits } from "../../../limits.ts";
import { answerOf } from "../../../object/object-call.ts";
import type { PartedHome } from "../../../object/part.ts";
import { cursorMethodsOf } from "../client-methods.ts";
import { channelColumns, forgottenColumns, UserIndex, UserIndexTable } from "./user-index.ts";

/** Knows in a home which channels keep marks or memberships of its users (rule CU31). */
export class ChannelIndex extends UserIndex {
  /** Nothing stays that the home couldn't find again (rules CU32 and CU34). */
  protected override deletes(): boolean {
    return true;
  }

  protected override call(
    user: string,
    channel: string,
    done: (isForgotten: boolean) => void,
  ): void {
    const { platform } = this.home;
    platform.call("forgetUserHere", channel, [{ user }], limits.objectAnswerMs, (reply) =>
      done(answerOf(reply) !== undefined),
    );
  }
}

/** Makes the index of a home; undefined if nothing is kept of users, and never was. */
export function newChannelIndex(home: PartedHome): ChannelIndex | undefined {
  const { config, platform } = home;
  const table = new UserIndexTable(platform.sql, {
    channels: "user_channel",
    forgotten: "forgotten_user",
    create: [
      `CREATE TABLE user_channel ${channelColumns}`,
      `CREATE TABLE forgotten_user ${forgottenColumns}`,
    ],
  });
  const isKept = cursorMethodsOf(config) !== undefined || table.exists;
  return isKept ? new ChannelIndex(home, table) : undefined;
}
