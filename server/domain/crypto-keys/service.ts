export { updateCryptoKey } from './changes.ts';
export { createCryptoKey, createKey, type NewKey } from './creation.ts';
export {
  cancelDestruction,
  deleteCryptoKey,
  destroyAllVersions,
  destroyVersion,
  scheduleDestruction,
  trimKey,
} from './destruction.ts';
export { activityOfKey, getCryptoKey, listCryptoKeys, usageOfKeys } from './listing.ts';
export { getJwks, getPublicJwks, getPublicKey } from './public-keys.ts';
export { rotateCryptoKey, rotateKey } from './rotation.ts';
export { keyByRef, lockedKey } from './store.ts';
export { type NewVersion, newVersion } from './versions.ts';
