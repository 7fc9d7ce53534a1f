import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where on the way to the server something happens: before the server has heard the words, or after it has answered them. */
export type Tripwire = { words: string | RegExp; when: 'before' | 'after'; act: () => void };

/**
 * Stands before a database without TLS and passes everything on, until a client says the words: then it acts, once, and that connection is dead. With
 * `after` the server has heard the words and answered, but nobody hears the answer.
 */
export async function tripwire(host: string, port: number) {
  let armed: Tripwire | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    let tripped: Tripwire | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      if (tripped?.when === 'before') return;
      const said = chunk.toString('latin1');
      if (!tripped && armed && (typeof armed.words === 'string' ? said.includes(armed.words) : armed.words.test(said))) {
        tripped = armed;
        armed = undefined;
        if (tripped.when === 'before') {
          upstream.destroy();
          tripped.act();
          return;
        }
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (tripped?.when === 'after') {
        tripped.act();
        upstream.destroy();
      } else if (!tripped) client.write(chunk);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      if (!tripped) client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    arm: (wire: Tripwire) => {
      armed = wire;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
