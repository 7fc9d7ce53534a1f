'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { PictureField } from '#components/pictures/picture-field.tsx';
import { WorkspacesCard } from '#components/team/workspaces-card.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CompanyCard } from './company-card.tsx';
import { DeletedWorkspaces } from './deleted-workspaces.tsx';
import { usePersonCall } from './person-calls.ts';
import { ME, type Person, useMe } from './use-me.ts';
import { VerifyEmail } from './verify-email.tsx';

const ChangeEmail = lazyOverlay(() => import('./change-email.tsx').then((module) => module.ChangeEmail), whenOpen);
const loadProfileFields = () => import('./schemas.ts').then((module) => module.ProfileFields);

/** The person who is signed in: their workspaces, their name, their time zone. */
export function ProfileView() {
  const query = useMe();
  const me = query.data;
  const { email_verified } = useScope();
  const [changingEmail, setChangingEmail] = useState(false);
  return (
    <Page className="max-w-3xl">
      <PageHeader title="Profile" description="Your details in every workspace." />
      {query.isError ? (
        <QueryError query={query} what="Your profile" />
      ) : !me ? (
        <Skeleton lines={8} label="Loading your profile" />
      ) : (
        <>
          {email_verified === false && me.user.email_verified_at === null && <VerifyEmail email={me.user.email} />}
          <PhotoCard user={me.user} />
          <DetailsCard user={me.user} onChangeEmail={() => setChangingEmail(true)} />
          <ChangeEmail me={me} open={changingEmail} onClose={() => setChangingEmail(false)} />
          {me.company && <CompanyCard me={{ ...me, company: me.company }} name={nameOf(me.workspaces, me.company.tenant_id)} />}
          <WorkspacesCard me={me} />
          <DeletedWorkspaces />
        </>
      )}
    </Page>
  );
}

const nameOf = (workspaces: Person['workspaces'], id: string) =>
  workspaces.find((workspace) => workspace.id === id)?.name ?? 'your workspace';

function PhotoCard({ user }: { user: Person['user'] }) {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const router = useRouter();
  return (
    <SectionCard title="Photo" description="Visible to members of your workspaces.">
      <PictureField
        noun="photo"
        name={user.full_name || user.email}
        picture={user.avatar}
        onUse={async (avatar_upload_id) => {
          queryClient.setQueryData(ME, await call<Person>('PATCH', '/auth/me', { avatar_upload_id }));
          // The server renders it in the frame.
          router.refresh();
          notifyDone(avatar_upload_id ? 'Photo saved' : 'Photo removed');
        }}
      />
    </SectionCard>
  );
}

const valuesOf = ({ full_name, timezone }: Person['user']) => ({ full_name, timezone });

function DetailsCard({ user, onChangeEmail }: { user: Person['user']; onChangeEmail: () => void }) {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const router = useRouter();
  // Some hundred names that the browser knows anyway; read once, after the first paint.
  const [zones] = useState(() => Intl.supportedValuesOf('timeZone').map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })));
  const form = useZodForm({ schema: loadProfileFields, defaultValues: valuesOf(user) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row: user,
    values: valuesOf,
    labels: { full_name: 'Name', timezone: 'Time zone' },
  });
  const { isDirty, dirtyFields } = form.formState;
  useUnsavedGuard(isDirty);
  const save = useMutation({
    mutationFn: (change: object) => call<Person>('PATCH', '/auth/me', change),
    onError: refuse,
    onSuccess: (me) => {
      queryClient.setQueryData(ME, me);
      router.refresh();
      notifyDone('Profile saved');
    },
  });
  const timezone = form.watch('timezone');
  return (
    <SectionCard title="Details">
      <Form
        form={form}
        refusal={refusal}
        onSubmit={(value) => {
          clear();
          save.mutate({
            expected_updated_at: started(),
            ...(dirtyFields.full_name ? { full_name: value.full_name } : {}),
            ...(dirtyFields.timezone ? { timezone: value.timezone } : {}),
          });
        }}
        className="max-w-md"
      >
        {panel}
        <Field
          label="Email"
          hint="You sign in with this address."
          action={
            <button type="button" onClick={onChangeEmail} className="cursor-pointer text-accent-ink text-xs hover:underline">
              Change<span className="sr-only"> email</span>
            </button>
          }
        >
          <Input readOnly value={user.email} className="bg-subtle text-ink-2" />
        </Field>
        <Field label="Name" required error={fieldError(form, 'full_name')}>
          <Input autoComplete="name" {...form.register('full_name')} />
        </Field>
        <Field
          label="Time zone"
          optional
          error={fieldError(form, 'timezone')}
          hint="Used in emails. To change how the dashboard shows times, go to Preferences."
        >
          <Combobox
            options={zones}
            value={timezone}
            onValueChange={(zone) => form.setValue('timezone', zone, { shouldDirty: true })}
            placeholder="Search for a city"
          />
        </Field>
        <div>
          <Button type="submit" variant="primary" loading={save.isPending} disabledReason={isDirty ? undefined : 'No changes to save'}>
            Save
          </Button>
        </div>
      </Form>
    </SectionCard>
  );
}
