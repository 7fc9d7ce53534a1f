import { createResolver, type ResolveFamily } from '../http-out/resolver.ts';
import { loopback, toLoopback } from '../http-out/upstream.fixture.ts';
import type { DatabaseFault } from './fault.ts';

/** A resolver that may reach this machine and finds every name on it. */
export const here = createResolver({ settings: loopback, resolve: toLoopback });
/** The same for a server on another address of this machine. */
export const hereAt = (address: string) =>
  resolving(async (_, family) => (family === 4 ? [{ address, ttl: 60 }] : Promise.reject(new Error('ENODATA'))));
export const resolving = (resolve: ResolveFamily) => createResolver({ settings: loopback, resolve });

/** What the work failed with. */
export async function faultOf(work: Promise<unknown>): Promise<DatabaseFault> {
  try {
    await work;
  } catch (error) {
    return error as DatabaseFault;
  }
  throw new Error('it did not fail');
}

/** Names as they are minted, each another. */
let made = 0;
export const mintedName = (): string => `svc_readonly_aaaaaaaa${letters(made++)}_t8aeo0`;
const letters = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26));
export const PASSWORD = 'Aa0-bcdefghijklmnopqrstuvwxyz_01';
