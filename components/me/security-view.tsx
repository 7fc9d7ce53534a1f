'use client';

import { Blocks, MonitorSmartphone } from 'lucide-react';
import { useState } from 'react';
import { AuthenticatorCard } from '#components/factors/authenticator-card.tsx';
import { MissingFactorNote, RecoveredNote } from '#components/factors/factor-notes.tsx';
import { codesText } from '#components/factors/factor-text.ts';
import { PasskeysCard } from '#components/factors/passkeys-card.tsx';
import { RecoveryCodesCard } from '#components/factors/recovery-codes-card.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { PasswordCard } from './password-card.tsx';
import { type Person, useMe } from './use-me.ts';

/** How one signs in, and where one is signed in. `next` is the page that sent the person here to add a factor. */
export function SecurityView({ next }: { next: string | null }) {
  const query = useMe();
  return (
    <Page className="max-w-3xl">
      <PageHeader title="Security" description="How you sign in, and how you confirm it’s you." />
      {query.isError ? (
        <QueryError query={query} what="Your account" />
      ) : !query.data ? (
        <Skeleton lines={6} label="Loading your account" />
      ) : (
        <Factors me={query.data} next={next} />
      )}
      <SectionCard
        title="Sessions"
        className="pb-3.5"
        description="Devices where you’re signed in. If you don’t recognize one, sign it out and change your password."
        actions={
          <LinkButton size="sm" href="/me/sessions" icon={<MonitorSmartphone />}>
            View sessions
          </LinkButton>
        }
      />
      <SectionCard
        title="Connected apps"
        className="pb-3.5"
        description="Applications that act in your name. Disconnect the ones you don’t use."
        actions={
          <LinkButton size="sm" href="/me/apps" icon={<Blocks />}>
            View connected apps
          </LinkButton>
        }
      />
    </Page>
  );
}

function Factors({ me, next }: { me: Person; next: string | null }) {
  const [codes, setCodes] = useState<readonly string[]>();
  const { factors, user } = me;
  const hasFactor = factors.totp || factors.passkeys.length > 0;
  const needsFactor = me.workspaces.some(({ role }) => role === 'owner' || role === 'admin');
  return (
    <>
      <RecoveredNote me={me} />
      <MissingFactorNote hasFactor={hasFactor} needsFactor={needsFactor} next={next} />
      <PasskeysCard factors={factors} needsFactor={needsFactor} onCodes={setCodes} />
      <AuthenticatorCard factors={factors} needsFactor={needsFactor} onCodes={setCodes} />
      <RecoveryCodesCard factors={factors} onCodes={setCodes} />
      <PasswordCard hasPassword={user.has_password} email={user.email} />
      <ShownOnce
        value={codes?.length ? codesText(codes) : undefined}
        title="Save your recovery codes"
        label="recovery codes"
        filename="sallyport-recovery-codes.txt"
        description="Each code signs you in once if you lose your device. You won’t be able to see them again."
        onGone={() => setCodes(undefined)}
      />
    </>
  );
}
