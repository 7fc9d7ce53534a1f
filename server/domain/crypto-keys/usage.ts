import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** What names the key and would stop working without it, as a person calls it. */
export async function usersOf(_tx: Tx, _ctx: Ctx, _keyId: string): Promise<string[]> {
  return [];
}

/** How many vault tokens are sealed under a version of the key, or under any. They can't be opened once it is destroyed. */
export async function tokensUnder(_tx: Tx, _ctx: Ctx, _keyId: string, _version?: number): Promise<number> {
  return 0;
}
