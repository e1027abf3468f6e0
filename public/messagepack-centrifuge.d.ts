import type { Centrifuge as Base } from "centrifuge";

/** The `centrifuge` package's client speaking MessagePack over WebSocket. The data of publications are bytes both ways. */
export declare class MessagePackCentrifuge extends Base {}
