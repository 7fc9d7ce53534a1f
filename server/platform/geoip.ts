import { readFile, stat } from 'node:fs/promises';
import type { CountryResponse, Reader } from 'maxmind';
import { compileRanges, formatRange, parseAddress, parseRange, rangeExtent } from '../kernel/address.ts';
import { processState } from '../kernel/process-state.ts';
import { env } from './env.ts';
import { log } from './log.ts';

/** Where an address is: ISO 3166-1 alpha-2 and the city's English name, each null when the database does not say. */
export type Place = { country: string | null; city: string | null };

export type Spot = { lat: number; lon: number; radius_km: number; country: string | null };

export type Places = {
  /** Of an address; nowhere for none, for private ones and for what is no address. Never throws. */
  of(ip: string | null | undefined): Place;
  /** Where on the globe a public address is, and how exactly that is known (km); null when the database doesn't say. Never throws. */
  spotOf(ip: string): Spot | null;
  /** The country of a whole address or range: null unless its first and last address agree. */
  countryOf(range: string): string | null;
};

/** How long a changed file may go unnoticed. */
const RECHECK_MS = 10_000;

const held = processState('places', (): { read?: () => Promise<Places | null> } => ({}));

/**
 * What GEOIP_DB_PATH knows, or null: it is not set, or its file cannot be used, which the log says. Places are looked up when somebody reads and never when
 * a call is made, so that a new database speaks for old calls too.
 */
export function places(): Promise<Places | null> {
  const file = env.GEOIP_DB_PATH;
  if (file === undefined) return Promise.resolve(null);
  held.read ??= placesFrom(file);
  return held.read();
}

/**
 * A reader of one file that follows its changes. While a new one is read the old one answers, and goes on answering when the new one is broken or gone:
 * operators replace the file weekly, not always in one step.
 */
export function placesFrom(file: string, recheckMs = RECHECK_MS): () => Promise<Places | null> {
  let current: Places | null = null;
  let seen = '';
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;

  const check = async () => {
    const version = await versionOf(file);
    if (version !== seen) {
      seen = version;
      try {
        const { reader, type, built } = await readDatabase(file);
        current = placesIn(reader);
        log.info({ file, type, built }, 'country database loaded');
      } catch (error) {
        const then = current ? 'the previous one is still in use' : 'countries are not shown';
        log.warn({ file, problem: (error as Error).message }, `cannot use the country database (GEOIP_DB_PATH): ${then}`);
      }
    }
    checkedAt = performance.now();
    checking = undefined;
  };

  return async () => {
    if (performance.now() - checkedAt >= recheckMs) checking ??= check();
    if (!current) await checking;
    return current;
  };
}

const versionOf = (file: string): Promise<string> =>
  stat(file).then(
    ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
    () => 'missing',
  );

/** Databases with cities have a city beside what all have. */
type Record = CountryResponse & {
  city?: { names?: { en?: string } };
  location?: { latitude?: number; longitude?: number; accuracy_radius?: number };
};

/** Opens a MaxMind database. @throws Error whose message says in words what is wrong with the file */
export async function readDatabase(file: string): Promise<{ reader: Reader<Record>; type: string; built: Date }> {
  const unreadable = (error: NodeJS.ErrnoException) => {
    throw new Error(WORDS[error.code ?? ''] ?? `it cannot be read (${error.code ?? error.message})`);
  };
  // A pipe or a device has no end, and signing in would wait for it.
  const about = await stat(file).catch(unreadable);
  if (!about.isFile()) throw new Error(about.isDirectory() ? 'it is a folder' : 'it is not a file');
  if (about.size > MOST_BYTES) throw new Error('it is larger than 1 GiB and must fit in memory');
  const bytes = await readFile(file).catch(unreadable);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw new Error('it is compressed; unpack it first');
  // Loaded here, so that an installation without a database does not carry the library either.
  const { Reader } = await import('maxmind');
  try {
    const reader = new Reader<Record>(bytes, { cache: boundedCache() });
    const { searchTreeSize, databaseType, buildEpoch } = reader.metadata;
    // What was cut off in the middle still has its end, where the description is.
    if (!(searchTreeSize > 0 && searchTreeSize + 16 < bytes.length)) throw new Error('its search tree is longer than the file');
    return { reader, type: String(databaseType), built: buildEpoch };
  } catch {
    throw new Error('it is not a complete MaxMind database (.mmdb)');
  }
}
const WORDS: { [code: string]: string } = {
  ENOENT: 'it does not exist',
  EACCES: 'this user is not allowed to read it',
};
/** The largest database of the whole world's cities is a tenth of it. */
const MOST_BYTES = 2 ** 30;

/** Many addresses share a record, and a record with names in eight languages takes longer to read than to find. */
function boundedCache() {
  const kept = new Map<string | number, unknown>();
  return {
    get: (key: string | number) => kept.get(key),
    set: (key: string | number, value: unknown) => {
      if (kept.size >= 10_000) kept.clear();
      kept.set(key, value);
    },
  };
}

/** What no country has, whatever a database of one's own says of it. */
const isPrivate = compileRanges([
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::1', 'fc00::/7', 'fe80::/10'],
]);
const WIDTH = { 4: 32, 6: 128 } as const;

function placesIn(reader: Reader<Record>): Places {
  const onlyV4 = reader.metadata.ipVersion === 4;
  let complained = false;
  const find = (ip: string) => {
    try {
      return reader.get(ip);
    } catch (error) {
      if (!complained) log.warn({ err: error }, 'the country database (GEOIP_DB_PATH) is damaged: some addresses have no country');
      complained = true;
      return null;
    }
  };
  const recordOf = (given: string | null | undefined): Record | null => {
    const address = given ? parseAddress(given) : undefined;
    // A tree of IPv4 would answer with the first 32 bits of IPv6.
    if (!address || (onlyV4 && address.family === 6)) return null;
    const ip = formatRange({ family: address.family, first: address.value, bits: WIDTH[address.family] });
    return isPrivate(ip) ? null : find(ip);
  };
  const of: Places['of'] = (given) => {
    const record = recordOf(given);
    const country = record?.country?.iso_code;
    const city = record?.city?.names?.en;
    return {
      country: typeof country === 'string' && /^[A-Z]{2}$/.test(country) ? country : null,
      // Mails and files name it: what could begin a line of its own or turn the writing round is no name.
      city: typeof city === 'string' && city.length <= 100 && !/[\p{C}\p{Zl}\p{Zp}]/u.test(city) ? city : null,
    };
  };
  return {
    of,
    spotOf(ip) {
      const { latitude: lat, longitude: lon, accuracy_radius: radius_km } = recordOf(ip)?.location ?? {};
      if (![lat, lon, radius_km].every((n) => typeof n === 'number' && Number.isFinite(n))) return null;
      return { lat: lat as number, lon: lon as number, radius_km: radius_km as number, country: of(ip).country };
    },
    countryOf: (text) => {
      const range = parseRange(text);
      if ('problem' in range) return null;
      const { first, last } = rangeExtent(range);
      const { country } = of(first);
      return of(last).country === country ? country : null;
    },
  };
}
