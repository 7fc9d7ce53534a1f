import { compileSelectors, type Place } from '#server/custody/fields/selectors.ts';
import { type SealingBundle, SvcEncryptor } from '../../sdk/elements/encryptor.ts';

export type Sealed = { document: unknown; sealed: number; skipped: number };

/**
 * Seals the leaves of a document as `POST /v1/encrypt` does, with the library that pages load and without the service.
 * @throws SelectorRefused, TypeError
 */
export async function sealDocument(
  document: unknown,
  {
    bundle,
    role,
    selectors,
    exclude,
  }: { bundle: SealingBundle; role: string | undefined; selectors: readonly string[]; exclude: readonly string[] },
): Promise<Sealed> {
  const encryptor = new SvcEncryptor(bundle, role);
  const counts = { sealed: 0, skipped: 0 };

  async function walk(value: unknown, place: Place): Promise<unknown> {
    if (place.closed) return value;
    if (Array.isArray(value)) return Promise.all(value.map((one, index) => walk(one, place.element(index))));
    const bytes = bytesIn(value);
    if (typeof value !== 'object' || value === null || bytes) {
      if (!place.picked) return value;
      if (typeof value === 'string' && SEALED.test(value)) {
        counts.skipped += 1;
        return value;
      }
      counts.sealed += 1;
      return bytes ? encryptor.encryptBytes(bytes) : encryptor.encrypt(value as string | number | boolean | null);
    }
    const members = await Promise.all(
      Object.entries(value).map(async ([name, one]) => [name, await walk(one, place.member(name))] as const),
    );
    // Defines own members whatever their names: `__proto__` is data here.
    return Object.fromEntries(members);
  }

  const { root } = compileSelectors(selectors.length > 0 ? selectors : ['$'], exclude);
  return { document: await walk(document, root), ...counts };
}

const SEALED = /^kc:1:[snbjx]:[\w-]+:[\w-]+:[\w-]+:[\w-]+:\$$/;

/** `{"$b64": "…"}` is how JSON names raw bytes. */
function bytesIn(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const [only, ...others] = Object.entries(value);
  if (only?.[0] !== '$b64' || others.length > 0 || typeof only[1] !== 'string') return undefined;
  try {
    const binary = atob(only[1]);
    return btoa(binary) === only[1] ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}
