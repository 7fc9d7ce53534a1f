'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Pause, Play, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { DeleteRoute } from './delete-route.tsx';
import type { RouteDetailData } from './route-data.ts';

/** Pausing or removing one environment of a route, and deleting the route. */
export function DangerZone({ route, env, readOnly }: { route: RouteDetailData; env: string; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const [asking, setAsking] = useState<'route' | 'environment'>();
  const name = useEnvironmentLabel()(env);
  const isBase = env === route.base_environment;
  const served = route.configured_environments.includes(env);
  const config = route.environments.find((one) => one.environment_name === env);
  const pause = useMutation(
    trpc.routes.putEnvironment.mutationOptions({
      onSuccess: (_, { enabled }) => {
        notifyDone(`${route.name} ${enabled ? 'resumed' : 'paused'} in ${name}`);
        return cache.invalidateQueries(trpc.routes.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const stop = useMutation(
    trpc.routes.deleteEnvironment.mutationOptions({
      onSuccess: async () => {
        setAsking(undefined);
        notifyDone(`${name} removed from ${route.name}`);
        await Promise.all(
          [trpc.routes, trpc.clients, trpc.collections, trpc.environments].map((family) => cache.invalidateQueries(family.pathFilter())),
        );
      },
    }),
  );
  return (
    <SectionCard tone="danger" title="Danger zone">
      <div className="flex flex-col divide-y divide-line">
        {config && (
          <DangerRow
            title={config.enabled ? `Pause ${name}` : `Resume ${name}`}
            text={
              config.enabled
                ? `Refuses calls in ${name} until you resume it. Other environments keep working.`
                : `Calls in ${name} are refused until you resume it.`
            }
          >
            <Button
              icon={config.enabled ? <Pause /> : <Play />}
              loading={pause.isPending}
              disabledReason={readOnly}
              onClick={() => pause.mutate({ id: route.id, env, enabled: !config.enabled })}
            >
              {config.enabled ? 'Pause' : 'Resume'}
            </Button>
          </DangerRow>
        )}
        {served && (
          <DangerRow
            title={`Remove ${name}`}
            text={`Deletes this route’s settings and client assignments in ${name}. Secret values are kept.`}
          >
            <Button
              variant="danger-quiet"
              disabledReason={readOnly ?? (isBase ? 'The base environment can’t be removed. Choose another base first.' : undefined)}
              onClick={() => setAsking('environment')}
            >
              Remove environment…
            </Button>
          </DangerRow>
        )}
        <DangerRow title="Delete route" text="Calls get 404 immediately. This can’t be undone.">
          <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={readOnly} onClick={() => setAsking('route')}>
            Delete route…
          </Button>
        </DangerRow>
      </div>
      <ConfirmDanger
        open={asking === 'environment'}
        onOpenChange={(open) => !open && setAsking(undefined)}
        space={space}
        title={`Remove ${name} from “${route.name}”?`}
        resourceName={env}
        confirmLabel="Remove environment"
        consequences={[
          `Calls to this route in ${name} get 404.`,
          'Settings and client assignments of this environment are permanently deleted.',
        ]}
        onConfirm={() => stop.mutate({ id: route.id, env })}
        busy={stop.isPending}
        error={stop.error ? refusalOf(stop.error) : undefined}
      >
        <ApiEquivalent method="DELETE" path={`/routes/${route.id}/environments/${env}`} />
      </ConfirmDanger>
      <DeleteRoute
        route={asking === 'route' ? route : undefined}
        onClose={() => setAsking(undefined)}
        onDeleted={() => router.push(path('/routes'))}
      />
    </SectionCard>
  );
}
