import type { AnyHotOperation } from '#server/kernel/hot-operation.ts';
import * as cryptoKeys from './crypto-keys/hot.ts';
import * as encryption from './encryption/hot.ts';
import * as environments from './environments/hot.ts';
import * as vaults from './vaults/hot.ts';

/**
 * The operations that the gateway serves itself. The gateway can't derive them from `families.ts`, which loads every verb and Prisma; tests compare
 * this list with the operation table, and `npm run check` proves that loading it brings neither Prisma nor Next.
 */
export const hotOperations: readonly AnyHotOperation[] = [environments, cryptoKeys, vaults, encryption].flatMap((family) =>
  Object.values(family),
);
