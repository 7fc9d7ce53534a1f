'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Copy, Download, RefreshCw, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { saveJson } from '#components/ui/save-json.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { DEFAULT_TIMEOUT_SECONDS } from '#server/domain/workflows/definition.shared.ts';
import type { Detail } from './workflow-labels.ts';

const GeneralSheet = lazyOverlay(() => import('./general-sheet.tsx').then((module) => module.GeneralSheet), whenOpen);

/** Name and limits of a workflow, its webhook URL, copies of it, and its end. */
export function SettingsTab({ workflow }: { workflow: Detail }) {
  return (
    <>
      {workflow.trigger_type === 'webhook' && <HookCard workflow={workflow} />}
      <GeneralCard workflow={workflow} />
      <CopiesCard workflow={workflow} />
      <DeleteCard workflow={workflow} />
    </>
  );
}

function HookCard({ workflow }: { workflow: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { space } = useScope();
  const hidden = useRevealForbidden('workflow:reveal_webhook_url');
  const forbidden = useForbidden('workflow:update');
  const [asking, setAsking] = useState(false);
  // A value that was shown is no longer right once the URL was rotated: the field starts anew.
  const [rotations, setRotations] = useState(0);
  const rotate = useMutation(
    trpc.workflows.rotateWebhookUrl.mutationOptions({
      onSuccess: () => {
        setAsking(false);
        setRotations((count) => count + 1);
        notifyDone('The URL was rotated. Reveal the new one and give it to the caller.');
      },
    }),
  );
  return (
    <SectionCard
      title="Webhook URL"
      description="A request to it starts the workflow. Whoever knows it can call it: treat it like a password."
    >
      <div className="flex flex-col gap-4">
        <RevealField
          key={rotations}
          label="webhook URL"
          disabledReason={hidden}
          reveal={async (reason) => {
            const { url } = await client.workflows.webhookUrl.mutate({ id: workflow.id }, revealCall(reason));
            return { value: url };
          }}
        />
        {!workflow.enabled && <Callout tone="warn" title="The URL answers 404 until the workflow is enabled" />}
        <div>
          <Button icon={<RefreshCw />} disabledReason={forbidden} onClick={() => setAsking(true)}>
            Rotate URL
          </Button>
        </div>
      </div>
      <ConfirmDanger
        open={asking}
        onOpenChange={setAsking}
        title="Rotate the webhook URL?"
        consequences={[
          'The URL of now answers 404 at once.',
          'Every caller needs the new one.',
          'The rotation is recorded in the audit log.',
        ]}
        confirmLabel="Rotate URL"
        space={space}
        busy={rotate.isPending}
        error={rotate.error ? refusalView(rotate.error) : undefined}
        onConfirm={() => rotate.mutate({ id: workflow.id })}
      />
    </SectionCard>
  );
}

function GeneralCard({ workflow }: { workflow: Detail }) {
  const [editing, setEditing] = useState(false);
  const forbidden = useForbidden('workflow:update');
  const { name, description, environment, timeout_seconds } = workflow;
  return (
    <SectionCard
      title="General"
      actions={
        <Button size="sm" disabledReason={forbidden} onClick={() => setEditing(true)}>
          Edit settings
        </Button>
      }
    >
      <KeyValueList
        items={[
          { label: 'Name', value: name },
          { label: 'Description', value: description || 'None' },
          { label: 'Environment', value: environment ?? 'The default', hint: 'Steps that call routes use it, unless they name another.' },
          { label: 'Timeout', value: counted(timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS, 'second'), hint: 'Delays don’t count.' },
        ]}
      />
      <GeneralSheet open={editing} workflow={workflow} onClose={() => setEditing(false)} />
    </SectionCard>
  );
}

function CopiesCard({ workflow }: { workflow: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const path = usePath();
  const router = useRouter();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('workflow:create');
  const duplicate = useMutation(
    trpc.workflows.duplicate.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ id }) => {
        void queryClient.invalidateQueries(trpc.workflows.list.pathFilter());
        router.push(path(`/workflows/${id}`));
      },
    }),
  );
  const download = useMutation({
    mutationFn: () => client.workflows.export.query({ id: workflow.id }),
    onError: (error) => notifyRefused(error),
    onSuccess: (file) => saveJson(file, `${workflow.name.replace(/[^A-Za-z0-9_-]+/g, '-')}.json`),
  });
  return (
    <SectionCard title="Copies" description="A file for another workspace holds names of secrets, never their values.">
      <div className="flex flex-wrap gap-2">
        <Button
          icon={<Copy />}
          loading={duplicate.isPending}
          disabledReason={forbidden}
          onClick={() => duplicate.mutate({ id: workflow.id })}
        >
          Duplicate
        </Button>
        <Button icon={<Download />} loading={download.isPending} onClick={() => download.mutate()}>
          Export
        </Button>
      </div>
    </SectionCard>
  );
}

function DeleteCard({ workflow }: { workflow: Detail }) {
  const trpc = useTRPC();
  const { space } = useScope();
  const path = usePath();
  const router = useRouter();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('workflow:delete');
  const [asking, setAsking] = useState(false);
  const remove = useMutation(
    trpc.workflows.delete.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.workflows.list.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        router.replace(path('/workflows'));
      },
    }),
  );
  return (
    <SectionCard title="Delete this workflow" tone="danger">
      <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={forbidden} onClick={() => setAsking(true)}>
        Delete workflow
      </Button>
      <ConfirmDanger
        open={asking}
        onOpenChange={setAsking}
        title={`Delete workflow ${workflow.name}?`}
        consequences={[
          'Runs that are under way are canceled, and those that wait never start.',
          'Its versions, its runs and everything they recorded are deleted.',
          ...(workflow.trigger_type === 'webhook' ? ['Its webhook URL answers 404 at once.'] : []),
          'This can’t be undone. Export it first to keep its definition.',
        ]}
        confirmLabel="Delete workflow"
        resourceName={workflow.name}
        space={space}
        busy={remove.isPending}
        error={remove.error ? refusalView(remove.error) : undefined}
        onConfirm={() => remove.mutate({ id: workflow.id })}
      >
        <ApiEquivalent method="DELETE" path={`/workflows/${workflow.id}`} />
      </ConfirmDanger>
    </SectionCard>
  );
}
