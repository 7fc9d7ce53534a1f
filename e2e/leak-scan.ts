import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';

/** A value that may be found nowhere, and what to look for: the value as it is and in every spelling software gives such values. */
export type Needle = { name: string; forms: { spelling: string; bytes: Buffer }[] };

export function needle(name: string, value: string): Needle {
  if (value.length < 16) throw new Error(`${name} is too short to be looked for: it would be found by chance`);
  const raw = Buffer.from(value);
  const forms: [string, string][] = [
    ['clear', value],
    ['JSON', JSON.stringify(value).slice(1, -1)],
    ['URL', encodeURIComponent(value)],
    ['form', new URLSearchParams({ v: value }).toString().slice(2)],
    ['HTML', value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')],
    ['hex', raw.toString('hex')],
    ['HEX', raw.toString('hex').toUpperCase()],
    // Inside longer data the same bytes have three base64 spellings, by where they begin; their edges depend on the neighbours.
    ...[0, 1, 2].flatMap((shift): [string, string][] => {
      const text = Buffer.concat([Buffer.alloc(shift), raw])
        .toString('base64')
        .replace(/=+$/, '')
        .slice(shift === 0 ? 0 : 4, -2);
      return [
        ['base64', text],
        ['base64url', text.replaceAll('+', '-').replaceAll('/', '_')],
      ];
    }),
  ];
  const unique = new Map(forms.reverse().map(([spelling, text]) => [text, spelling])); // the plainest spelling names a text
  return { name, forms: [...unique].map(([text, spelling]) => ({ spelling, bytes: Buffer.from(text) })) };
}

/** `what (spelling)` for every needle that is in the hay. */
export function found(hay: string | Buffer, needles: readonly Needle[]): string[] {
  const bytes = typeof hay === 'string' ? Buffer.from(hay) : hay;
  return needles.flatMap(({ name, forms }) =>
    forms.filter((form) => bytes.includes(form.bytes)).map((form) => `${name} (${form.spelling})`),
  );
}

const PIECE = 8 * 1024 * 1024;
const OVERLAP = 8 * 1024;

/** The same in one pass over the bytes: of hundreds of spellings only those are held against a place that begin with its two bytes. */
export function finder(needles: readonly Needle[]): (hay: Buffer) => Set<string> {
  const all = needles.flatMap(({ name, forms }) => forms.map(({ spelling, bytes }) => ({ hit: `${name} (${spelling})`, bytes })));
  const byStart = Map.groupBy(all, ({ bytes }) => bytes.readUInt16BE(0));
  const starts = new Uint8Array(65_536);
  for (const start of byStart.keys()) starts[start] = 1;
  return (hay) => {
    const hits = new Set<string>();
    let pair = hay[0] ?? 0;
    for (let i = 1; i < hay.length; i++) {
      pair = ((pair << 8) | (hay[i] as number)) & 0xffff;
      if (starts[pair] === 0) continue;
      for (const { hit, bytes } of byStart.get(pair) ?? [])
        if (bytes[2] === hay[i + 1] && hay.subarray(i - 1, i - 1 + bytes.length).equals(bytes)) hits.add(hit);
    }
    return hits;
  };
}

/** All files of a folder, in pieces that overlap, so that files of any size can be searched. */
export function foundInFiles(folder: string, needles: readonly Needle[], skip: (file: string) => boolean = () => false): string[] {
  if (!fs.existsSync(folder)) return [];
  const hits = new Set<string>();
  const search = finder(needles);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || skip(file)) continue;
    for (const piece of piecesOf(file)) for (const hit of search(piece)) hits.add(`${hit} in ${file}`);
  }
  return [...hits];
}

/** Every row of every table of ours, as text. */
export async function foundInTables(databaseUrl: string, needles: readonly Needle[]): Promise<string[]> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const { rows: tables } = await database.query<{ name: string }>(
      "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
    );
    const hits: string[] = [];
    for (const { name } of tables) {
      const { rows } = await database.query<{ text: string }>(
        `select coalesce(string_agg(t::text, ' '), '') as text from ${pg.escapeIdentifier(name)} t`,
      );
      hits.push(...found(rows[0]?.text ?? '', needles).map((hit) => `${hit} in ${name}`));
    }
    return hits;
  } finally {
    await database.end();
  }
}

/** One for all files, of which there are thousands; a piece is searched before the next is read. */
const buffer = Buffer.alloc(PIECE);

/** A file may vanish or grow while it is read; what is there is searched. */
function* piecesOf(file: string): Generator<Buffer> {
  let handle: number;
  try {
    handle = fs.openSync(file, 'r');
  } catch {
    return;
  }
  try {
    for (let at = 0; ; at += PIECE - OVERLAP) {
      const read = fs.readSync(handle, buffer, 0, PIECE, at);
      if (read > 0) yield buffer.subarray(0, read);
      if (read < PIECE) return;
    }
  } finally {
    fs.closeSync(handle);
  }
}
