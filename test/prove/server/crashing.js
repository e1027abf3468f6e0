/**
 * What is proved is the bundle, byte by byte. Around it there is only a way to make an object crash from outside: its memory
 * goes in the middle of its work, and its sockets with it, as happens when a machine is lost.
 */
import worker, { ChannelObject as Channel, GatewayObject as Gateway } from "./edge.js";

export class ChannelObject extends Channel {
  crash() {
    this.ctx.abort("crash wanted");
  }
}

export class GatewayObject extends Gateway {
  crash() {
    this.ctx.abort("crash wanted");
  }
}

export default worker;
