/** What each field action does (interface rule 10 §8). Pure, so that the gateway, the API and the pages share one reading. */
export const FIELD_ACTIONS = {
  encrypt: { takes: 'key', capability: 'transit:encrypt', effect: 'protects' },
  decrypt: { takes: 'key', capability: 'transit:decrypt', effect: 'reveals' },
  tokenize: { takes: 'vault', capability: 'vault:tokenize', effect: 'protects' },
  detokenize: { takes: 'vault', capability: 'vault:detokenize', effect: 'reveals' },
  sign: { takes: 'key', capability: 'transit:sign', effect: 'signs' },
  mask: { takes: null, capability: null, effect: 'protects' },
} as const;

export type FieldActionName = keyof typeof FIELD_ACTIONS;
export const FIELD_ACTION_NAMES = Object.keys(FIELD_ACTIONS) as FieldActionName[];

export const DIRECTIONS = ['request', 'response'] as const;
export const LOCATIONS = ['body', 'header', 'query'] as const;
export const CONTENT_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'application/x-ndjson'] as const;
export const MODES = ['strict', 'lenient'] as const;
export const MASKS = ['last4', 'full', 'email'] as const;
export type Direction = (typeof DIRECTIONS)[number];
export type Location = (typeof LOCATIONS)[number];
export type FieldContentType = (typeof CONTENT_TYPES)[number];
export type Mode = (typeof MODES)[number];
export type Mask = (typeof MASKS)[number];

/** Key types that `kc:` values are sealed under. */
export const SEALING_KEY_TYPES: readonly string[] = ['ecdh-p256'];
export const SIGNING_KEY_TYPES: readonly string[] = [
  'hmac-sha256',
  'hmac-sha512',
  'rsa-2048',
  'rsa-3072',
  'rsa-4096',
  'ecdsa-p256',
  'ecdsa-p384',
  'ed25519',
];

/** The types of keys that an action takes; empty for those that take none. */
export const keyTypesOf = (action: FieldActionName): readonly string[] =>
  FIELD_ACTIONS[action].takes !== 'key' ? [] : action === 'sign' ? SIGNING_KEY_TYPES : SEALING_KEY_TYPES;

export const MOST_FIELD_ACTIONS = 30;

/** What a value is turned into that nobody may read any more. It keeps its length out of sight, but for what the mask says. */
export function masked(value: string, mask: Mask): string {
  const characters = [...value];
  if (mask === 'last4' && characters.length >= SHORTEST_SHOWN)
    return `${'*'.repeat(characters.length - 4)}${characters.slice(-4).join('')}`;
  const at = value.lastIndexOf('@');
  if (mask === 'email' && at > 0 && at < value.length - 1) return `${characters[0]}***${value.slice(at)}`;
  return '********';
}

/** Of a shorter value the last four characters are most of it. */
const SHORTEST_SHOWN = 8;
