'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { RESPONSE_FORMATS } from '#server/domain/migrations/register.shared.ts';
import { CommittedSecret } from './committed-secret.tsx';
import type { Detail } from './labels.ts';

/** What an on-host agent answers in place of the store. */
export function RulesTab({ migration }: { migration: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('migration:create');
  const [adding, setAdding] = useState(false);
  const query = useQuery(trpc.migrations.listRules.queryOptions({ id: migration.id }));
  const refresh = () => queryClient.invalidateQueries(trpc.migrations.pathFilter());
  const remove = useMutation(
    trpc.migrations.deleteRule.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Rule deleted');
        return refresh();
      },
    }),
  );
  if (query.isError) return <QueryError query={query} what="Intercept rules" />;
  if (!query.data) return <Skeleton lines={4} label="Loading rules" />;
  const none = migration.committed_count === 0 ? 'Commit an item first' : undefined;
  const add = (
    <Button icon={<Plus />} disabledReason={forbidden ?? none} onClick={() => setAdding(true)}>
      New rule
    </Button>
  );
  return (
    <SectionCard
      title="Intercept rules"
      description="An on-host agent answers these calls to the store with the committed secret. Other calls pass untouched. Rules hold no value."
      actions={add}
    >
      {query.data.rules.length === 0 ? (
        <EmptyState title="No intercept rules">Applications read the store until a rule and an agent answer in its place.</EmptyState>
      ) : (
        <ul className="flex flex-col divide-y divide-line">
          {query.data.rules.map((rule) => (
            <li key={rule.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
              <span className="min-w-0 [overflow-wrap:anywhere]">
                <span className="font-mono text-xs">
                  {rule.match_host}
                  {rule.match_path_prefix}
                </span>
                <span className="block text-ink-3 text-xs">{rule.match_secret_ref}</span>
              </span>
              <Badge mono>{rule.response_format}</Badge>
              {!rule.enabled && <Badge>Off</Badge>}
              <Button
                size="sm"
                variant="danger-quiet"
                icon={<Trash2 />}
                className="ml-auto"
                disabledReason={forbidden}
                onClick={() => remove.mutate({ id: migration.id, ruleId: rule.id })}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
      )}
      {adding && <NewRule migration={migration} onClose={() => setAdding(false)} onDone={() => void refresh()} />}
    </SectionCard>
  );
}

function NewRule({ migration, onClose, onDone }: { migration: Detail; onClose: () => void; onDone: () => void }) {
  const trpc = useTRPC();
  const [host, setHost] = useState('');
  const [ref, setRef] = useState('');
  const [secret, setSecret] = useState('');
  const [format, setFormat] = useState<(typeof RESPONSE_FORMATS)[number]>('aws_sm');
  const create = useMutation(
    trpc.migrations.createRule.mutationOptions({
      onSuccess: () => {
        notifyDone('Rule created');
        onDone();
        onClose();
      },
    }),
  );
  const missing = host.trim() === '' || ref.trim() === '' || secret === '' ? 'Fill in every field' : undefined;
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title="New intercept rule"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            loading={create.isPending}
            disabledReason={missing}
            onClick={() =>
              create.mutate({
                ...{ id: migration.id, match_host: host.trim(), match_secret_ref: ref.trim() },
                ...{ committed_secret_id: secret, response_format: format },
              })
            }
          >
            Create rule
          </Button>
        </>
      }
    >
      {create.error && <MutationError error={create.error} />}
      <Field label="Host of the store" required>
        <Input mono placeholder="secretsmanager.us-east-1.amazonaws.com" value={host} onChange={(event) => setHost(event.target.value)} />
      </Field>
      <Field label="Secret at the source" required hint="The ARN, name or path that the application asks for.">
        <Input mono value={ref} onChange={(event) => setRef(event.target.value)} />
      </Field>
      <CommittedSecret migration={migration} value={secret} onValueChange={setSecret} />
      <Field label="Answer as">
        <Select value={format} onValueChange={setFormat} options={RESPONSE_FORMATS.map((one) => ({ value: one, label: one }))} />
      </Field>
    </Dialog>
  );
}
