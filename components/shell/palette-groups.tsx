'use client';

import { BookOpen, FileText, FlaskConical, Megaphone } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useKeptAppearance, usePreferences } from '#components/theme/preferences-provider.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { hrefInSpace, hrefOf, type Place, personal } from './navigation.ts';
import { pageKeywords } from './page-keywords.ts';
import type { PaletteGroup } from './palette-order.ts';
import { themes, type Workspace } from './top-bar-menus.tsx';
import { useNavigation } from './use-navigation.ts';

/** Pages, spaces, workspaces and themes, for the palette. With nothing typed, what the person pinned stands apart and on top (70 §3.3). */
export function useBuiltInGroups(
  place: Place,
  workspaces: readonly Workspace[],
  isEmpty: boolean,
  onNews: () => void,
): { pinned: PaletteGroup; rest: PaletteGroup[] } {
  const router = useRouter();
  const { setTheme } = useKeptAppearance();
  const other: Space = place.space === 'live' ? 'test' : 'live';
  const seen = useNavigation().flatMap((group) => group.items);
  const { pins } = usePreferences().preferences;
  const pages = [...seen, ...personal.map((item) => ({ ...item, locked: undefined }))].map((item) => ({
    id: `go-${item.id}`,
    label: item.label,
    icon: <item.icon />,
    detail: item.locked,
    keys: item.keys,
    keywords: pageKeywords[item.id],
    run: () => router.push(hrefOf(item, place)),
  }));
  const news = { id: 'news', label: 'What’s new', icon: <Megaphone />, keywords: ['changelog', 'releases'], run: onNews };
  const pinned = isEmpty ? pins.flatMap((id) => pages.find((page) => page.id === `go-${id}`) ?? []) : [];
  const rest: PaletteGroup[] = [
    { heading: 'Go to', items: [...pages.filter((page) => !pinned.includes(page)), news] },
    {
      heading: 'Documentation',
      after: '?',
      items: [
        { id: 'docs', label: 'Documentation', icon: <BookOpen />, keywords: ['docs', 'help', 'guide'], run: () => router.push('/docs') },
        ...seen.flatMap(({ id, label, docs }) =>
          docs
            ? [
                {
                  id: `docs-${id}`,
                  label: `Docs: ${label}`,
                  icon: <FileText />,
                  keywords: pageKeywords[id],
                  run: () => router.push(`/docs/${docs}`),
                },
              ]
            : [],
        ),
      ],
    },
    {
      heading: 'Switch',
      after: '>',
      items: [
        {
          id: `space-${other}`,
          label: `Switch to ${other === 'test' ? 'Test' : 'Live'}`,
          icon: <FlaskConical />,
          keys: other === 'test' ? 'g t' : 'g l l',
          run: () => router.push(hrefInSpace(window.location.pathname, place, other)),
        },
        ...workspaces
          .filter((workspace) => workspace.slug !== place.slug)
          .map((workspace) => ({
            id: `workspace-${workspace.slug}`,
            label: `Workspace ${workspace.name}`,
            run: () => router.push(`/${workspace.slug}/${place.space}`),
          })),
      ],
    },
    {
      heading: 'Theme',
      after: '>',
      items: themes.map(({ theme, label, icon: Icon }) => ({
        id: `theme-${theme}`,
        label: `Theme: ${label}`,
        icon: <Icon />,
        keywords: ['appearance', 'mode'],
        run: () => setTheme(theme),
      })),
    },
  ];
  return { pinned: { heading: 'Pinned', items: pinned }, rest };
}
