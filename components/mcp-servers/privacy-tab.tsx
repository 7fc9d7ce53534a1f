'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { SecretChips, SecretPicker } from '#components/routes/secret-picker.tsx';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Server } from './server-labels.ts';
import { ServerSettings } from './server-settings.tsx';

type Auth = {
  headers?: Record<string, string>;
  environment_name?: string;
  oauth?: { mode: 'per_user'; scopes: string[]; client_id?: string };
};

/** How the server signs in upstream, what is searched and checked, and what stops it. */
export function PrivacyTab({ server }: { server: Server }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('ai_gateway:update');
  const cannotDelete = useForbidden('ai_gateway:delete');
  const [archiving, setArchiving] = useState(false);
  const update = useMutation(
    trpc.mcpServers.update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Server saved');
        return queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
      },
    }),
  );
  const busy = update.isPending ? 'Saving…' : forbidden;
  return (
    <>
      {server.server_type === 'upstream' && <Credentials server={server} />}
      <SectionCard title="Privacy and checks">
        <div className="flex flex-col gap-4">
          <Switch
            label="Search arguments and results for personal data"
            description="What is found is replaced on the way out and put back on the way in."
            checked={server.pii_inspection}
            disabledReason={busy}
            onCheckedChange={(pii_inspection) => update.mutate({ id: server.id, pii_inspection })}
          />
          <Switch
            label="Let the server ask the user for input"
            description="Forms only. Clients of the 2026-07-28 revision."
            checked={server.allow_elicitation}
            disabledReason={busy}
            onCheckedChange={(allow_elicitation) => update.mutate({ id: server.id, allow_elicitation })}
          />
          {server.server_type === 'upstream' && (
            <Switch
              label="Sign the caller’s identity"
              description="Each request to the server carries X-Svc-Identity, so it can refuse calls that didn’t come through the gateway."
              checked={server.signed_identity}
              disabledReason={busy}
              onCheckedChange={(signed_identity) => update.mutate({ id: server.id, signed_identity })}
            />
          )}
        </div>
      </SectionCard>
      {server.status !== 'archived' && <ServerSettings server={server} />}
      <SectionCard title="Danger zone" tone="danger">
        <div className="flex flex-col divide-y divide-line">
          <DangerRow title="Server active" text="While this is off, every call is refused at once. Clients keep their tokens.">
            <Switch
              hideLabel
              label="Server active"
              checked={server.status === 'active'}
              disabledReason={server.status === 'archived' ? 'Archived' : busy}
              onCheckedChange={(on) => update.mutate({ id: server.id, status: on ? 'active' : 'paused' })}
            />
          </DangerRow>
          <DangerRow title="Archive the server" text="Ends every connected account and frees the slug. It can’t be undone.">
            <Button
              variant="danger-quiet"
              icon={<Trash2 />}
              disabledReason={server.status === 'archived' ? 'Archived already' : cannotDelete}
              onClick={() => setArchiving(true)}
            >
              Archive server
            </Button>
          </DangerRow>
        </div>
        <ArchiveDialog server={server} open={archiving} onClose={() => setArchiving(false)} />
      </SectionCard>
    </>
  );
}

/** Names of headers and secrets only: no value is ever shown here. */
function Credentials({ server }: { server: Server }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('ai_gateway:update');
  const auth = server.auth as Auth;
  const [header, setHeader] = useState('Authorization');
  const save = useMutation(
    trpc.mcpServers.update.mutationOptions({
      onSuccess: () => {
        notifyDone('Credentials saved');
        return queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
      },
    }),
  );
  const set = (headers: Record<string, string>) => {
    const { oauth: _, ...rest } = auth;
    save.mutate({ id: server.id, auth: { ...rest, headers } });
  };
  const headers = Object.entries(auth.headers ?? {});
  return (
    <SectionCard
      title="Signs in with"
      description="Every call carries these headers. Values come from secrets, in this environment or the default one."
    >
      <div className="flex flex-col gap-4">
        <KeyValueList
          items={[
            { label: 'URL', value: server.upstream_url, ...(server.upstream_url ? { copy: server.upstream_url } : {}) },
            { label: 'Environment', value: auth.environment_name ?? 'Default' },
            ...(auth.oauth ? [{ label: 'Accounts', value: 'Each person’s own, by OAuth' }] : []),
            ...headers.map(([name, template]) => ({
              label: name,
              value: (
                <span className="flex items-center gap-2">
                  <SecretChips template={template} />
                  <Button
                    size="sm"
                    disabledReason={forbidden}
                    onClick={() => set(Object.fromEntries(headers.filter(([other]) => other !== name)))}
                  >
                    Remove
                  </Button>
                </span>
              ),
            })),
          ]}
        />
        {!forbidden && !auth.oauth && (
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label="Header">
              <Input mono value={header} onChange={({ target }) => setHeader(target.value)} />
            </Field>
            <Field label="Secret" group hint="Replaces the header of this name.">
              <SecretPicker
                label="Secret"
                onPick={(placeholder) => {
                  const prefix = /^authorization$/i.test(header) ? 'Bearer ' : '';
                  set({ ...auth.headers, [header]: `${prefix}${placeholder}` });
                }}
              />
            </Field>
          </div>
        )}
        {save.error && <MutationError error={save.error} />}
      </div>
    </SectionCard>
  );
}

function ArchiveDialog({ server, open, onClose }: { server: Server; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const remove = useMutation(
    trpc.mcpServers.delete.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.mcpServers.overview.queryFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`MCP server ${server.name} archived`);
        router.replace(path('/ai/mcp'));
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => {
        if (next) return;
        remove.reset();
        onClose();
      }}
      title={`Archive ${server.name}?`}
      consequences={[
        'Clients are refused from now on.',
        'Every connected account ends; its tokens are destroyed.',
        'The slug becomes free.',
      ]}
      confirmLabel="Archive server"
      resourceName={server.name}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => remove.mutate({ id: server.id })}
    >
      <ApiEquivalent method="DELETE" path={`/ai-gateway/mcp-servers/${server.id}`} />
    </ConfirmDanger>
  );
}
