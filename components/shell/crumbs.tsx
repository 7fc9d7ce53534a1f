'use client';

import { ChevronRight } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { Link } from '#components/ui/link.tsx';
import { activeItem, hrefOf, type Place } from './navigation.ts';

export type Crumb = { label: string; href?: string };

const CrumbContext = createContext<{ crumbs: readonly Crumb[]; set: (crumbs: readonly Crumb[]) => void } | undefined>(undefined);

/** Around the bar and the page: a page tells its crumbs, the bar shows them. */
export function CrumbProvider({ children }: { children: ReactNode }) {
  const [crumbs, set] = useState<readonly Crumb[]>([]);
  return <CrumbContext value={{ crumbs, set }}>{children}</CrumbContext>;
}

/** What a page below a list is called: rendered by detail pages, shown in the top bar after the list's own name. */
export function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  const set = useContext(CrumbContext)?.set;
  const shape = JSON.stringify(crumbs);
  useEffect(() => {
    set?.(JSON.parse(shape) as Crumb[]);
    return () => set?.([]);
  }, [set, shape]);
  return null;
}

/** Where this page stands; pages below the navigation add their own part. */
export function Breadcrumb({ place }: { place: Place }) {
  const item = activeItem(usePathname(), place);
  const extra = useContext(CrumbContext)?.crumbs ?? [];
  const all: Crumb[] = [...(item ? [{ label: item.label, href: hrefOf(item, place) }] : []), ...extra];
  return (
    <nav aria-label="Breadcrumb" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1">
        {all.map((crumb, index) => {
          const last = index === all.length - 1;
          return (
            <li key={`${crumb.label}-${index.toString()}`} className="flex min-w-0 items-center gap-1">
              {index > 0 && <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-3" />}
              {last || !crumb.href ? (
                <span aria-current={last ? 'page' : undefined} className="truncate font-medium">
                  {crumb.label}
                </span>
              ) : (
                <Link href={crumb.href} className="truncate rounded-xs text-ink-2 hover:text-ink">
                  {crumb.label}
                </Link>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
