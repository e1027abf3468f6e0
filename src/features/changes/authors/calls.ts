/** The calls between channels and homes about authors. During a deploy the two sides may be one release apart (rule V1). */
import type { AddedHomeCalls } from "../../../contract/object-calls.ts";
import type { Ordered } from "../../../contract/user-order.ts";
import type { MakeCall } from "../../../object/object-call.ts";
import type { AddedCalls, PartedHome } from "../../../object/part.ts";
import type { ForgottenHere, KeptAnswer, ToldUsers } from "../../cursors/calls.ts";
import { AuthorIndex } from "./author-index.ts";

declare module "../../../contract/object-calls.ts" {
  interface AddedHomeCalls {
    /** Takes the users whose clients have published to a channel (rule ED18). */
    keepAuthors(told: ToldUsers): Promise<KeptAnswer>;
    /** Has all channels erase what a user has published. @returns when all have, or when the time is over */
    forgetAuthor(request: ForgottenHere): Promise<ForgottenAuthor>;
  }
}

/** The answer about an author. */
interface ForgottenAuthor {
  readonly ordered: Ordered;
  /** The user has published to more channels than the home knows. Absent: it knows all. */
  readonly incomplete?: true;
}

/** Makes these calls, and that of the API to a channel, which a home makes. */
export const authorCallers: AuthorCallers = {
  keepAuthors: (objects, to, request) =>
    objects.home(to, (object) => object.keepAuthors(...request)),
  forgetAuthor: (objects, to, request) =>
    objects.home(to, (object) => object.forgetAuthor(...request)),
  execute: (objects, to, request) => objects.channel(to, (object) => object.execute(...request)),
};

/** An interface, because declarations of the package then import this file, which declares the calls. */
export interface AuthorCallers {
  readonly keepAuthors: MakeCall<"keepAuthors">;
  readonly forgetAuthor: MakeCall<"forgetAuthor">;
  readonly execute: MakeCall<"execute">;
}

/** How a home carries them out. */
export const authorHomeCalls: AddedCalls<
  Pick<AddedHomeCalls, "keepAuthors" | "forgetAuthor">,
  PartedHome
> = {
  keepAuthors: {
    answer(home, [{ channel, kept }], done) {
      done(home.part(AuthorIndex)?.keep(channel, kept) ?? { forget: [] });
      home.endEvent(home.platform.nowMs());
    },
  },
  forgetAuthor: {
    answer(home, [{ user }], done) {
      const index = home.part(AuthorIndex);
      if (index === undefined) done({ ordered: { outcome: "done" } });
      else
        index.forget(user, (ordered) =>
          done({ ordered, ...(index.isIncomplete(user) && { incomplete: true }) }),
        );
    },
  },
};
