/**
 * When a user was last active and last online, in seconds since 1970 (rules U25 and U26). During a deploy the edge and the
 * user's home may be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export interface UserStatus {
  readonly user: string;
  /** When a backend last said so; 0 for never. */
  readonly activeSeconds: number;
  /** Now if the user is connected, and otherwise when the user's last connection ended on an object; 0 for unknown. */
  readonly onlineSeconds: number;
  /** The text that a backend gave last; "" for none. */
  readonly state: string;
}

/** The statuses of some users, in the order in which they were asked for. */
export interface UserStatusAnswer {
  readonly statuses: readonly UserStatus[];
  /** An object didn't answer in time, so a user may be online although it isn't said. Absent: all have. */
  readonly incomplete?: true;
}

/** Those of some users that have connections on an object. The home forgets the object for the others (rule U21). */
export interface OnlineUsers {
  readonly users: readonly string[];
}

/** Users whose last connections on an object have ended, so that the home may have to forget the object (rule E17). */
export interface LeftUsers {
  /** The object's node. */
  readonly holder: string;
  readonly users: readonly string[];
}
