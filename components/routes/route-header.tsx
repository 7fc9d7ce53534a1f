'use client';

import { ArrowRightLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { CopyButton } from '#components/ui/copy.tsx';
import { PageHeader } from '#components/ui/layout.tsx';
import type { RouteDetailData } from './route-data.ts';
import { RouteIcon } from './route-icon.tsx';
import { useEnableRoutes } from './use-enable-routes.ts';
import { useRouteIcons } from './use-icons.ts';

type RouteHeaderProps = {
  route: RouteDetailData;
  readOnly: string | undefined /** The chosen environment, when it is paused. */;
  pausedIn: string | undefined;
  children: ReactNode;
};

/** The name and URL of a route, with the actions on the whole of it. */
export function RouteHeader({ route, readOnly, pausedIn, children }: RouteHeaderProps) {
  const { proxy_url, space } = useScope();
  const path = usePath();
  const stays = useForbidden('sandbox:promote');
  const enable = useEnableRoutes();
  const icons = useRouteIcons([route]);
  const enabled = enable.isPending ? enable.variables.enabled : route.enabled;
  const url = `${proxy_url}/${route.slug ?? route.id}`;
  return (
    <PageHeader
      back={{ href: path('/routes'), label: 'Routes' }}
      icon={<RouteIcon name={route.name} icon={icons.get(route.id)} className="size-6" />}
      title={route.name}
      badges={
        <>
          {!enabled && <Badge>Off</Badge>}
          {enabled && pausedIn && <Badge tone="warn">Paused in {pausedIn}</Badge>}
          {route.requires_clients && <Badge tone="accent">Clients only</Badge>}
        </>
      }
      description={<span className="font-mono text-xs [overflow-wrap:anywhere]">{url}</span>}
      actions={
        <>
          <CopyButton value={url} label="URL" text="Copy URL" size="md" />
          {!stays && (
            <LinkButton icon={<ArrowRightLeft />} href={path(`/promote?items=route:${route.id}`)}>
              {space === 'test' ? 'Promote…' : 'Copy to Test…'}
            </LinkButton>
          )}
          <Switch
            checked={enabled}
            disabledReason={readOnly}
            onCheckedChange={(on) => enable.mutate({ ids: [route.id], enabled: on, name: route.name })}
            label={enabled ? 'On' : 'Off'}
            className="items-center"
          />
        </>
      }
    >
      {children}
    </PageHeader>
  );
}
