/** The members of each room. An application has them in its database. */
export const rooms = new Map([
  ["lobby", ["ann", "bob", "carl"]],
  ["team", ["ann", "bob"]],
]);

/** Whether the user is a member of the room. */
export const isMember = (room, user) => rooms.get(room)?.includes(user) === true;

/** The names of the rooms of which the user is a member. */
export const roomsOf = (user) => [...rooms.keys()].filter((room) => isMember(room, user));

/** The room's channel. */
export const channelOf = (room) => `room:${room}`;
