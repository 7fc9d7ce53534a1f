'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { AccessKeyFields, accessKeyFields } from './access-key-fields.tsx';
import { KeyFields, keyFields, keyInput } from './key-fields.tsx';
import type { Key } from './key-labels.ts';

const Edited = z.object({ ...keyFields, ...accessKeyFields });

const valuesOf = (key: Key) => ({
  name: key.name,
  role_ids: [...key.role_ids],
  rate_limit_requests: key.rate_limit_requests?.toString() ?? '',
  rate_limit_window_sec: (key.rate_limit_window_sec ?? 60).toString(),
  ip_allowlist: key.ip_allowlist.join('\n'),
  expires_at: key.expires_at,
  scopes: [...(key.scopes ?? [])],
});
const LABELS = {
  role_ids: 'Roles',
  rate_limit_requests: 'Rate limit',
  rate_limit_window_sec: 'Rate limit window',
  ip_allowlist: 'Allowed IP addresses',
  expires_at: 'Expires',
  scopes: 'Scopes',
};

/** Changes a key that works: its name, roles, expiry, limit and addresses, and the scopes of an access key. */
export function EditForm({ apiKey, onDone }: { apiKey: Key; onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const readOnly = useForbidden('api_key:update');
  const access = apiKey.key_type === 'access_key';
  const narrowed = apiKey.scopes !== null;
  const form = useZodForm({
    schema: narrowed ? Edited.refine(({ scopes }) => scopes.length > 0, { path: ['scopes'], error: 'at least one is required' }) : Edited,
    defaultValues: valuesOf(apiKey),
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: apiKey,
    values: valuesOf,
    labels: LABELS,
    draft: { name: `api-keys/${apiKey.id}` },
    onNothingLeft: onDone,
  });
  const inputOf = (value: z.output<typeof Edited>) => ({
    ...keyInput(value),
    // An end that is near may stand, but not be set again.
    ...(value.expires_at !== apiKey.expires_at ? { expires_at: value.expires_at } : {}),
    ...(access && (narrowed || value.scopes.length > 0) ? { scopes: value.scopes } : {}),
  });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.apiKeys.update.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        forget();
        void queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        notifyDone('API key saved');
        onDone();
      },
    }),
  );
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        update.mutate({ id: apiKey.id, ...inputOf(value), expected_updated_at: started() });
      }}
    >
      {panel}
      <KeyFields form={form}>{access && <AccessKeyFields form={form} narrowed={narrowed} />}</KeyFields>
      <ApiEquivalent method="PATCH" path={`/api-keys/${apiKey.id}`} body={inputOf(form.watch())} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          keys="mod+enter"
          loading={update.isPending}
          disabledReason={readOnly ?? (dirty ? undefined : 'No changes to save')}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}
