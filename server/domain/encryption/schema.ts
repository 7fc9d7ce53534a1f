import { z } from 'zod';
import { anyJsonText, sameJsonText } from '#server/kernel/json-fields.ts';

/** Most leaves that one call seals or opens, and the most bytes of one (interface rule 41 §8). */
export const MAX_LEAVES = 2_000;
export const MAX_LEAF_BYTES = 65_536;
export const MAX_SELECTORS = 50;
export const MAX_SELECTOR_LENGTH = 256;

/** A label that is bound into a sealed value: without it the value doesn't open. */
export const dataRole = () =>
  z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9_.-]{0,62}$/,
      'must be 1 to 63 characters of lowercase letters, digits, dots, hyphens and underscores, and begin with a letter or digit',
    );

export const keyName = () => z.string().min(1).max(128);
/** The grammar of interface rule 41 §7; `server/custody/fields/selectors.ts` compiles it. */
export const SELECTOR =
  /^\$(?:\.{1,2}[A-Za-z_][A-Za-z0-9_-]*|\.\*|\[\*\]|\[[0-9]{1,9}\]|\['(?:[^'\\\u0000-\u001f]|\\['\\])+'\]|\["(?:[^"\\\u0000-\u001f]|\\["\\])+"\])*$/;
const selectors = () =>
  z
    .array(z.string().max(MAX_SELECTOR_LENGTH).regex(SELECTOR, 'must be a selector such as $.card.number, $..ssn or $.items[*].sku'))
    .max(MAX_SELECTORS);

const picking = { selectors: selectors().min(1).optional(), exclude: selectors().default([]) };

export const Encrypt = z.object({ data: anyJsonText(), key: keyName().optional(), role: dataRole().optional(), ...picking });
export const Encrypted = z
  .object({
    /** Has the shape of `data`. */
    ciphertext: sameJsonText(),
    key: z.string(),
    key_version: z.int(),
    encrypted: z.int(),
    /** Sealed before, and left as they were. */
    skipped: z.int(),
  })
  .meta({ id: 'EncryptedData' });

export const Decrypt = z.object({ data: anyJsonText(), role: dataRole().optional(), ...picking });
export const Decrypted = z.object({ plaintext: sameJsonText(), decrypted: z.int() }).meta({ id: 'DecryptedData' });

export const Rewrap = z.object({ data: anyJsonText(), role: dataRole().optional(), ...picking });
export const Rewrapped = z.object({ ciphertext: sameJsonText(), rewrapped: z.int() }).meta({ id: 'RewrappedData' });

export const Inspect = z.object({ value: z.string().max(200_000) });
/** Only `encrypted` unless the text is a well-formed sealed value. */
export const Inspected = z
  .object({
    encrypted: z.boolean(),
    scheme: z.literal('kc').optional(),
    version: z.literal(1).optional(),
    datatype: z.enum(['string', 'number', 'boolean', 'json', 'bytes']).optional(),
    key_ref: z.object({ tenantId: z.uuid(), appKeyId: z.uuid(), keyVersion: z.int() }).optional(),
    fingerprint: z.string().optional(),
  })
  .meta({ id: 'InspectedValue' });

export const SealingBundleQuery = z.object({ key: keyName().optional() });
/** All that sealing takes: nothing in it is secret. */
export const SealingBundle = z
  .object({
    public_key_raw: z.string(),
    key_ref: z.object({ tenant_id: z.uuid(), app_key_id: z.uuid(), key_version: z.int() }),
  })
  .meta({ id: 'SealingBundle' });

/** Row 22 of interface rule 32 §2. */
export const RevealDecrypt = z.object({ data: anyJsonText(), role: dataRole().optional() });
export const RevealedData = z.object({ plaintext: sameJsonText() }).meta({ id: 'RevealedData' });
