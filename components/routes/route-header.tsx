'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ArrowRightLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { CopyButton } from '#components/ui/copy.tsx';
import { PageHeader } from '#components/ui/layout.tsx';
import type { RouteDetailData } from './route-data.ts';
import { RouteIcon } from './route-icon.tsx';
import type { ConfigEditor } from './use-config-editor.ts';
import { useEnableRoutes } from './use-enable-routes.ts';
import { useRouteIcons } from './use-icons.ts';

type RouteHeaderProps = { route: RouteDetailData; readOnly: string | undefined; children: ReactNode };

/** What a route is called and where, with what is done to it as a whole. */
export function RouteHeader({ route, readOnly, children }: RouteHeaderProps) {
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
          {!enabled && <Badge>switched off</Badge>}
          {route.requires_clients && <Badge tone="accent">clients only</Badge>}
        </>
      }
      description={<span className="font-mono text-xs [overflow-wrap:anywhere]">{url}</span>}
      actions={
        <>
          <CopyButton value={url} label="call URL" text="Copy call URL" size="md" />
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

/** Pausing one environment leaves the others alone; it applies at once. */
export function PauseSwitch({ editor, routeEnabled }: { editor: ConfigEditor; routeEnabled: boolean }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const put = useMutation(
    trpc.routes.putEnvironment.mutationOptions({ onSettled: () => cache.invalidateQueries(trpc.routes.pathFilter()) }),
  );
  const serving = put.isPending ? put.variables.enabled === true : editor.config.enabled;
  return (
    <>
      <Switch
        checked={serving}
        disabledReason={editor.readOnly ?? (routeEnabled ? undefined : 'The whole route is switched off.')}
        onCheckedChange={(enabled) => put.mutate({ id: editor.routeId, env: editor.env, enabled })}
        label={serving ? `Serving ${editor.env}` : `Paused in ${editor.env}`}
        className="items-center"
      />
      <MutationError error={put.error} />
    </>
  );
}
