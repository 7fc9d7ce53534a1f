import type { Socket } from 'node:net';
import type { Call, Upgrade } from '../call.ts';
import { Tunnel, type TunnelEnd } from './tunnel.ts';

/** Ends that weren't the ends' own are told in the log. */
const DETAIL: Readonly<Record<TunnelEnd, string | null>> = {
  closed: null,
  idle: 'websocket:idle',
  age: 'websocket:age',
  revoked: 'websocket:revoked',
  shutdown: 'websocket:shutdown',
};

/**
 * Joins the caller's socket, on which the head of the 101 was just written, with the upstream's. What was carried is noted in the call when both are closed,
 * and then `over` is called.
 */
export function openTunnel(call: Call, upstream: Socket, fromUpstream: Buffer, over: () => void): Tunnel {
  const { socket, first } = call.upgrade as Upgrade;
  call.res.flushHeaders();
  call.res.detachSocket(socket as Socket);
  const tunnel = new Tunnel(socket, upstream, (why) => {
    const { up, down } = tunnel.bytes;
    call.requestBytes = up;
    call.responseBytes = down;
    call.errorDetail = DETAIL[why];
    over();
  });
  tunnel.start(first, fromUpstream);
  return tunnel;
}
