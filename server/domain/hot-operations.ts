import type { AnyHotOperation } from '#server/kernel/hot-operation.ts';
import * as cryptoKeys from './crypto-keys/hot.ts';
import * as encryption from './encryption/hot.ts';
import * as environments from './environments/hot.ts';
import * as vaults from './vaults/hot.ts';

/**
 * The operations that the gateway serves itself. The gateway can't derive them from `families.ts`, which loads every verb and Prisma; tests compare
 * this list with the operation table, and `npm run check` proves that loading it brings neither Prisma nor Next.
 */
<<<<<<< HEAD
export const hotOperations: readonly AnyHotOperation[] = [environments, cryptoKeys, vaults].flatMap((family) => Object.values(family));
=======
export const hotOperations: readonly AnyHotOperation[] = [environments, cryptoKeys, encryption].flatMap((family) => Object.values(family));
>>>>>>> 73b0a197 (Encrypt and decrypt JSON by its values)
