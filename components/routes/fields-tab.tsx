'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { ReorderList } from '#components/ui/reorder-list.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ACTION_WORDS, placeInWords } from './field-action-words.ts';
import { FieldTrial } from './field-trial.tsx';

const FieldActionSheet = lazyPart(() => import('./field-action-sheet.tsx').then((module) => module.FieldActionSheet));

/** What a route does to single values, in the order in which it does it (interface rule 10 §17). Changes are saved immediately. */
export function FieldsTab({ routeId, env, readOnly }: { routeId: string; env: string; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const [open, setOpen] = useState<string>();
  const query = useQuery(trpc.routes.actions.queryOptions({ id: routeId }));
  const actions = query.data?.data ?? [];
  const edited = actions.find(({ id }) => id === open);
  const reload = () => cache.invalidateQueries(trpc.routes.pathFilter());
  const order = useMutation({
    mutationFn: async (ids: readonly string[]) => {
      for (const [i, actionId] of ids.entries())
        if (actions.find(({ id }) => id === actionId)?.sort_order !== i + 1)
          await client.routes.updateAction.mutate({ id: routeId, actionId, sort_order: i + 1 });
    },
    onSettled: reload,
  });
  const turn = useMutation(trpc.routes.updateAction.mutationOptions({ onSettled: reload }));
  const remove = useMutation(
    trpc.routes.deleteAction.mutationOptions({ onSuccess: () => notifyDone('Field action removed'), onSettled: reload }),
  );
  const failed = order.error ?? turn.error ?? remove.error;
  return (
    <>
      <SectionCard
        title="Field actions"
        description="Encrypt, tokenize, sign or mask single values of requests and responses. They run from top to bottom, in every environment."
        actions={
          <Button size="sm" icon={<Plus />} disabledReason={readOnly} onClick={() => setOpen('new')}>
            Add action
          </Button>
        }
      >
        {query.error ? (
          <QueryError query={query} what="Field actions" />
        ) : !query.data ? (
          <Skeleton lines={3} label="Loading field actions" />
        ) : actions.length === 0 ? (
          <p className="text-ink-2">Values pass through unchanged. Add an action to change one on its way.</p>
        ) : (
          <ReorderList
            label="Field actions in their order"
            onOrder={(ids) => readOnly === undefined && order.mutate(ids)}
            items={actions.map((one) => ({
              id: one.id,
              label: `${ACTION_WORDS[one.action].label} ${one.selectors.join(', ')}`,
              detail: placeInWords(one),
              actions: (
                <>
                  <Switch
                    checked={one.enabled}
                    disabledReason={readOnly}
                    label={one.enabled ? 'On' : 'Off'}
                    onCheckedChange={(enabled) => turn.mutate({ id: routeId, actionId: one.id, enabled })}
                  />
                  <IconButton
                    label={`Edit ${one.action} ${one.selectors.join(', ')}`}
                    icon={<Pencil />}
                    disabledReason={readOnly}
                    onClick={() => setOpen(one.id)}
                  />
                  <IconButton
                    label={`Remove ${one.action} ${one.selectors.join(', ')}`}
                    icon={<Trash2 />}
                    disabledReason={readOnly}
                    onClick={() => remove.mutate({ id: routeId, actionId: one.id })}
                  />
                </>
              ),
            }))}
          />
        )}
        {failed && <MutationError error={failed} />}
      </SectionCard>
      {actions.some(({ direction }) => direction === 'request') && <FieldTrial routeId={routeId} env={env} readOnly={readOnly} />}
      {(open === 'new' || edited) && <FieldActionSheet key={open} routeId={routeId} edited={edited} onClose={() => setOpen(undefined)} />}
    </>
  );
}
