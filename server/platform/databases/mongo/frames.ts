const HEADER = 16;
const LONGEST = 4 * 1024 * 1024;
/** OP_REPLY and OP_MSG. Not OP_COMPRESSED: none was agreed on, and the driver would inflate it whatever it becomes. */
const CODES = new Set([1, 2013]);

export class BadFrame extends Error {}

/**
 * Checks the framing of a server's messages before the driver sees it (MongoDB wire protocol, standard message header): over a message of no length it
 * would go on for ever. Takes what came and gives what may be handed on. @throws BadFrame
 */
export function frameCheck(): (chunk: Buffer) => Buffer {
  let header = Buffer.alloc(0);
  let body = 0;
  return (chunk) => {
    const fit: Buffer[] = [];
    for (let at = 0; at < chunk.length; ) {
      if (body > 0) {
        const part = chunk.subarray(at, at + body);
        fit.push(part);
        body -= part.length;
        at += part.length;
        continue;
      }
      const part = chunk.subarray(at, at + HEADER - header.length);
      header = Buffer.concat([header, part]);
      at += part.length;
      if (header.length < HEADER) break;
      const length = header.readInt32LE(0);
      if (length <= HEADER || length > LONGEST || !CODES.has(header.readInt32LE(12))) throw new BadFrame();
      fit.push(header);
      body = length - HEADER;
      header = Buffer.alloc(0);
    }
    return Buffer.concat(fit);
  };
}
