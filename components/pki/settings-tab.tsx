'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Archive, Ban, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { inPath, type Root } from './pki-labels.ts';
import type { End } from './root-dialogs.tsx';
import type { SettingsFields } from './settings-fields.ts';

const EndRootDialog = lazyOverlay(
  () => import('./root-dialogs.tsx').then((module) => module.EndRootDialog),
  ({ end }) => end !== undefined,
);
const DeleteRootDialog = lazyOverlay(() => import('./root-dialogs.tsx').then((module) => module.DeleteRootDialog), whenOpen);

/** What of a root can be changed, what stops it, and what ends it. */
export function SettingsTab({ root }: { root: Root }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cannotUpdate = useForbidden('pki:update');
  const cannotDelete = useForbidden('pki:delete');
  const [end, setEnd] = useState<End>();
  const [deleting, setDeleting] = useState(false);
  const overview = useQuery(trpc.pki.overview.queryOptions({ name: root.id }));
  const activate = useMutation(
    trpc.pki.updateRoot.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone(`Root ${root.name} is active`);
        return queryClient.invalidateQueries(trpc.pki.pathFilter());
      },
    }),
  );
  const revoked = root.status === 'revoked' ? 'The root is revoked' : undefined;
  return (
    <>
      <Settings root={root} />
      <SectionCard title="Danger zone" tone="danger">
        <div className="flex flex-col divide-y divide-line">
          {root.status === 'retired' ? (
            <DangerRow title="Activate the root" text="It issues certificates again, and its intermediate is replaced in time.">
              <Button
                loading={activate.isPending}
                disabledReason={cannotUpdate}
                onClick={() => activate.mutate({ name: root.id, status: 'active' })}
              >
                Activate root
              </Button>
            </DangerRow>
          ) : (
            <DangerRow
              title="Retire the root"
              text="It issues no certificates any more. Those it issued stay valid, and you can activate it again."
            >
              <Button variant="danger-quiet" icon={<Archive />} disabledReason={cannotUpdate ?? revoked} onClick={() => setEnd('retired')}>
                Retire root
              </Button>
            </DangerRow>
          )}
          <DangerRow
            title="Revoke the root"
            text="Revokes its intermediates, and with them every certificate. For a root whose key can’t be trusted any more."
          >
            <Button variant="danger-quiet" icon={<Ban />} disabledReason={cannotUpdate ?? revoked} onClick={() => setEnd('revoked')}>
              Revoke root
            </Button>
          </DangerRow>
          <DangerRow
            title="Delete the root"
            text="Destroys its keys and its records. Possible when none of its certificates is valid any more."
          >
            <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={cannotDelete} onClick={() => setDeleting(true)}>
              Delete root
            </Button>
          </DangerRow>
        </div>
      </SectionCard>
      <EndRootDialog root={root} end={end} onClose={() => setEnd(undefined)} />
      <DeleteRootDialog root={root} valid={overview.data?.valid} open={deleting} onClose={() => setDeleting(false)} />
    </>
  );
}

const DAY = 86_400;
const loadFields = () => import('./settings-fields.ts').then((module) => module.SettingsFields);
const valuesOf = ({ intermediate_ttl_seconds, publish }: Pick<Root, 'intermediate_ttl_seconds' | 'publish'>) => ({
  intermediate_days: String(Math.round(intermediate_ttl_seconds / DAY)),
  publish,
});

const changesOf = (value: SettingsFields, before: SettingsFields) => ({
  ...(value.intermediate_days === before.intermediate_days ? {} : { intermediate_ttl_seconds: Number(value.intermediate_days) * DAY }),
  ...(value.publish === before.publish ? {} : { publish: value.publish }),
});

function Settings({ root }: { root: Root }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('pki:update');
  const form = useZodForm({ schema: loadFields, defaultValues: valuesOf(root) });
  const labels = { intermediate_days: 'Intermediates last', publish: 'Publish' };
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, { row: root, values: valuesOf, labels });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.pki.updateRoot.mutationOptions({
      onError: refuse,
      onSuccess: async (saved) => {
        await queryClient.invalidateQueries(trpc.pki.pathFilter());
        form.reset(valuesOf(saved));
        notifyDone('Root saved');
      },
    }),
  );
  const values = form.watch();
  const before = valuesOf(root);
  const readOnly = forbidden !== undefined;
  return (
    <SectionCard title="Settings" description="Applies to intermediates and certificates that are made from now on.">
      <Form
        form={form}
        refusal={refusal}
        onSubmit={(value) => {
          clear();
          update.mutate({ name: root.id, ...changesOf(value, before), expected_updated_at: started() });
        }}
      >
        {panel}
        <Field
          label="Intermediates last"
          error={fieldError(form, 'intermediate_days')}
          hint="No certificate outlives the intermediate that signs it: at least 1.5 times as long as certificates shall last."
        >
          <Input inputMode="numeric" suffix="days" className="sm:w-40" readOnly={readOnly} {...form.register('intermediate_days')} />
        </Field>
        <Checkbox
          checked={values.publish}
          disabled={readOnly}
          onCheckedChange={(on) => form.setValue('publish', on, { shouldDirty: true })}
          label="Publish certificates and revocation lists"
          description="Serves them without authentication, and writes their addresses into certificates."
        />
        <ApiEquivalent method="PATCH" path={`/pki/roots/${inPath(root)}`} body={changesOf(values, before)} />
        <div>
          <Button
            type="submit"
            variant="primary"
            loading={update.isPending}
            disabledReason={forbidden ?? (dirty ? undefined : 'No changes to save')}
          >
            Save
          </Button>
        </div>
      </Form>
    </SectionCard>
  );
}
