'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { PictureField } from '#components/pictures/picture-field.tsx';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { AiTokensCard } from './ai-tokens-card.tsx';
import { CommandLineCard } from './command-line-card.tsx';
import { PayloadsCard } from './payloads-card.tsx';
import { REGIONS } from './plan-labels.ts';
import { DangerZone } from './reset-test.tsx';
import { TokenRules } from './token-rules.tsx';
import { AccessCard } from './workspace-access.tsx';

export type Addresses = { api_url: string; proxy_url: string };
const loadWorkspaceName = () => import('./schemas.ts').then((module) => module.WorkspaceName);

/** What the workspace is called and where it is reached. */
export function WorkspaceSettings({ addresses }: { addresses: { live: Addresses; test: Addresses } }) {
  const trpc = useTRPC();
  const { slug } = useScope();
  const query = useQuery(trpc.account.get.queryOptions({}));
  const account = query.data;
  return (
    <Page className="max-w-4xl">
      <PageHeader title="Workspace" description="Name, logo and URLs of this workspace." />
      {query.isError ? (
        <QueryError query={query} what="Workspace settings" />
      ) : !account ? (
        <Skeleton lines={8} label="Loading the workspace" />
      ) : (
        <>
          <NameCard account={account} />
          <LogoCard name={account.name} />
          <SectionCard title="Details">
            <KeyValueList
              items={[
                {
                  label: 'Slug',
                  value: account.slug,
                  copy: account.slug,
                  hint: 'Part of every URL below. An Owner can change it in the danger zone.',
                },
                { label: 'ID', value: account.id, copy: account.id },
                {
                  label: 'Region',
                  value: REGIONS[account.region] ?? account.region,
                  hint: 'Where this workspace stores its data. It can’t be changed.',
                },
                {
                  label: 'Plan',
                  value: (
                    <span className="flex flex-wrap items-center gap-2">
                      <Badge tone="accent">{capitalize(account.subscription_plan)}</Badge> {capitalize(account.subscription_status)}
                      <LinkButton size="sm" variant="ghost" href={`/${slug}/settings/usage`}>
                        Plan and usage
                      </LinkButton>
                    </span>
                  ),
                },
                ...(account.trial_end_at ? [{ label: 'Trial ends', value: <Time value={account.trial_end_at} format="date" /> }] : []),
                ...(account.subscription_cancel_at
                  ? [{ label: 'Ends', value: <Time value={account.subscription_cancel_at} format="date" /> }]
                  : []),
                { label: 'Created', value: <Time value={account.created_at} format="date" /> },
              ]}
            />
          </SectionCard>
          {(['live', 'test'] as const).map((space) => (
            <SectionCard key={space} title={space === 'live' ? 'Live URLs' : 'Test URLs'}>
              <KeyValueList
                items={[
                  {
                    label: 'Gateway',
                    value: addresses[space].proxy_url,
                    copy: addresses[space].proxy_url,
                    hint: (
                      <>
                        Append <code className="font-mono">{'/{route}/{path}'}</code>.
                      </>
                    ),
                  },
                  {
                    label: 'Management API',
                    value: addresses[space].api_url,
                    copy: addresses[space].api_url,
                    hint: `Accepts ${space === 'live' ? 'Live' : 'Test'} keys only.`,
                  },
                ]}
              />
            </SectionCard>
          ))}
          <PayloadsCard />
          <AccessCard />
          <TokenRules />
          <AiTokensCard />
          <CommandLineCard />
          <SpacesCard slug={slug} />
          <DangerZone name={account.name} />
        </>
      )}
    </Page>
  );
}

function LogoCard({ name }: { name: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const settings = useQuery(trpc.account.settings.queryOptions({}));
  const update = useMutation(trpc.account.updateSettings.mutationOptions());
  const forbidden = useForbidden('settings:update');
  if (settings.isError) return <QueryError query={settings} what="The logo" />;
  return (
    <SectionCard title="Logo" description="Shown to members next to the name.">
      <PictureField
        noun="logo"
        name={name}
        picture={settings.data?.logo ?? null}
        forbidden={forbidden}
        onUse={async (logo_upload_id) => {
          const changed = await update.mutateAsync({ logo_upload_id });
          queryClient.setQueryData(trpc.account.settings.queryKey({}), changed);
          router.refresh();
          notifyDone(logo_upload_id ? 'Logo saved' : 'Logo removed');
        }}
      />
    </SectionCard>
  );
}

/** The ways between the spaces, for whoever looks for them in the settings. */
function SpacesCard({ slug }: { slug: string }) {
  if (useForbidden('sandbox:promote')) return null;
  return (
    <SectionCard title="Test and Live" description="Copy configuration between them. Secret values are never copied.">
      <div className="flex flex-wrap gap-2">
        <LinkButton href={`/${slug}/test/promote`}>Promote to Live</LinkButton>
        <LinkButton href={`/${slug}/live/promote`}>Copy to Test</LinkButton>
      </div>
    </SectionCard>
  );
}

const valuesOf = ({ name }: { name: string }) => ({ name });

function NameCard({ account }: { account: { name: string; updated_at: string } }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const form = useZodForm({ schema: loadWorkspaceName, defaultValues: valuesOf(account) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, { row: account, values: valuesOf });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const rename = useMutation(
    trpc.account.update.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        // The name stands in the frame, which the server renders.
        router.refresh();
        notifyDone('Workspace renamed');
      },
    }),
  );
  const reason = useForbidden('account:update');
  return (
    <SectionCard title="Name">
      <Form
        form={form}
        refusal={refusal}
        onSubmit={(value) => {
          clear();
          rename.mutate({ ...value, expected_updated_at: started() });
        }}
        className="max-w-md"
      >
        {panel}
        <Field label="Name" hideLabel required error={fieldError(form, 'name')} hint="Visible to members. URLs don’t change.">
          <Input {...form.register('name')} />
        </Field>
        <ApiEquivalent method="PATCH" path="/account" body={{ name: form.watch('name') }} />
        <div>
          <Button
            type="submit"
            variant="primary"
            loading={rename.isPending}
            disabledReason={reason ?? (dirty ? undefined : 'No changes to save')}
          >
            Rename
          </Button>
        </div>
      </Form>
    </SectionCard>
  );
}
