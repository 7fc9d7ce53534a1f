import { family } from '#server/kernel/family.ts';
import { eraseAllVersions } from './store.ts';

export const cryptoKeys = family({
  name: 'crypto-keys',
  resources: [{ type: 'crypto_key', limit: 'crypto_keys' }],
  tables: [
    { name: 'crypto_keys', reset: 'delete' },
    { name: 'crypto_key_versions', reset: 'cascade', wipe: eraseAllVersions },
    { name: 'crypto_key_uses', reset: 'cascade' },
  ],
});
