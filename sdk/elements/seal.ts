// Served as /elements/v1/seal.js. What it exports is a promise to pages that have it in their address.
export { SvcClient } from './client.ts';
export { SvcEncryptor } from './encryptor.ts';
export { SvcError } from './error.ts';
export { mountCard, mountReveal } from './mount.ts';
