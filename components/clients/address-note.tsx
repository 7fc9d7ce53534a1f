import { cn } from '#components/ui/cn.ts';
import { grouped } from '#components/ui/numbers.ts';
import { canonicalAddress, parseRange, rangeExtent } from '#server/domain/clients/address.shared.ts';

/** What an address or range that was typed comes to: how it is stored, how many addresses it is, first and last. */
export function AddressNote({ text, className }: { text: string; className?: string }) {
  if (text.trim() === '') return null;
  const canonical = canonicalAddress(text);
  if (!canonical.ok) return null;
  const range = parseRange(text);
  if ('problem' in range) return null;
  const { count, first, last } = rangeExtent(range);
  return (
    <span
      aria-live="polite"
      className={cn('flex flex-wrap gap-x-3 text-xs', canonical.warning ? 'text-warn-ink' : 'text-ink-3', className)}
    >
      {canonical.value !== text.trim() && (
        <span>
          Stored as <span className="font-mono">{canonical.value}</span>
        </span>
      )}
      <span className="figures">{count === 1n ? '1 address' : `${sizeOf(count)} addresses`}</span>
      {count > 1n && (
        <span className="font-mono">
          {first} to {last}
        </span>
      )}
      {canonical.warning && <span className="basis-full">{canonical.warning}</span>}
    </span>
  );
}

/** Beyond a trillion only the power of two is readable. */
function sizeOf(count: bigint): string {
  return count > 1_000_000_000_000n ? `2^${(count.toString(2).length - 1).toString()}` : grouped(count);
}

/** What is wrong with each entry of a list, one sentence; undefined when all can be stored. */
export function addressProblem(entries: readonly string[]): string | undefined {
  for (const entry of entries) {
    const canonical = canonicalAddress(entry);
    if (!canonical.ok) return `${entry}: ${canonical.problem}`;
  }
  return undefined;
}
