'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Braces, CornerDownRight } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { RouteIcon } from '#components/routes/route-icon.tsx';
import { useRouteIcons } from '#components/routes/use-icons.ts';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Avatar } from '#components/ui/avatar.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { TestChip } from '#components/ui/test-band.tsx';
import { useSettledText } from '#components/ui/use-settled.ts';
import type { Place } from './navigation.ts';
import { Palette } from './palette.tsx';
import { useBuiltInGroups } from './palette-groups.tsx';
import type { PaletteGroup, PaletteItem } from './palette-order.ts';
import { queryText } from './query-text.ts';
import { addRecent, type Recent, recentsOf } from './recents.ts';
import { pluralOf, resourceOf } from './resources.ts';
import { searchOperations } from './search-operations.ts';
import type { Workspace } from './top-bar-menus.tsx';

const PAUSE_MS = 150;

export type SearchPaletteProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  place: Place;
  workspaces: readonly Workspace[];
  onNews: () => void;
};

/** The palette with what the server finds: resources of both spaces, calls, and the actions this person may take. */
export function SearchPalette({ open, onOpenChange, place: where, workspaces, onNews }: SearchPaletteProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const path = usePath();
  const { slug, space } = useScope();
  const [query, setQuery] = useState('');
  const [wasOpen, setWasOpen] = useState(open);
  if (open !== wasOpen) {
    setWasOpen(open);
    setQuery('');
  }
  const builtIn = useBuiltInGroups(where, workspaces, query === '', onNews);
  const sent = queryText(query).sent;
  const q = useSettledText(sent, PAUSE_MS);
  const acts = q.startsWith('>');
  const asks = q.startsWith('?');
  const names = q.startsWith('@');
  const operations = useListedOperations(open && asks);
  const found = useQuery(
    trpc.search.query.queryOptions(
      { q },
      { enabled: open && q !== '' && !acts && !asks && !names, staleTime: 10_000, placeholderData: keepPreviousData },
    ),
  );
  const cannotName = useForbidden('member:list');
  const members = useQuery(
    trpc.team.list.queryOptions(
      { per_page: 8, ...(q.length > 1 ? { q: q.slice(1).trim() } : {}) },
      { enabled: open && names && !cannotName, staleTime: 10_000, placeholderData: keepPreviousData },
    ),
  );
  const actions = useQuery(
    trpc.search.query.queryOptions({ q: acts ? q : '>' }, { enabled: open, staleTime: 60_000, placeholderData: keepPreviousData }),
  );

  // Icons of this space's routes: what was visited lately, and what was found.
  const recent = query === '' && open ? recentsOf(slug) : [];
  const icons = useRouteIcons(
    [...recent, ...(found.data?.groups ?? []).flatMap(({ type, items }) => items.map((item) => ({ ...item, type })))].filter(
      (one) => open && one.type === 'route' && one.space === space,
    ),
  );

  const visit = (recent: Recent) => () => {
    addRecent(slug, recent);
    router.push(recent.url);
  };
  const asItem = (recent: Recent, more: Partial<PaletteItem> = {}): PaletteItem => {
    const Icon = resourceOf(recent.type)?.icon ?? CornerDownRight;
    return {
      id: recent.url,
      label: recent.title,
      icon: icons.has(recent.id) ? <RouteIcon name={recent.title} icon={icons.get(recent.id)} /> : <Icon />,
      badge: recent.space === space ? undefined : recent.space === 'test' ? <TestChip /> : <Badge tone="good">Live</Badge>,
      run: visit(recent),
      ...more,
    };
  };
  const foundGroups: PaletteGroup[] =
    q === '' || acts || asks || names
      ? []
      : (found.data?.groups ?? []).map(({ type, items }, place) => ({
          heading: capitalize(pluralOf(type)),
          items: items.map((item, index) => {
            const recent = { id: item.id, type, title: item.title, url: item.url, space: item.space };
            const own = asItem(recent);
            return {
              ...own,
              detail: item.subtitle && item.subtitle !== item.title ? item.subtitle : undefined,
              badge: (
                <>
                  {item.badges.map((badge) => (
                    <Badge key={badge}>{badge}</Badge>
                  ))}
                  {own.badge}
                </>
              ),
              // The server's order holds: the best group first, and in it the best of this space.
              rank: 2 - place * 0.1 - index * 0.001 - (item.score < 0.6 ? 1 : 0),
            };
          }),
        }));
  const recents: PaletteGroup = { heading: 'Recent', items: recent.map((one) => asItem(one)) };
  const doable: PaletteGroup = {
    heading: 'Actions',
    after: '>',
    items: (actions.data?.actions ?? []).map(({ id, title, url }) => ({
      id: `act-${id}`,
      label: title,
      icon: <CornerDownRight />,
      keywords: ['new', 'add'],
      ...(acts ? { rank: 1 } : {}),
      run: () => router.push(url),
    })),
  };
  const documented: PaletteGroup = {
    heading: 'API',
    after: '?',
    items: (asks ? searchOperations(operations.data ?? [], q.slice(1)) : []).map(({ id, summary, method, path: at }, index) => ({
      id: `api-${id}`,
      label: summary,
      detail: `${method} /v1${at}`,
      icon: <Braces />,
      rank: 1 - index * 0.001,
      run: () => router.push(path(`/explorer?op=${encodeURIComponent(id)}`)),
    })),
  };
  const named: PaletteGroup = {
    heading: 'Members',
    after: '@',
    items: (names ? (members.data?.data ?? []) : []).map((member, index) => ({
      id: `member-${member.id}`,
      label: member.full_name || member.email,
      detail: [...(member.full_name ? [member.email] : []), capitalize(member.role)].join(' · '),
      icon: <Avatar name={member.full_name || member.email} picture={member.avatar} round className="size-5" />,
      rank: 1 - index * 0.001,
      run: () => router.push(`/${slug}/settings/team?peek=${member.id}`),
    })),
  };
  return (
    <Palette
      open={open}
      onOpenChange={onOpenChange}
      groups={[builtIn.pinned, recents, ...foundGroups, doable, named, documented, ...builtIn.rest]}
      onQuery={setQuery}
      searching={
        (q !== '' && !acts && !asks && !names && found.isFetching) ||
        (names && members.isFetching) ||
        (asks && operations.isFetching) ||
        q !== sent
      }
      problem={
        (found.error ?? (names ? members.error : null)) && q !== '' ? 'Search isn’t responding. Pages and actions still work.' : undefined
      }
    />
  );
}
