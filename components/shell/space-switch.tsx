'use client';

import { ArrowRightLeft } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { forbiddenTo } from '#components/roles/forbidden-reason.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { cn } from '#components/ui/cn.ts';
import { Kbd } from '#components/ui/kbd.tsx';
import { Link } from '#components/ui/link.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { Tooltip } from '#components/ui/tooltip.tsx';
import { hrefInSpace, type Place } from './navigation.ts';

const spaces: { space: Space; label: string; keys: string }[] = [
  { space: 'live', label: 'Live', keys: 'g l l' },
  { space: 'test', label: 'Test', keys: 'g t' },
];

/** Live or Test, as two links: the partition is part of the address and of nothing else. Pages without one have neither chosen. */
export function SpaceSwitch({ place, partitioned }: { place: Place; partitioned: boolean }) {
  const pathname = usePathname();
  return (
    <nav aria-label="Space" className="inline-flex shrink-0 rounded-md border border-line-strong bg-subtle p-0.5">
      {spaces.map(({ space, label, keys }) => {
        const current = partitioned && space === place.space;
        return (
          <Tooltip
            key={space}
            side="bottom"
            content={
              <span className="flex items-center gap-2">
                {current ? `You’re in ${label}` : `Switch to ${label}`} <Kbd keys={keys} />
              </span>
            }
          >
            <Link
              href={hrefInSpace(pathname, place, space)}
              aria-current={current ? 'true' : undefined}
              className={cn(
                'inline-flex h-6.5 items-center gap-1.5 rounded-sm border px-2 text-xs transition-colors',
                current ? 'border-line-strong bg-surface font-medium text-ink shadow-xs' : 'border-transparent text-ink-2 hover:text-ink',
                current && space === 'test' && 'border-test-line bg-test-soft text-test-ink',
              )}
            >
              <span
                aria-hidden
                className={cn('keep-fill size-1.5 rounded-full', space === 'live' ? 'bg-good' : 'bg-test', !current && 'opacity-50')}
              />
              {label}
            </Link>
          </Tooltip>
        );
      })}
    </nav>
  );
}

/** Beside the switch: what is here can go over there, when somebody says so. */
export function MoveLink({ place }: { place: Place }) {
  const { role } = useScope();
  if (forbiddenTo(role, 'sandbox:promote')) return null;
  const label = place.space === 'test' ? 'Promote to Live' : 'Copy to Test';
  return (
    <Tooltip side="bottom" content={label}>
      <Link
        href={`/${place.slug}/${place.space}/promote`}
        aria-label={label}
        className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-ink-3 hover:bg-subtle hover:text-ink max-lg:hidden"
      >
        <ArrowRightLeft aria-hidden className="size-4" />
      </Link>
    </Tooltip>
  );
}
