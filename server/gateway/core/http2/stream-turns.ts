import type { ServerHttp2Stream } from 'node:http2';

/** Calls that begin in one turn of the loop. One read of a socket brings a thousand streams, and each is a call that is parsed, judged and logged. */
const PER_TURN = 16;

let waiting: { stream: ServerHttp2Stream; begin: () => void }[] = [];
let awaited = false;

/**
 * Begins the call of a stream when the sockets are read: of all connections 16 in a turn, in the order in which they came. A stream that is reset before
 * is never begun, so that it costs its head and nothing else (CVE-2023-44487).
 */
export function beginInTurn(stream: ServerHttp2Stream, begin: () => void): void {
  waiting.push({ stream, begin });
  expectTurn();
}

function expectTurn(): void {
  if (awaited) return;
  awaited = true;
  setImmediate(beginSome);
}

function beginSome(): void {
  awaited = false;
  waiting = waiting.filter(({ stream }) => !stream.closed && !stream.destroyed);
  const now = waiting.splice(0, PER_TURN);
  if (waiting.length > 0) expectTurn();
  for (const { begin } of now) begin();
}
