'use client';

import { forbiddenTo, requiredFor } from '#components/roles/forbidden-reason.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { isHidden, type NavGroup, navigation } from './navigation.ts';
import type { FamilyPage } from './page-family.ts';

/** Who may open the page, when the person's role may not. */
export type SeenItem = FamilyPage & { locked: string | undefined };

/** The pages as this person's role sees them: what it may not open is locked with the roles that may, or not shown at all. */
export function useNavigation(): readonly (Omit<NavGroup, 'items'> & { items: readonly SeenItem[] })[] {
  const { role } = useScope();
  return navigation
    .map(({ items, ...group }) => ({
      ...group,
      items: items.flatMap((item) => {
        const locked = item.needs && forbiddenTo(role, item.needs) ? `requires ${requiredFor(item.needs)}` : undefined;
        return locked && isHidden(item, role) ? [] : [{ ...item, locked }];
      }),
    }))
    .filter(({ items }) => items.length > 0);
}
