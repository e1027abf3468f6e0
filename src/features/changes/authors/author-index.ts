import { everyOptions } from "../../../config/config.ts";
import { limits } from "../../../limits.ts";
import { answerOf } from "../../../object/object-call.ts";
import type { PartedHome } from "../../../object/part.ts";
import {
  channelColumns,
  forgottenColumns,
  UserIndex,
  UserIndexTable,
} from "../../cursors/forgetting/user-index.ts";

/** Knows in a home to which channels clients of its users have published, and has these publications erased (rule ED18). */
export class AuthorIndex extends UserIndex {
  /** Whether there are channels of a user that had no room. */
  isIncomplete(user: string): boolean {
    return this.table.has(user, noRoom);
  }

  /** A channel that has reported too late is called as if it had been known; it never has to erase by itself. */
  protected override deletes(outcome: "late" | "full", user: string, channel: string): boolean {
    switch (outcome) {
      case "late":
        this.table.reopen(user, channel, this.home.platform.nowMs());
        this.pass(user);
        break;
      case "full":
        this.table.note(user, noRoom);
        break;
    }
    return false;
  }

  /** A channel has forgotten a user once the erasure is done everywhere (rule ED16). */
  protected override call(
    user: string,
    channel: string,
    done: (isForgotten: boolean) => void,
  ): void {
    const erase = { method: "erase", request: { epoch: "", user } } as const;
    this.home.platform.call("execute", channel, [[erase]], limits.objectAnswerMs, (reply) => {
      const answers = answerOf(reply);
      const [answer] = answers?.outcome === "answers" ? answers.answers : [];
      done(answer !== undefined && "result" in answer);
    });
  }
}

/** The name that stands for channels of a user that had no room. No channel has it. */
const noRoom = "";

/** Makes the index of a home; undefined if no publications can be erased by their users, and never could. */
export function newAuthorIndex(home: PartedHome): AuthorIndex | undefined {
  const { config, platform } = home;
  const table = new UserIndexTable(platform.sql, {
    channels: "author_channel",
    forgotten: "erased_author",
    create: [
      `CREATE TABLE author_channel ${channelColumns}`,
      `CREATE TABLE erased_author ${forgottenColumns}`,
    ],
  });
  const isKept = everyOptions(config.channel).some(({ changes }) => changes?.erasableByUser);
  return isKept || table.exists ? new AuthorIndex(home, table) : undefined;
}
