/** An answer that is not JSON: exports. `body` is written as it is produced, so its size is not bounded by memory. */
export type RawBody = {
  status: number;
  headers: Record<string, string>;
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | string;
};

/** A download: never cached, never sniffed, saved under the given ASCII file name. */
export const download = (contentType: string, fileName: string, lines: AsyncIterable<string>): RawBody => ({
  status: 200,
  headers: {
    'content-type': contentType,
    'content-disposition': `attachment; filename="${fileName}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  },
  body: streamOf(lines),
});

/** Pulls one piece at a time, only when the reader wants it; a reader that leaves ends the source. */
function streamOf(pieces: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]();
  const utf8 = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await source.next();
      if (next.done) controller.close();
      else controller.enqueue(utf8.encode(next.value));
    },
    async cancel() {
      await source.return?.();
    },
  });
}

/** The whole of a raw body, for callers that cannot stream; bytes as base64. */
export async function textOf({ body }: RawBody): Promise<string> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString('base64') : new Response(body).text();
}

/**
 * One line of RFC 4180. A text that a spreadsheet would run as a formula gets a leading apostrophe (interface rule 61 §9): what an attacker put
 * into a name or a path must stay text in the reader's hands.
 */
export const csvLine = (cells: readonly (string | number | boolean | null | undefined)[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  // Where lists are written with commas in numbers a spreadsheet parts its cells at semicolons, quoted or not: what follows one may begin a cell.
  const safe = (/^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value).replace(/([;\t\r\n])(?=[=+\-@＝＋－＠])/g, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
