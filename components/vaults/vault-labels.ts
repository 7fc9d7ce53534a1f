import type { z } from 'zod';
import { counted } from '#components/ui/numbers.ts';
import type { Vault, VaultDetail, VaultUsage } from '#server/domain/vaults/schema.ts';

export type VaultRow = z.output<typeof Vault>;
export type Detail = z.output<typeof VaultDetail>;
export type Usage = z.output<typeof VaultUsage>;

/** Each custody mode in one sentence. */
export const CUSTODY = {
  managed: { title: 'Managed', description: 'The service keeps the values, encrypted under the vault’s key.' },
  dual: { title: 'Dual', description: 'You keep the sealed values, the service keeps the key. Neither can read them alone.' },
} as const;

/** Units of a lifetime with their seconds, the longest first. */
export const UNITS = { day: 86_400, hour: 3_600, minute: 60, second: 1 } as const;
export const UNIT_NAMES = Object.keys(UNITS) as [keyof typeof UNITS, ...(keyof typeof UNITS)[]];

/** Seconds as a whole number of the longest unit that fits. */
export function inUnits(seconds: number): { amount: number; unit: keyof typeof UNITS } {
  const unit = UNIT_NAMES.find((name) => seconds % UNITS[name] === 0) ?? 'second';
  return { amount: seconds / UNITS[unit], unit };
}

/** Seconds as people say them: 90 days, 12 hours, 45 minutes. */
export function lifetime(seconds: number | null): string {
  if (seconds === null) return 'Never';
  const { amount, unit } = inUnits(seconds);
  return counted(amount, unit);
}

/** The name of a vault as a part of a URL. */
export const nameInPath = ({ name }: Pick<VaultRow, 'name'>): string => encodeURIComponent(name);
