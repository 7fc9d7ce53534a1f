import { createHash } from 'node:crypto';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Sec-WebSocket-Accept for the key of a handshake (RFC 6455 §4.2.2). It proves that a server of WebSockets answered, and no secret. */
export const webSocketAccept = (key: string): string => createHash('sha1').update(`${key}${GUID}`).digest('base64');
