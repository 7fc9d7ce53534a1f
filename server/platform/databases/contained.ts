import type { Duplex } from 'node:stream';

/**
 * The stream, on which what a driver throws while it reads ends the connection. Drivers parse in listeners, where an exception over bytes that they
 * didn't expect would end the process; those bytes are whatever a server of a customer sends.
 */
export function contained<T extends Duplex>(stream: T): T {
  const emit = stream.emit.bind(stream);
  stream.emit = ((event: string, ...args: unknown[]) => {
    try {
      return emit(event, ...args);
    } catch {
      stream.destroy(new Error('The server sent what is not its protocol.'));
      return true;
    }
  }) as T['emit'];
  return stream;
}
