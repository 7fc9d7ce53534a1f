'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

/** Who may join without an invitation, and whether members must use the provider. */
export function JoiningCard() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { slug } = useScope();
  const forbidden = useForbidden('sso:manage');
  const [requiring, setRequiring] = useState(false);
  const query = useQuery(trpc.sso.settings.queryOptions({}));
  const update = useMutation(
    trpc.sso.updateSettings.mutationOptions({
      onSuccess: async () => {
        notifyDone('Saved');
        setRequiring(false);
        await Promise.all([cache.invalidateQueries(trpc.sso.pathFilter()), cache.invalidateQueries(trpc.domains.pathFilter())]);
      },
    }),
  );
  const facts = query.data;
  if (query.isError) return <QueryError query={query} what="Joining and requirement" />;
  if (!facts) return <Skeleton lines={4} label="Loading settings" />;
  const missing =
    facts.verified_domains.length === 0
      ? 'Verify a domain first.'
      : facts.tested_connections === 0
        ? 'Test an active connection first.'
        : facts.owners_with_break_glass === 0
          ? 'At least one Owner needs a password and a second factor first.'
          : undefined;
  return (
    <SectionCard
      title="Joining and requirement"
      description={
        facts.verified_domains.length > 0 ? (
          `For addresses at ${new Intl.ListFormat('en').format(facts.verified_domains)}.`
        ) : (
          <>
            For addresses of your <Link href={`/${slug}/settings/domains`}>verified domains</Link>. There are none yet.
          </>
        )
      }
    >
      <div className="flex flex-col gap-5">
        {update.error && !requiring && <Callout tone="bad" title={refusalOf(update.error).message} />}
        <Switch
          checked={facts.jit_joining}
          onCheckedChange={(jit_joining) => update.mutate({ jit_joining })}
          disabledReason={forbidden}
          label="Let people join at their first sign-in"
          description="They get the role Member. Without this, only people who are invited can sign in."
        />
        <Switch
          checked={facts.sso_required}
          onCheckedChange={(on) => (on ? setRequiring(true) : update.mutate({ sso_required: false }))}
          disabledReason={forbidden ?? (facts.sso_required ? undefined : missing)}
          label="Require single sign-on"
          description={`Members with those addresses can’t use a password, code or passkey. ${counted(facts.members_concerned, 'member')} now.`}
        />
        <Callout
          tone={facts.owners_with_break_glass > 0 ? 'info' : 'warn'}
          title={`${counted(facts.owners_with_break_glass, 'Owner')} of ${facts.owners} can sign in when the provider is down.`}
        >
          Owners can always use their password with a second factor, or a passkey. Keep at least two of them ready.
        </Callout>
      </div>
      <ConfirmDanger
        open={requiring}
        onOpenChange={(open) => {
          setRequiring(open);
          update.reset();
        }}
        space="live"
        title="Require single sign-on?"
        resourceName={slug}
        confirmLabel="Require single sign-on"
        consequences={[
          `${counted(facts.members_concerned, 'member')} can only sign in through your identity provider from now on.`,
          'Their open sessions that began another way stop working in this workspace at once.',
          'If the provider is down or set up incorrectly, they can’t get in until an Owner turns this off.',
          `${counted(facts.owners_with_break_glass, 'Owner')} can still sign in with password and second factor.`,
        ]}
        busy={update.isPending}
        error={update.error ? refusalOf(update.error) : undefined}
        onConfirm={() => update.mutate({ sso_required: true })}
      />
    </SectionCard>
  );
}
