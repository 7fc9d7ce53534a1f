import { createHash } from 'node:crypto';

/** What browsers compare a script with (W3C Subresource Integrity). */
export const createIntegrity = (bytes: Uint8Array): string => `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
