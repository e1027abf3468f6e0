/** Commands and replies of one line, for most tests with many channels. */

export function subscribe(id: number, channel: string): string {
  return `{"id":${id},"subscribe":{"channel":"${channel}"}}`;
}

export function unsubscribe(id: number, channel: string): string {
  return `{"id":${id},"unsubscribe":{"channel":"${channel}"}}`;
}

export function publish(id: number, channel: string): string {
  return `{"id":${id},"publish":{"channel":"${channel}","data":${id}}}`;
}

export function subscribed(id: number): string {
  return `{"id":${id},"subscribe":{}}`;
}

export function pushed(channel: string, data: string): string {
  return `{"push":{"channel":"${channel}","pub":{"data":${data}}}}`;
}

export function tooMany(id: number): string {
  return `{"id":${id},"error":{"code":111,"message":"too many requests","temporary":true}}`;
}

export function internal(id: number): string {
  return `{"id":${id},"error":{"code":100,"message":"internal server error","temporary":true}}`;
}
