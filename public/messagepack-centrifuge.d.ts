import type { Centrifuge as Base } from "centrifuge";

/**
 * The client of the `centrifuge` package with MessagePack over WebSocket. The data of publications are bytes both ways.
 */
export declare class MessagePackCentrifuge extends Base {}
