/** MongoDB's default is 15,000; of the driver any number would be worked through. */
const MOST_ITERATIONS = 100_000;
const LONGEST_FIELD = 16 * 1024;

/**
 * Watches a login (RFC 5802 §5): the number of hashes that a server asks for is as large as it likes. Until the client has sent its proof, whatever in
 * the server's bytes could be that number is read as the driver would.
 */
export function asksTooMuch(): { sent(chunk: Buffer): void; received(chunk: Buffer): boolean } {
  let seen = '';
  let before = '';
  let proven = false;
  return {
    sent(chunk) {
      if (proven) return;
      before = (before + chunk.toString('latin1')).slice(-1_024);
      proven = before.includes('saslContinue');
    },
    received(chunk) {
      if (proven) return false;
      seen += chunk.toString('latin1');
      for (let at = seen.indexOf('i='); at >= 0; at = seen.indexOf('i=', at + 2)) {
        const end = seen.indexOf(',', at);
        const field = seen.slice(at + 2, Math.min(end < 0 ? seen.length : end, at + LONGEST_FIELD));
        if (Number.parseInt(Buffer.from(field, 'latin1').toString('utf8'), 10) > MOST_ITERATIONS) return true;
      }
      seen = seen.slice(-LONGEST_FIELD);
      return false;
    },
  };
}
