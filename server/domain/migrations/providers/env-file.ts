import { parseDotenv } from '#server/domain/secrets/service.ts';
import { type Provider, ProviderFault, type SourceEntry, TooLarge, VALUE_BYTES } from './provider.ts';

const PAGE = 500;

/** A .env file as a store: the text is the grant, so nothing is reached for. The last of equal keys wins and says so in its tags. */
export function envFile({ content, file_name }: { content: string; file_name: string }): Provider {
  const values = new Map<string, { value: string; line: number; earlier: number[] }>();
  const { entries, faults } = parseDotenv(content);
  for (const { name, value, line } of entries) {
    const before = values.get(name);
    values.set(name, { value, line, earlier: before ? [...before.earlier, before.line] : [] });
  }
  const names = [...values.keys()];
  const entryOf = (name: string): SourceEntry => {
    const { earlier = [] } = values.get(name) ?? {};
    return {
      ref: `${file_name}#${name}`,
      name,
      version: '1',
      region: '',
      updated_at: null,
      tags: earlier.length === 0 ? {} : { repeated: `also on line ${earlier.join(', ')}` },
    };
  };
  return {
    async probe() {
      const [first] = faults;
      if (names.length === 0 && first)
        throw new ProviderFault('misconfigured', `The file has no line that can be read; line ${first.line} ${first.reason}.`);
    },
    async list(cursor) {
      const from = typeof cursor?.from === 'number' ? cursor.from : 0;
      const page = names.slice(from, from + PAGE);
      return { entries: page.map(entryOf), next: from + PAGE < names.length ? { from: from + PAGE } : null };
    },
    async readValue({ name }) {
      const found = values.get(name);
      if (!found) throw new ProviderFault('not_found', 'The key is not in the file.');
      const bytes = Buffer.from(found.value, 'utf8');
      if (bytes.byteLength > VALUE_BYTES) throw new TooLarge();
      return { version: '1', bytes, binary: false };
    },
    close: async () => values.clear(),
  };
}
