// Keeps one message on its way there and back on each of some WebSockets, and prints how many came back.
import { WebSocket } from 'ws';

export type SocketLoad = { url: string; headers: Record<string, string>; sockets: number; bytes: number; seconds: number };
const { url, headers, sockets, bytes, seconds } = JSON.parse(process.argv[2] ?? '') as SocketLoad;
const message = Buffer.alloc(bytes, 'x');
let end = 0;
let messages = 0;
let bad = 0;

const open = await Promise.all(
  Array.from(
    { length: sockets },
    () =>
      new Promise<WebSocket>((resolve, reject) => {
        const socket = new WebSocket(url, { headers, perMessageDeflate: false });
        socket.once('open', () => resolve(socket));
        socket.once('error', reject);
      }),
  ),
);
end = performance.now() + seconds * 1000;
await Promise.all(
  open.map(
    (socket) =>
      new Promise<void>((resolve) => {
        let over = false;
        socket.on('message', (answer: Buffer) => {
          if (answer.length !== bytes) bad++;
          messages++;
          if (performance.now() < end) return void socket.send(message);
          over = true;
          socket.close();
        });
        socket.on('error', () => bad++);
        socket.once('close', () => {
          if (!over) bad++;
          resolve();
        });
        socket.send(message);
      }),
  ),
);
console.log(`result ${JSON.stringify({ messages, bad })}`);
