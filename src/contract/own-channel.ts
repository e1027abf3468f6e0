/**
 * The server's own channel, on which operators see counts and refusals as they happen (rule N7). None of the channels'
 * objects has it: the collecting object {@link liveCollector} publishes it to the operators' pages that it holds. Its
 * name begins with a character with which no channel's name may begin, so no client, token, backend or pattern can mean
 * it.
 */
export const ownChannel = "\u0000live";

/** The header in which the edge tells the object when the operator's login ends, in seconds since 1970. */
export const liveHeader = "Dormouse-Login-Ends";

/** The number of the collecting object that holds the operators' pages. */
export const liveCollector = 0;
