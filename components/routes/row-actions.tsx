import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ArrowRightLeft, CopyPlus, FlaskConical, ScrollText, Settings2, Trash2 } from 'lucide-react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { RouteItem } from './use-enable-routes.ts';

/** What can be done with one route of the list. */
export function useRowActions(onDelete: (route: RouteItem) => void): (route: RouteItem) => MenuEntry[] {
  const path = usePath();
  const { space } = useScope();
  const readOnly = useForbidden('route:update');
  const stays = useForbidden('sandbox:promote');
  const duplicate = useDuplicate();
  return (route) => [
    { label: 'Test', icon: <FlaskConical />, href: path(`/routes/${route.id}?tab=test`), disabledReason: readOnly },
    { label: 'Configuration', icon: <Settings2 />, href: path(`/routes/${route.id}?tab=config`), keys: 'e' },
    { label: 'Requests', icon: <ScrollText />, href: path(`/routes/${route.id}?tab=requests`) },
    {
      label: space === 'test' ? 'Promote to Live…' : 'Copy to Test…',
      icon: <ArrowRightLeft />,
      href: path(`/promote?items=route:${route.id}`),
      disabledReason: stays,
    },
    { label: 'Duplicate', icon: <CopyPlus />, disabledReason: readOnly, onSelect: () => duplicate.mutate({ id: route.id }) },
    'separator',
    { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => onDelete(route) },
  ];
}

/** What the key of "Configuration" does: opens that of the row with the focus, by the link in it. */
export function editFocused(go: (href: string) => void): void {
  const link = document.activeElement?.closest('tr[data-row]')?.querySelector('a[href*="/routes/"]');
  const href = link?.getAttribute('href');
  if (href) go(`${href}?tab=config`);
}

function useDuplicate() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  return useMutation(
    trpc.routes.duplicate.mutationOptions({
      onSuccess: ({ route }) => {
        notifyDone(`${route.name} created. It’s off until you turn it on.`);
        return Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
      },
      onError: (error) => notifyRefused(error),
    }),
  );
}
